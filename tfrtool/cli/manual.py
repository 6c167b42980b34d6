"""What the manual pages say beyond the help of the commands. Every command line in here is run by a test."""

from __future__ import annotations

from tfrtool.sources.strangers import ROWS, STRANGERS

DATE = "2026-11-30"
"""When the pages last changed in substance; a constant, so that they are the same wherever they are made."""

SUMMARY = "inspect, verify, repair and convert TFRecord and OFRecord files"

DESCRIPTION = """\
tfrtool reads the record files of TensorFlow (TFRecord) and OneFlow (OFRecord), plain or compressed with gzip or zlib,
without needing either. It says how many records there are, what is in them, whether every byte is sound, and if not,
what exactly is broken; it saves every payload that still stands whole.

A TFRecord file is a row of frames: a length of 8 bytes, the checksum of that length, the payload, and the checksum of
the payload. All numbers are little-endian, all checksums masked CRC-32C. There is no header, no index and no count, so
damage in one record leaves the others readable. An OFRecord file is a row of lengths and payloads without checksums.

Damage is named by the bytes of the unpacked stream in which it lies, [begin, end), and by the number of the record as
far as that can be known; the first record is number 0.
"""

INPUTS = f"""\
An INPUT is, in this order: a path that exists; - for standard input; @LIST for a file of inputs, one a line; a shard
set NAME@64 or NAME@* for NAME-00000-of-00064 and its like; a directory, for the record files below it; a pattern with
*, ? and [...]. Where a whole set was asked for, a member that is not there is a finding. Sets that one input stands for
and that differ in their number of shards alone, as NAME@* finds after a set was written anew, are told on standard
error, and all read. Lines of a list that begin with # are comments. A file that several inputs stand for is read once.

Below a directory, names that begin with _ or . and side files (.crc .idx .index .tfindex .json .txt .pbtxt, README,
LICENSE) are passed over. So are names of other kinds, plain or with .gz behind them, unless the file begins with the
sound header of a record, or is of no kind that is known and has such a header in its first 64 KiB:
{" ".join(STRANGERS)}; for all commands but convert, also {" ".join(ROWS)}.
Where the bytes of such a file tell nothing of what it is, standard error says that it was passed over. A file that is
named is always read.

The format and the compression are told by the bytes, never by the name.
"""

FAULTS = {
    "length-crc": "The header disagrees with its checksum: one of the two is damaged. Where the payload's checksum "
    "proves the record all the same, repair brings it back.",
    "data-crc": "The payload disagrees with its checksum. Only that record is lost; one flipped bit can be found with "
    "repair --fix-bits.",
    "torn": "The file ends inside a record: the writer died, or the copy was cut short. Fetch the file again, or let "
    "repair keep what is whole.",
    "zeros": "A stretch of zeros: space that was reserved and never written, or a hole after a crash.",
    "stray": "Bytes that belong to no record, such as a line of a log or half of an older record.",
    "codec": "The gzip or zlib stream itself is broken. What was unpacked before the break is read, and the next gzip "
    "member behind it; data behind a damaged header is unpacked all the same.",
    "length": "OFRecord: a length that is negative or leads past the end.",
    "payload": "The frame is sound, and the payload does not parse (verify --payload; OFRecord always).",
}

ENVIRONMENT = {
    "NO_COLOR": "Where this is set and not empty, nothing is coloured, unless --color always asks for it.",
    "FORCE_COLOR": "Where this is set and not empty, output is coloured even in a pipe.",
    "COLUMNS": "The width of help pages and tables, where no terminal tells it.",
    "TMPDIR": "Where standard input is kept while it has to be read again, and digests of stat --duplicates.",
}

FILES = """\
An output is written under a temporary name beside its target, read back, and then takes its name in one step: it is
there whole or not at all. What a killed process left under such a name is removed by the next run that writes there.
Nothing is ever written beside an input unless an option names it.
"""

LIMITS = """\
OFRecord has no checksums, so a changed byte inside a payload cannot be seen there. A TFRecord file that lies inside a
record whose header and the beginning of its payload are lost cannot be told from records of its own; nor can one that
lies in a record behind other bytes that are no message, where the end of both is cut off; nor records behind a header
without a payload, up to the end of the file, from what that record holds. Records that may be content of a
damaged one are dropped with it. A change of a file within one tick of the file system's clock while it is read is not
noticed.
"""

EXAMPLES: dict[str, list[tuple[str, str]]] = {
    "count": [
        ("How many records are in each shard, and in all:", "tfrtool count flowers.tfrecord flowers-damaged.tfrecord"),
        ("How many are in all shards of a set, as one number for a script:", "tfrtool count --json . | tail -n 1"),
    ],
    "head": [
        ("What is in the first two records:", "tfrtool head -n 2 flowers.tfrecord"),
        ("The names of the features:", "tfrtool head --keys flowers.tfrecord"),
        (
            "The first hundred for a browser, with the images in them that it can read:",
            "tfrtool head -n 100 --html first.html flowers.tfrecord",
        ),
        ("The payload of the fourth record, as it is:", "tfrtool head --raw --skip 3 flowers.tfrecord > payload.bin"),
    ],
    "verify": [
        ("Is every byte sound, and if not, what is broken:", "tfrtool verify flowers-damaged.tfrecord"),
        (
            "The damage alone, for a program:",
            'tfrtool verify --json flowers-damaged.tfrecord | grep \'"type":"damage"\'',
        ),
        ("The same as a page to send to others:", "tfrtool verify flowers-damaged.tfrecord --html report.html"),
        ("Everything below a directory; the exit code tells:", "tfrtool verify --quiet . || echo 'not all is sound'"),
    ],
    "stat": [
        ("How large the records are, and how even the shards:", "tfrtool stat flowers.tfrecord"),
        (
            "Write an index for NVIDIA DALI or tfrecord, of sound records alone:",
            "tfrtool stat --index a.idx flowers.tfrecord",
        ),
        ("Which payloads occur more than once, in all files together:", "tfrtool stat --duplicates *.tfrecord"),
    ],
    "schema": [
        ("Which features there are, of which kind:", "tfrtool schema flowers.tfrecord"),
        ("A feature description for tf.io:", "tfrtool schema --emit tf flowers.tfrecord > features.py"),
        ("The names of all features, for a script:", "tfrtool schema flowers.tfrecord | cut -f 1"),
    ],
    "repair": [
        ("Save what can be saved:", "tfrtool repair flowers-damaged.tfrecord -o repaired.tfrecord"),
        ("Only say what would be saved:", "tfrtool repair --dry-run flowers-damaged.tfrecord"),
        (
            "Keep the dropped bytes, and a list of what became of every byte:",
            "tfrtool repair flowers-damaged.tfrecord -o fixed.tfrecord --quarantine dropped.bin --report report.jsonl",
        ),
    ],
    "convert": [
        (
            "To the OFRecord files that OneFlow reads, in four parts:",
            "tfrtool convert flowers.tfrecord -o parts --to ofrecord --shards 4",
        ),
        (
            "The same records in compressed shards of some size:",
            "tfrtool convert flowers.tfrecord -o flowers --shard-size 4KB --compress gzip",
        ),
        (
            "Only some records, and only some of their features:",
            "tfrtool convert flowers.tfrecord -o some.tfrecord --where 'label == 1' --select label,caption",
        ),
        (
            "To JSON Lines, for jq and the like, and back:",
            "tfrtool convert flowers.tfrecord -o flowers.jsonl && tfrtool convert flowers.jsonl -o again.tfrecord",
        ),
    ],
    "completion": [("Completion in this bash:", 'eval "$(tfrtool completion bash)"')],
}
