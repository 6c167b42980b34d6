"""Hold the text of the manual pages beyond the help of the commands. Tests run every command line in here.

A text consists of paragraphs, separated by empty lines; a dict is a list of terms and their explanations.
"""

from __future__ import annotations

from tfrtool.sources.inputs.side_files import FOREIGN_SUFFIXES, ROWS

DATE = "2026-12-01"
"""When the pages last changed in substance; a constant, so that they are the same wherever they are generated."""

SUMMARY = "inspect, verify, repair and convert TFRecord and OFRecord files"

DESCRIPTION = """\
tfrtool reads the record files of TensorFlow (TFRecord) and OneFlow (OFRecord), plain or compressed with gzip or zlib,
and needs neither of the two frameworks. It counts and shows records, reports exactly which bytes are damaged and why,
recovers every record whose checksum proves it intact, and converts between formats.

A TFRecord file is a sequence of frames: a length of 8 bytes, the checksum of that length, the payload, and the checksum
of the payload. All numbers are little-endian; all checksums are masked CRC-32C. There is no file header, no index and
no record count, so damage to one record leaves the others readable. An OFRecord file is a sequence of lengths and
payloads without checksums.

Damage is located by byte offsets in the uncompressed stream, [begin, end), and by the record number where it is known.
The first record is number 0.
"""

INPUTS = f"""\
An INPUT is the first of these that applies: an existing path; - for standard input; @LIST for a file that lists inputs,
one per line; a shard set NAME@64 or NAME@*, for NAME-00000-of-00064 and so on; a directory, for the record files below
it; a glob pattern with *, ? or [...]. If a whole shard set was requested, a missing shard is a finding. If an input
such as NAME@* matches sets that differ only in their number of shards, as after a rewrite, all are read, and a warning
is printed. In a list, lines that start with # are comments. A file that several inputs match is read once.

Below a directory, names that start with _ or . and side files (.crc .idx .index .tfindex .json .txt .pbtxt, README,
LICENSE, NOTICE) are skipped, and so are files of other kinds, plain or with .gz: {" ".join(FOREIGN_SUFFIXES)}; for all
commands but convert, also {" ".join(ROWS)}. A file that is named explicitly is always read.

The format and the compression are detected from the content, never from the name.
"""

FAULTS = {
    "length-crc": "The header does not match its checksum: the length or the checksum is damaged. If the data checksum "
    "proves the record, repair recovers it.",
    "data-crc": "The payload does not match its checksum. Only this record is lost; repair --fix-bits can correct a "
    "single flipped bit.",
    "torn": "The file ends inside a record: the writer died, or the copy is incomplete. Copy the file again, or let "
    "repair keep the complete records.",
    "zeros": "A range of zeros: space that was allocated and never written, or a hole after a crash.",
    "stray": "Bytes that belong to no record, such as a log line or half of an older record.",
    "codec": "The gzip or zlib stream is damaged. Data before the damage is read, and so is the next gzip member; data "
    "behind a damaged gzip header is decompressed where possible.",
    "length": "OFRecord: a length that is negative or leads past the end of the file.",
    "payload": "The frame is intact, but the payload does not parse (verify --payload; OFRecord always).",
}

ENVIRONMENT = {
    "NO_COLOR": "If set and not empty, output is not colored unless --color always is given.",
    "FORCE_COLOR": "If set and not empty or 0, output is colored even in a pipe.",
    "COLUMNS": "Width of help pages and tables, where the terminal does not report it.",
    "TMPDIR": "Directory for temporary copies of standard input, and for digests of stat --duplicates.",
}

FILES = """\
An output is written under a temporary name next to its target, verified, and renamed into place: it is either complete
or absent. A killed process can leave a temporary file behind, which can be deleted.
Nothing is written next to an input unless an option names it.
"""

LIMITS = """\
OFRecord has no checksums, so changed bytes in a payload cannot be detected.

Records of a TFRecord file that is stored inside a payload cannot be told apart from the records around it in three
cases: the header and the beginning of the outer payload are lost; the file is preceded by bytes that are not a message
and both it and the outer record are cut off; or the outer header has no payload up to the end of the file. Records that
may be the content of a damaged record are dropped with it.

A file that changes while it is read, within one tick of the clock of the file system, is not noticed.
"""

EXAMPLES: dict[str, list[tuple[str, str]]] = {
    "count": [
        ("Count the records of each shard, and of all:", "tfrtool count flowers.tfrecord flowers-damaged.tfrecord"),
        ("Print only the total, for a script:", "tfrtool count . | tail -n 1 | cut -d ' ' -f 1"),
    ],
    "head": [
        ("Show the first two records:", "tfrtool head -n 2 flowers.tfrecord"),
        ("List the names of the features:", "tfrtool head --keys flowers.tfrecord"),
        (
            "Show the first 100 records in a browser, with their images:",
            "tfrtool head -n 100 --html first.html flowers.tfrecord",
        ),
        ("Extract the payload of the fourth record:", "tfrtool head --raw --skip 3 flowers.tfrecord > payload.bin"),
    ],
    "verify": [
        ("Check a file and list all damage:", "tfrtool verify flowers-damaged.tfrecord"),
        (
            "List only the damage, for a program:",
            'tfrtool verify --json flowers-damaged.tfrecord | grep \'"type":"damage"\'',
        ),
        ("Write the same as a web page:", "tfrtool verify flowers-damaged.tfrecord --html report.html"),
        ("Check all files below a directory by exit code:", "tfrtool verify --quiet . || echo 'problems found'"),
    ],
    "stat": [
        ("Show record sizes and shard balance:", "tfrtool stat flowers.tfrecord"),
        (
            "Write an index for NVIDIA DALI or the package tfrecord:",
            "tfrtool stat --index a.idx flowers.tfrecord",
        ),
        ("Find payloads that occur more than once in all files:", "tfrtool stat --duplicates *.tfrecord"),
    ],
    "schema": [
        ("List the features and their kinds:", "tfrtool schema flowers.tfrecord"),
        ("Write a feature description for tf.io:", "tfrtool schema --emit tf flowers.tfrecord > features.py"),
        ("List the names of all features, for a script:", "tfrtool schema flowers.tfrecord | cut -f 1"),
    ],
    "repair": [
        ("Recover the intact records:", "tfrtool repair flowers-damaged.tfrecord -o repaired.tfrecord"),
        ("Show what would be recovered:", "tfrtool repair --dry-run flowers-damaged.tfrecord"),
        (
            "Also keep the dropped bytes, and a report of every byte:",
            "tfrtool repair flowers-damaged.tfrecord -o fixed.tfrecord --quarantine dropped.bin --report report.jsonl",
        ),
    ],
    "convert": [
        (
            "Convert to OFRecord for OneFlow, in four parts:",
            "tfrtool convert flowers.tfrecord -o parts --to ofrecord --shards 4",
        ),
        (
            "Reshard by size, with compression:",
            "tfrtool convert flowers.tfrecord -o flowers --shard-size 4KB --compress gzip",
        ),
        (
            "Keep only some records and some of their features:",
            "tfrtool convert flowers.tfrecord -o some.tfrecord --where 'label == 1' --select label,caption",
        ),
        (
            "Convert to JSON Lines and back:",
            "tfrtool convert flowers.tfrecord -o flowers.jsonl && tfrtool convert flowers.jsonl -o again.tfrecord",
        ),
    ],
    "completion": [("Enable completion in the current bash:", 'eval "$(tfrtool completion bash)"')],
}


Notes = list[str | dict[str, str]]

PAGES = """\
With --html, the results are also written to a file as a web page; the regular output and the exit code do not change.
The page is a single file that works offline. Click a table heading to sort. An existing page is replaced only with
--force.
"""

PICTURES = """\
The page shows images of records as thumbnails: JPEG, PNG, GIF and WebP of at most 256 KiB each, 16 MiB in total.
"""

MAPS = """\
A map in the page shows which parts of a file are intact, recoverable or damaged. At most 10,000 damaged ranges are
listed; the rest are counted.
"""

JSON = """\
With --json, each line of output is an object with a "type" and "v": 1. For each input there are "damage" or "record"
objects, then one "file" object, even if the input cannot be read; the last object is one "summary". Byte offsets refer
to the uncompressed stream. Bytes that are not UTF-8 are written as {"bytes": "<base64>"} where a string would be; NaN
and infinities are strings. In the "file" objects of head, schema and convert, "unread" is true if the file was not read
to its end because no more records were needed; "status" then covers only what was read (verify checks the whole file).
With head --record, payloads before that record are not read either, "unread" is true, and "records" is 1 or 0. In a
"record" object, features are listed under their names; a feature whose name is not UTF-8 or is a duplicate is listed
under a similar name, and its "name" field holds the real one. Fields may be added in later versions; existing fields
keep their meaning.
"""

NOTES: dict[str, Notes] = {
    "count": [
        """\
In a pipe and on a terminal, each input is a line: the number of records, a space and the path. With several inputs, a
last line has the total. Damage is reported on standard error.
"""
    ],
    "repair": [
        """\
Offsets of a compressed file count decompressed bytes. If a text conversion damaged the file (LF became CR LF, or bytes
were written as UTF-8), repair undoes it first; its offsets count the bytes from before the conversion.
""",
        """\
In a pipe, each damaged range is a line of tab-separated fields: path, action (restored, corrected, kept or dropped),
fault, begin, end (exclusive), record number, records written, bytes dropped, message. Each input is a line after them:
path, status, intact records, records written, bytes dropped, output, message. With -o - these lines go to standard
error.

If all checksums of a file are wrong in the same way (plain CRC-32, no mask, big-endian), they are replaced by correct
ones. If checksums are zero, or the last one is missing because the file is truncated, the payloads cannot be verified;
--keep-unverified writes those that parse. A payload that lacks four bytes looks the same as one whose checksum is
missing, so an unverified payload may be incomplete; these are counted separately.

--fix-bits looks for the one bit whose correction makes the checksum match. By chance, one in 2^32 / (8 * size) payloads
that are damaged in another way has such a bit too; this probability is printed with each correction.

With --report and --quarantine, outputs are renamed into place after all inputs are done and these two files are
written; if one of them cannot be written, no output is. The report has a "range" object for each range, in which
"records" counts the records written from it and "left_out" the intact ones that --keep leaves out, and an "output"
object that names the file. An "error" object means that the input could not be opened, or that its output could not be
written; it replaces earlier objects for the input.
""",
    ],
    "stat": [
        """\
In a pipe, each input is a line of tab-separated fields: path, status, records, payload bytes, framing bytes, payload
sizes (minimum, 50th percentile, mean, 95th percentile, 99th percentile, maximum), bytes on disk, format, compression,
kind, records that repeat an earlier payload, message. With several inputs, a last line "total" follows.

An index has a line <offset> <size> for each intact record: byte offset in the file and size, both including the
framing. It is written completely or not at all. A compressed file cannot have one, since readers could not seek in it.
tfrtool-verify(1) compares an index with its file.

If only headers are read, "clean" refers to headers, and "unchecked" is true with --json; tfrtool-verify(1) checks the
payloads too.
""",
        PAGES,
    ],
    "head": [
        """\
In a pipe, each feature is a line of tab-separated fields: path, record number, feature name, kind, number of values,
preview of the values. A record without features is a line with an empty name.
""",
        PAGES,
        PICTURES,
    ],
    "schema": [
        """\
In a pipe, each feature is a line of tab-separated fields: name, kind, number of records that have it, fewest values in
a record, most values, description of the values, remarks. The kind of a feature list of a SequenceExample starts with
`list of`. For events, each tag is a line, with its first and last step in place of the numbers of values. For records
of no known kind, each top-level field is a line.

--emit writes the schema for other programs: a feature description for tf.io (tf), a Schema of tensorflow_metadata
(pbtxt), the features of NVIDIA DALI's reader (dali), the description for the PyPI package tfrecord (tfrecord), or the
two files that tfds.builder_from_directory needs to read the data in place (tfds; -o names the directory). A feature on
which the other program would stop, or for which it would make up values, is written as a comment that gives the reason,
and a warning is printed. If no feature remains that can be read from all records, nothing is written, and the exit
code is 3.

The schema describes what TensorFlow's parser reads, while "tfrtool verify --payload" checks payloads against protobuf:
for example, protobuf rejects a feature name that is not UTF-8, so verify reports such a payload as damage.
""",
        PAGES,
    ],
    "verify": [
        """\
In a pipe, each damaged range is a line of tab-separated fields: path, fault, begin, end (exclusive), record number,
recoverable records in the range, message. Each input is a line after them: path, status, intact records, damaged bytes,
recoverable records (empty where a pipe cannot tell), message. Index lines that do not match are such lines too, with
the fault `index`.
""",
        PAGES,
        MAPS,
    ],
    "convert": [
        """\
In a pipe, all lines have tab-separated fields. A damaged range: path, fault, begin, end (exclusive), record number,
message. A change: path, lost or changed, feature, records, description. An input: path, status, intact records, records
written, records skipped, message. An output: path, output. With -o - these lines go to standard error.

What the output format cannot represent is an error, or is handled as an option says:
""",
        {
            "int32, to an Example": "Becomes int64; --schema-out saves the kinds, and --schema restores them.",
            "double, to an Example": "Becomes float if that is exact to the last bit; otherwise see --double.",
            "int64, to an OFRecord": "Stays int64, or becomes int32 with --int int32, with --int auto if all values "
            "fit, or with --type NAME=int32.",
            "a feature without a kind": "Is kept. OneFlow fails on it; --no-kind drop drops it.",
            "a record without features": "Is an error in an OFRecord: OneFlow fails on it. --empty skip skips it.",
            "unknown protobuf fields": "Are an error; see --unknown keep and --unknown drop.",
            "a SequenceExample": "Is an error; --sequence flatten writes each list together with NAME/lengths, and "
            "--schema restores it.",
            "lists set twice, numbers in several runs": "Are joined, as protobuf reads them; TensorFlow reads only the "
            "first. A list that is overridden by one of another kind is dropped, which is reported as a loss.",
            "a feature whose name is not UTF-8": "Makes its record damaged, unless --unknown drop drops the feature.",
        },
        """\
A --where condition with ==, <, <=, > or >= keeps the records in which any value of the feature matches; one with !=
keeps those in which the feature has values and none is equal. A record without the feature, or with an empty list,
never matches. Give --where several times to require several conditions. Text goes in quotes, and so may a name that
contains an operator; a quote inside is doubled. Float features are compared with the number rounded to float32, so that
0.1 matches a value displayed as 0.1. Conditions see only the context of a SequenceExample. A name that occurs in no
record is reported, here and in the other options. For --select, --drop and --rename, a name that contains a comma or
an equals sign goes in quotes too, as in --rename "'lr=0.1'=rate".

Damage, a payload of another kind or a message of the other format stops the conversion, unless --skip-damaged is given.
All outputs are renamed into place together or not at all, the first of a set last. Shards are contiguous and never
empty. TFRecord shards are named NAME-00000-of-00016; OFRecord parts are named part-00000 in a directory, and the
arguments with which OneFlow reads them are printed. --shard-size counts records with their framing before compression;
for Parquet it counts values, to which the file adds pages and a footer. A record larger than SIZE gets its own shard.

If no option says otherwise, the extension of OUT determines the format (.tfrecord, .ofrecord, .jsonl, .ndjson,
.parquet, .pq) and the compression (.gz, .zz, .zlib). The extension of another format, such as .csv, is an error unless
--to is given; one of another compression, such as .zst, or one that contradicts --compress, is always an error. If the
first input is compressed, the output is compressed the same way, and a warning is printed if the name does not show it.
In a directory, each output is named after its input, its format and its compression; a name without an extension, such
as that of the shard train-00000-of-00016, is kept, and a warning is printed if the output is compressed.

JSON Lines: a feature with one value is that value, any other is an array. Bytes are text if they are printable UTF-8,
otherwise base64 in {"bytes": ...}. An integer of any size is an int64, a number with a decimal point is a float, and a
feature without a kind is {}. The two parts of a SequenceExample are "context" and "feature_lists". A value that would
be read back as another kind names its own: {"double":0.5}, {"int32":[1,2]}, {"int64":[]}. OFRecord and TFRecord are
therefore restored byte for byte. With --schema-out, a first pass learns the kinds, the lines do not name them, and
--schema restores them.

JSON Lines from other programs need one object per line. They are read twice: an integer becomes a float if other values
of its feature have a decimal point, and --type NAME=KIND sets a kind explicitly. Decimals become float32; those with
more digits are reported as a loss, and --type NAME=double keeps them, in OFRecord and in rows. An invalid line stops
the conversion with its line and column, unless --skip-damaged is given. Fields that --drop drops may be anything.

Parquet is written in two passes too, since its columns must be known first. A feature of two kinds is an error that
names the first record of each. Integers, floats, booleans, strings, binaries and lists of these are read from any
Parquet file, and null becomes an absent feature; a column of another type is an error that names it.
""",
    ],
}
"""By the name of the command."""
