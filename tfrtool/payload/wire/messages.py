"""Define the messages that records hold, and make protobuf classes of them at run time.

The messages are written once, in the notation of .proto files. Field numbers and types are those of TensorFlow's
core/example/{example,feature}.proto, core/util/event.proto, core/framework/{summary,tensor,tensor_shape}.proto and
tsl's protobuf/histogram.proto, and of OneFlow's core/record/record.proto. Simplified without a change to the bytes:
nested messages are at the top (`Summary.Value` is `SummaryValue`), enums are int32, and `resource_handle_val` and
`variant_val` of a tensor are opaque bytes, so that no message holds itself.

The classes are in descriptor pools of our own. No generated code, hence no tie to one protobuf version; and no clash
with TensorFlow in the same process, which registers the same names in the default pool. The protobuf package is
imported at the first call and not before.

Each message has a *lenient* twin for looking at what the strict class refuses or hides: names and texts are bytes,
and a map is `repeated Entry {bytes key = 1; … value = 2}`, so odd names, repeated names and their order are all kept.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto


Package = Literal["tensorflow", "oneflow"]

TENSORFLOW = """
message BytesList { repeated bytes value = 1; }
message FloatList { repeated float value = 1; }
message Int64List { repeated int64 value = 1; }
message Feature {
  oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; }
}
message Features { map<string, Feature> feature = 1; }
message FeatureList { repeated Feature feature = 1; }
message FeatureLists { map<string, FeatureList> feature_list = 1; }
message Example { Features features = 1; }
message SequenceExample { Features context = 1; FeatureLists feature_lists = 2; }

message Event {
  double wall_time = 1;
  int64 step = 2;
  oneof what {
    string file_version = 3;
    bytes graph_def = 4;
    Summary summary = 5;
    LogMessage log_message = 6;
    SessionLog session_log = 7;
    TaggedRunMetadata tagged_run_metadata = 8;
    bytes meta_graph_def = 9;
  }
  SourceMetadata source_metadata = 10;
}
message SourceMetadata { string writer = 1; }
message LogMessage { int32 level = 1; string message = 2; }
message SessionLog { int32 status = 1; string checkpoint_path = 2; string msg = 3; }
message TaggedRunMetadata { string tag = 1; bytes run_metadata = 2; }
message Summary { repeated SummaryValue value = 1; }
message SummaryValue {
  string node_name = 7;
  string tag = 1;
  SummaryMetadata metadata = 9;
  oneof value {
    float simple_value = 2;
    bytes obsolete_old_style_histogram = 3;
    SummaryImage image = 4;
    HistogramProto histo = 5;
    SummaryAudio audio = 6;
    TensorProto tensor = 8;
  }
}
message SummaryMetadata {
  PluginData plugin_data = 1;
  string display_name = 2;
  string summary_description = 3;
  int32 data_class = 4;
}
message PluginData { string plugin_name = 1; bytes content = 2; }
message SummaryImage { int32 height = 1; int32 width = 2; int32 colorspace = 3; bytes encoded_image_string = 4; }
message SummaryAudio {
  float sample_rate = 1;
  int64 num_channels = 2;
  int64 length_frames = 3;
  bytes encoded_audio_string = 4;
  string content_type = 5;
}
message HistogramProto {
  double min = 1;
  double max = 2;
  double num = 3;
  double sum = 4;
  double sum_squares = 5;
  repeated double bucket_limit = 6;
  repeated double bucket = 7;
}
message TensorProto {
  int32 dtype = 1;
  TensorShapeProto tensor_shape = 2;
  int32 version_number = 3;
  bytes tensor_content = 4;
  repeated int32 half_val = 13;
  repeated float float_val = 5;
  repeated double double_val = 6;
  repeated int32 int_val = 7;
  repeated bytes string_val = 8;
  repeated float scomplex_val = 9;
  repeated int64 int64_val = 10;
  repeated bool bool_val = 11;
  repeated double dcomplex_val = 12;
  repeated bytes resource_handle_val = 14;
  repeated bytes variant_val = 15;
  repeated uint32 uint32_val = 16;
  repeated uint64 uint64_val = 17;
  bytes float8_val = 18;
}
message TensorShapeProto { repeated Dim dim = 2; bool unknown_rank = 3; }
message Dim { int64 size = 1; string name = 2; }
"""

ONEFLOW = """
message BytesList { repeated bytes value = 1; }
message FloatList { repeated float value = 1; }
message DoubleList { repeated double value = 1; }
message Int32List { repeated int32 value = 1; }
message Int64List { repeated int64 value = 1; }
message Feature {
  oneof kind {
    BytesList bytes_list = 1;
    FloatList float_list = 2;
    DoubleList double_list = 3;
    Int32List int32_list = 4;
    Int64List int64_list = 5;
  }
}
message OFRecord { map<string, Feature> feature = 1; }
"""

SYNTAX: dict[Package, str] = {"tensorflow": "proto3", "oneflow": "proto2"}


class Field(NamedTuple):
    """One field of a message; `type` is a scalar type or the name of a message (for a map, that of its values)."""

    name: str
    number: int
    type: str
    repeated: bool
    map: bool
    oneof: str | None

    @property
    def entry(self) -> str:
        """Return the name that protobuf gives to the entries of this map: `feature_list` has `FeatureListEntry`."""
        return "".join(word.capitalize() for word in self.name.split("_")) + "Entry"


_STATEMENT = (
    r"message (?P<message>\w+) \{"
    r"|oneof (?P<oneof>\w+) \{"
    r"|(?P<close>\})"
    r"|(?P<repeated>repeated )?(?:(?P<map>map<string, (?P<values>\w+)>)|(?P<type>\w+)) (?P<name>\w+) = (?P<number>\d+);"
)


@cache
def messages(package: Package) -> dict[str, tuple[Field, ...]]:
    """Return the messages of a package, each with its fields in the order written."""
    found: dict[str, list[Field]] = {}
    message, oneof = "", None
    for part in re.finditer(_STATEMENT, TENSORFLOW if package == "tensorflow" else ONEFLOW):
        if part["message"]:
            message, oneof = part["message"], None
            found[message] = []
        elif part["oneof"]:
            oneof = part["oneof"]
        elif part["close"]:
            oneof = None
        else:
            kind = part["values"] or part["type"]
            field = Field(part["name"], int(part["number"]), kind, bool(part["repeated"]), bool(part["map"]), oneof)
            found[message].append(field)
    return {name: tuple(members) for name, members in found.items()}


MessageClass = type[Any]
"""A protobuf message class; its fields are only known at run time."""


@cache
def message_class(package: Package, name: str, *, lenient: bool = False) -> MessageClass:
    """The class of any message of the outline, such as `("tensorflow", "Features")`; the same class at each call."""
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(_pool(package, lenient).FindMessageTypeByName(f"{package}.{name}"))


@cache
def _pool(package: Package, lenient: bool) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

    file = FileDescriptorProto(name=f"tfrtool/{package}.proto", package=package, syntax=SYNTAX[package])
    for name, members in messages(package).items():
        _add_message(file, name, members, lenient)
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _add_message(file: FileDescriptorProto, name: str, members: tuple[Field, ...], lenient: bool) -> None:
    message = file.message_type.add(name=name)
    oneofs = list(dict.fromkeys(member.oneof for member in members if member.oneof))
    for oneof in oneofs:
        message.oneof_decl.add(name=oneof)
    for member in members:
        if member.map:
            entry = message.nested_type.add(name=member.entry)
            entry.options.map_entry = not lenient
            _add_field(file, entry, Field("key", 1, "string", False, False, None), lenient)
            _add_field(file, entry, Field("value", 2, member.type, False, False, None), lenient)
            entries = Field(member.name, member.number, f"{name}.{member.entry}", True, False, None)
            _add_field(file, message, entries, lenient)
        else:
            _add_field(file, message, member, lenient)
            if member.oneof:
                message.field[-1].oneof_index = oneofs.index(member.oneof)


def _add_field(file: FileDescriptorProto, message: DescriptorProto, member: Field, lenient: bool) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

    field = message.field.add(name=member.name, number=member.number)
    field.label = Proto.LABEL_REPEATED if member.repeated else Proto.LABEL_OPTIONAL
    kind = "bytes" if lenient and member.type == "string" else member.type
    if kind[0].islower():
        field.type = Proto.Type.Value(f"TYPE_{kind.upper()}")
        if member.repeated and kind not in ("string", "bytes") and file.syntax == "proto2":
            field.options.packed = True  # the default in proto3; record.proto says it of each list
    else:
        field.type = Proto.TYPE_MESSAGE
        field.type_name = f".{file.package}.{kind}"
