"""How a safetensors file begins: the length of a JSON object, and the object, which says where each table is."""

import json
import struct
from typing import Any, BinaryIO

_LONGEST = 1 << 20


def read_header(file: BinaryIO) -> dict[str, Any]:
    """Read the header of an open file, and go to where its tables begin; {} where it is too long to be one."""
    (length,) = struct.unpack("<Q", file.read(8))
    header: dict[str, Any] = json.loads(file.read(length)) if length < _LONGEST else {}
    return header
