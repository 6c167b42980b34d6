"""Read the features of a payload, by its kind."""

from __future__ import annotations

from tfrtool.payload.features.view import Features, features_of
from tfrtool.payload.wire.reader import Buffer
from tfrtool.types import Kind


def read_features(payload: Buffer, kind: Kind) -> Features:
    """Return the features of one payload of a known kind; of the kind `unknown`, none.

    Raises WireError, with the offset, if the payload is not sound wire format; values read later raise nothing.
    """
    if kind == "event":
        from tfrtool.payload.features.events import event_features

        return Features(kind, event_features(payload))
    return features_of(payload, kind)
