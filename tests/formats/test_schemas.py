"""The two schemas describe one entry, and the generated module is what the compiler makes of the first."""

import json
import re
import shutil
import subprocess
import sys

import jsonschema
import pytest
from google.protobuf import descriptor_pb2

from agent_memory_protocol.formats import agentmemory_pb2, schemas
from agent_memory_protocol.formats.entry import MemoryEntry

PROTO = schemas.text(schemas.PROTO)
JSON = json.loads(schemas.text(schemas.JSON))
FIELDS = {
    "id": (1, "string", "string"),
    "timestamp_ms": (2, "uint64", "integer"),
    "text": (3, "string", "string"),
    "tags": (4, "repeated string", "array"),
    "source": (5, "string", "string"),
    "embedding": (6, "bytes", "string"),
    "relevance": (7, "float", "number"),
    "extra": (8, "map<string, string>", "object"),
}


def fields_of(message: str) -> dict[str, tuple[int, str]]:
    found = re.search(rf"message {message} {{\n(.*?)^}}", PROTO, re.DOTALL | re.MULTILINE)
    assert found
    rows = re.findall(r"^  (.+) (\w+) = (\d+);", found[1], re.MULTILINE)
    return {name: (int(number), kind) for kind, name, number in rows}


@pytest.mark.requirement("S3-09", "S3-11", "S3-13")
def test_the_proto_has_the_fields_and_numbers_of_the_schema():
    assert fields_of("MemoryEntry") == {name: (number, kind) for name, (number, kind, _) in FIELDS.items()}
    assert 'syntax = "proto3";' in PROTO
    assert "package agentmemory;" in PROTO


@pytest.mark.requirement("S3-12")
def test_the_header_has_a_version_and_a_time():
    assert fields_of("MemoryFileHeader") == {"format_version": (1, "string"), "created_unix_ms": (2, "uint64")}


@pytest.mark.requirement("S3-09", "S3-10", "S3-17")
def test_the_json_schema_describes_the_same_entry():
    assert {name: rule["type"] for name, rule in JSON["properties"].items()} == {
        name: kind for name, (_, _, kind) in FIELDS.items()
    }
    assert JSON["required"] == ["id", "timestamp_ms", "text", "embedding"]
    assert JSON["title"] == "AgentMemoryEntry"
    assert JSON["properties"]["id"]["format"] == "uuid"
    assert JSON["properties"]["timestamp_ms"]["minimum"] == 0
    assert JSON["properties"]["embedding"]["contentEncoding"] == "base64"
    assert JSON["properties"]["extra"]["additionalProperties"] == {"type": "string"}
    assert JSON["properties"]["tags"]["items"] == {"type": "string"}
    assert JSON["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(JSON)


def test_the_value_has_the_same_fields():
    assert set(MemoryEntry._fields) == {*FIELDS, "unknown"}


def test_the_generated_module_describes_them_too():
    found = agentmemory_pb2.MemoryEntry.DESCRIPTOR
    assert found.full_name == "agentmemory.MemoryEntry"
    assert {field.name: field.number for field in found.fields} == {
        name: number for name, (number, _, _) in FIELDS.items()
    }


def test_the_compiler_makes_the_same_module(tmp_path):
    source = tmp_path / schemas.PROTO
    source.write_text(PROTO, encoding="utf-8")
    compiler = (
        [shutil.which("protoc")]
        if shutil.which("protoc")
        else [sys.executable, "-W", "ignore", "-m", "grpc_tools.protoc"]
    )
    subprocess.run(
        [*map(str, compiler), f"-I{tmp_path}", f"--descriptor_set_out={tmp_path / 'set'}", schemas.PROTO],
        check=True,
        cwd=tmp_path,
    )
    made = descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "set").read_bytes()).file[0]
    checked_in = descriptor_pb2.FileDescriptorProto.FromString(agentmemory_pb2.DESCRIPTOR.serialized_pb)
    for one in (made, checked_in):
        for message in one.message_type:
            for field in [*message.field, *(inner for nested in message.nested_type for inner in nested.field)]:
                field.ClearField("json_name")  # which of them spell it out depends on the compiler
    assert made == checked_in
