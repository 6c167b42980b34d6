"""The schema of all inputs together, which every printer of `schema` adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfrtool.payload.schema.schema import Schema

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event


class Adding:
    """Adds the schemas of the inputs up in `total`; whatever else comes is for the printer that it is put before."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.total = Schema()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Schema):
            self.total.merge(event)
        else:
            super().show(name, event)  # type: ignore[misc]
