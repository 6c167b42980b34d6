"""What the manual pages say beyond the help of the commands. Every command line in here is run by a test.

The NOTES of the manual pages: what a command does in the cases that its help has no room for.

A text is of paragraphs, which empty lines part; a dict is a list of terms and their explanations.
"""

from __future__ import annotations

from tfrtool.sources.inputs.side_files import FOREIGN_SUFFIXES, ROWS

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

Below a directory, these are skipped by their names: names that begin with _ or ., side files (.crc .idx .index .tfindex
.json .txt .pbtxt, README, LICENSE), and files of other kinds, plain or with .gz added:
{" ".join(FOREIGN_SUFFIXES)}; for all commands but convert, also {" ".join(ROWS)}.
A file that is named is always read.

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
there whole or not at all. A killed process can leave such a file behind; remove it.
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


Notes = list[str | dict[str, str]]

PAGES = """\
verify, stat, schema and head write what they found as a web page too, where --html names a file; what they print and
their exit code stay as they are. The page is one file that can be sent to others, and a browser that shows it asks the
network for nothing. A click on the heading of a table sorts it. A page that exists is replaced only with --force.
"""

PICTURES = """\
Images of records are in the page as small pictures: JPEG, PNG, GIF and WebP of at most 256 KiB, 16 MiB in all.
"""

MAPS = """\
A map in the page shows where a file is sound, where records can be brought back and where they are lost. Of very many
damaged ranges 10,000 are listed, and the rest is counted.
"""

JSON = """\
With --json every line of the output is an object with a "type" and "v": 1. For each input there are its "damage" or
"record" objects, then one "file" object, also for inputs that cannot be read; in the end there is one "summary". Bytes
are counted in the unpacked stream. Bytes that are not UTF-8 stand as {"bytes": "<base64>"} where a string would, NaN
and infinities as strings. In what head, schema and convert say of a file, "unread" is true where no more of it was
asked for than what stands before its end: its "status" holds up to there, and verify looks at all of it. With --record
payloads before that record are passed over, which "unread" says too, and "records" is 1 or 0. In a "record" object a
feature stands under its name; where that name is not UTF-8, or is taken, it stands under a similar one and
holds its own as "name". Fields may be added, and never change their meaning.
"""

NOTES: dict[str, Notes] = {
    "repair": [
        """\
A file whose writer made every checksum wrong in the same way (plain CRC-32, no mask, big-endian) gets right ones.
Where zeros stand in place of checksums, or the end of the file cuts one off, nothing proves a payload;
--keep-unverified writes those that parse. Four bytes missing from anywhere in a payload look the same as a missing
checksum, so such a payload may never have been written, and is counted apart.

One flipped bit of a payload has, with --fix-bits, one place where it makes the checksum right. So has, by chance, one
in 2^32 / (8 * size) of payloads that are damaged in another way: how likely a correction is wrong is said with it.
""",
    ],
    "stat": [
        """\
An index has a line <offset> <size> for each sound record, in bytes of the file and with the framing. It is written
whole or not at all; a compressed file has none, since nobody can seek in it. tfrtool-verify(1) compares an index with
its file.

Where headers alone are read, "clean" is said of them, and "unchecked" is true with --json: tfrtool-verify(1) checks the
payloads too.
""",
        PAGES,
    ],
    "head": [PAGES, PICTURES],
    "schema": [
        """\
Another program reads what --emit writes: a feature description of tf.io (tf), a Schema of tensorflow_metadata (pbtxt),
the features of NVIDIA DALI's reader (dali), the description that the PyPI package tfrecord takes (tfrecord), or the two
files by which tfds.builder_from_directory reads the data where it lies (tfds, with a directory for -o). A feature at
which the other program would stop at some record, or make up values, stands in a comment with the reason; standard
error tells of it too. Where no feature is left that can be read of all records nothing is written, and that ends in
exit code 3.

What is described is what TensorFlow's parser reads, while "tfrtool verify --payload" holds payloads to protobuf: a
record with a name that is not UTF-8, which protobuf refuses, is a payload that does not parse for that alone.
""",
        PAGES,
    ],
    "verify": [PAGES, MAPS],
    "convert": [
        "What cannot be held on the other side is refused, or done as an option says:",
        {
            "int32, to an Example": "It becomes int64; --schema-out keeps the kinds, and --schema brings them back.",
            "double, to an Example": "It becomes a float where that is exact to the last bit, else --double says what.",
            "int64, to an OFRecord": "It stays, or becomes int32 with --int int32, with --int auto where all values "
            "fit, or with --type NAME=int32.",
            "a feature without a kind": "It is kept. OneFlow stops at it; --no-kind drop leaves it out.",
            "a record without features": "It is refused in an OFRecord, since OneFlow stops at it; --empty skip leaves "
            "it out.",
            "fields that the message does not have": "They are refused; --unknown keep or drop.",
            "a SequenceExample": "It is refused; --sequence flatten writes each list beside its NAME/lengths, and the "
            "schema brings it back.",
            "lists set twice, numbers in several runs": "They are joined, as protobuf reads them; TensorFlow's parser "
            "reads the first alone. A list that one of another kind overrides is left out, which is told as a loss.",
            "a feature whose name is not UTF-8": "Its record is damage, unless --unknown drop leaves the feature out.",
        },
        """\
--where keeps the records of which any value of a feature compares so by ==, <, <=, > or >=; by !=, those of
which the feature has values and none is the same. A record without the feature, or with an empty list, is never kept;
of several conditions all must hold.
Text stands in quotes, and so may a name that holds an operator; a quote that belongs to it is doubled. Each condition
has a --where of its own. A float compares with the number rounded to float32, so that 0.1 finds what is shown as 0.1.
Conditions look at the context of a SequenceExample alone. Names that no record has are told, here and in the other
options. A name that holds the comma or the = of --select, --drop or --rename stands in quotes there too, as in
--rename "'lr=0.1'=rate".

Damage, a payload of another kind and a message of the other format stop the conversion, unless --skip-damaged. All
outputs take their names together or not at all, the first of a set last. Shards are contiguous and never empty: those
of TFRecord are NAME-00000-of-00016, those of OFRecord part-00000 in a directory, with what OneFlow has to be told.
--shard-size counts records and their framing as they are before --compress, and of Parquet the values, to which the
file adds its pages and its footer; a record that is larger has a shard of its own.

The end of a name in OUT tells the format (.tfrecord, .ofrecord, .jsonl, .ndjson, .parquet, .pq) and the compression
(.gz, .zz, .zlib) where no option does. Another format, as .csv, is refused unless --to says the format; another
packing, as .zst or one that --compress contradicts, is always refused. Where the first input is packed, the output is
packed alike; that its name does not say so is told. In a directory each output goes by the name of its input, its
format and its packing; a name that tells no format, as that of the shard train-00000-of-00016, stays, and that it does
not tell the packing is told.

JSON Lines: a feature of one value is that value, any other an array. Bytes are text where they are printable UTF-8,
else base64 in {"bytes": ...}; an integer is an int64, however large; a number with a point is a float; a feature
without a kind is {}; the two parts of a SequenceExample are "context" and "feature_lists". What would read back as
another kind bears its own: {"double":0.5}, {"int32":[1,2]}, {"int64":[]}. So OFRecord and TFRecord come back byte for
byte. With --schema-out a first pass learns the kinds and lines are plain, and --schema brings the kinds back.

Lines that others wrote need no more than an object each. They are read twice: an integer is a float where other values
of its feature have a point, and --type NAME=KIND says a kind outright. Decimals become float32, and those of more
digits than that has are told as a loss; --type NAME=double keeps them, in OFRecord and in rows. A line that is no row
stops the conversion with its line and column, unless --skip-damaged; what --drop leaves out may be anything.

Parquet is written in two passes too, since its columns must be known first. A feature of two kinds is refused with the
first record of each. Integers, floats, booleans, strings, binaries and lists of these are read from any Parquet file,
a null being an absent feature; other columns are refused by name.
""",
    ],
}
"""By the name of the command; one that is not here has none."""
