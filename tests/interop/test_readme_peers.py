"""What the README says of other readers, run with them where they are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kit.make_samples import DATA, samples
from pytest import mark, raises

DAMAGED = "flowers-damaged.tfrecord"


@mark.tensorflow
def test_tensorflow_reads_three_records_of_the_damaged_sample() -> None:
    import tensorflow as tf

    read: list[bytes] = []
    with raises(tf.errors.DataLossError, match="corrupted record at 2390"):
        read.extend(tf.data.TFRecordDataset(str(DATA / DAMAGED)).as_numpy_iterator())
    skipping = tf.data.TFRecordDataset(str(DATA / DAMAGED)).ignore_errors().as_numpy_iterator()
    assert (len(read), len(list(skipping))) == (3, 3)


READ = """
import sys
from tfrecord.reader import tfrecord_iterator
for record in tfrecord_iterator(sys.argv[1]):
    print(len(record), flush=True)
"""


@mark.tensorflow
def test_tensorflow_passes_over_up_to_11_bytes_of_a_record_in_silence(tmp_path: Path) -> None:
    import tensorflow as tf

    sound = samples()["flowers.tfrecord"]
    name = tmp_path / "torn"
    name.write_bytes(sound + sound[:11])
    assert len(list(tf.data.TFRecordDataset(str(name)).as_numpy_iterator())) == 12
    name.write_bytes(sound + sound[:12])
    with raises(tf.errors.DataLossError, match="truncated record at 11720"):
        list(tf.data.TFRecordDataset(str(name)).as_numpy_iterator())


@mark.tfrecord
def test_the_package_tfrecord_reads_three_records_and_one_that_was_never_written() -> None:
    """In a process of its own, since it cannot be imported beside TensorFlow."""
    ran = subprocess.run([sys.executable, "-c", READ, DATA / DAMAGED], capture_output=True, text=True)
    assert ran.stdout.split()[3:] == ["1885"]
    assert ran.stderr.splitlines()[-1].startswith("MemoryError")


@mark.tfrecord
def test_its_index_of_the_damaged_sample_ends_with_a_wrong_line_and_exit_code_0(tmp_path: Path) -> None:
    (tmp_path / "a.tfrecord").write_bytes(samples()[DAMAGED])
    command = [sys.executable, "-W", "ignore", "-m", "tfrecord.tools.tfrecord2idx", "a.tfrecord", "a.idx"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "Failed to parse TFRecord.\n")
    assert (tmp_path / "a.idx").read_text().splitlines()[3:] == ["2390 1901"]
