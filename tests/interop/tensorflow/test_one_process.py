"""TensorFlow and tfrtool in one process, whichever came first: both register messages of the same names."""

from __future__ import annotations

import subprocess
import sys

from kit.make_samples import DATA
from kit.program import environment
from pytest import mark

PROGRAM = """
import sys
{first}
{second}
from tfrtool.payload.wire.messages import message_class

path = sys.argv[1]
ours = list(tfrtool.records(path))
theirs = [bytes(record.numpy()) for record in tf.data.TFRecordDataset(path)]
assert ours == theirs and len(ours) == 12
for message, twin in (
    (message_class("tensorflow", "Example"), tf.train.Example),
    (message_class("tensorflow", "SequenceExample"), tf.train.SequenceExample),
):
    assert message.DESCRIPTOR.full_name == twin.DESCRIPTOR.full_name
    assert message.DESCRIPTOR.file.pool is not twin.DESCRIPTOR.file.pool
for payload in ours:
    mine, other = message_class("tensorflow", "Example").FromString(payload), tf.train.Example.FromString(payload)
    assert mine.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)
message_class("tensorflow", "Event")(step=7)
tf.compat.v1.Event(step=7)
print("both")
"""
IMPORTS = ["import tensorflow as tf", "import tfrtool; tfrtool.schema(sys.argv[1])"]


@mark.tensorflow
@mark.parametrize("order", [IMPORTS, IMPORTS[::-1]], ids=["tensorflow first", "tfrtool first"])
def test_neither_disturbs_the_other(order: list[str]) -> None:
    program = PROGRAM.format(first=order[0], second=order[1])
    quiet = environment(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    ran = subprocess.run(
        [sys.executable, "-c", program, DATA / "flowers.tfrecord"],
        env=quiet,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (ran.returncode, ran.stdout) == (0, "both\n"), ran.stderr
