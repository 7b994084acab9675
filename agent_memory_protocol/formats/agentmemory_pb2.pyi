from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class MemoryFileHeader(_message.Message):
    __slots__ = ("format_version", "created_unix_ms")
    FORMAT_VERSION_FIELD_NUMBER: _ClassVar[int]
    CREATED_UNIX_MS_FIELD_NUMBER: _ClassVar[int]
    format_version: str
    created_unix_ms: int
    def __init__(self, format_version: _Optional[str] = ..., created_unix_ms: _Optional[int] = ...) -> None: ...

class MemoryEntry(_message.Message):
    __slots__ = ("id", "timestamp_ms", "text", "tags", "source", "embedding", "relevance", "extra")
    class ExtraEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_MS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    EXTRA_FIELD_NUMBER: _ClassVar[int]
    id: str
    timestamp_ms: int
    text: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    source: str
    embedding: bytes
    relevance: float
    extra: _containers.ScalarMap[str, str]
    def __init__(self, id: _Optional[str] = ..., timestamp_ms: _Optional[int] = ..., text: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., source: _Optional[str] = ..., embedding: _Optional[bytes] = ..., relevance: _Optional[float] = ..., extra: _Optional[_Mapping[str, str]] = ...) -> None: ...
