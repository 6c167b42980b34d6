"""The NOTES of the manual pages: what a command does in the cases that its help has no room for.

A text is of paragraphs, which empty lines part; a dict is a list of terms and their explanations.
"""

from __future__ import annotations

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
payloads before that record are passed over, which "unread" says too; with --index its "status" is that of the one
record alone, and "records" is 1 or 0 either way. In a "record"
object a feature stands under its name; where that name is not UTF-8, or is taken, it stands under a similar one and
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
whole or not at all; a compressed file has none, since nobody can seek in it. tfrtool-verify(1) holds an index against
its file, and tfrtool-head(1) finds a record by one.

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
