"""Protobuf classes made at run time, in descriptor pools of our own.

No generated code, hence no bond to one protobuf version; and no clash with TensorFlow in the same process, which
registers the same names in the default pool. The protobuf package is imported at the first call and not before.

Each message has a *lenient* twin for looking at what the strict class refuses or hides: names and texts are bytes,
and a map is `repeated Entry {bytes key = 1; … value = 2}`, so odd names, repeated names and their order are all seen.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tfrtool.payload.outline import SYNTAX, Field, Package, messages

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

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
