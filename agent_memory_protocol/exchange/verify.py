"""Verify a memory file: the signature of the file, every record, their links and their owner."""

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from functools import partial

from ..disk.errors import shown
from ..disk.side_file import SideFile
from ..errors import BadSignature, InvalidRecord
from ..formats.record_entries import LARGEST
from ..formats.record_files import read_whole
from ..formats.signed_file import FORMAT, SignedMemoryFile
from ..records import heads
from ..records.proof import Checked, check_histories

_SQLITE = b"SQLite format 3\0"
_FAMILY = FORMAT.partition("/")[0]


def is_database(path: str) -> bool:
    """Say whether a file is an SQLite database."""
    with open(path, "rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def is_memory_file(path: str) -> bool:
    """Say whether a file is a memory file, or is called one."""
    if path.endswith(".amem.json"):
        return True
    try:
        value = json.loads(read_whole(path, LARGEST))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and str(value.get("format")).startswith(_FAMILY)


def check_file(path: str, *, owners: Collection[str] = ()) -> Checked:
    """Verify a memory file, and return all that is wrong; who has signed the file vouches for its unsigned records."""
    try:
        file = SignedMemoryFile.parse(read_whole(path, LARGEST))
    except InvalidRecord as error:
        return Checked(0, 0, 0, (f"{shown(path)}: {error}",))
    seen = SideFile(heads.file_elsewhere(path), heads.TABLE)

    problems = []
    try:
        if file.signature:
            file.verify()
    except BadSignature as error:
        problems.append(str(error))
    if file.is_stripped:
        problems.append(f"the memory file is that of {file.agent}, and its signature is missing")
    twice = [name for name, count in Counter(record.id for record in file.records).items() if count > 1]
    problems += [f"{name}: is in the memory file twice, which has one version of each record" for name in twice]
    is_vouched = file.signer in owners and not problems
    histories = [(record.id, partial(tuple, [record])) for record in file.records]
    try:
        set_back = partial(heads.set_back, seen)
        checked = check_histories(histories, owners=owners, vouched=is_vouched, set_back=set_back)
        if not (problems or checked.problems):
            seen.write(heads.noted(file.records))
    finally:
        seen.close()
    if owners and not file.records and not is_vouched:
        problems.append(f"the memory file is not signed by {' or '.join(sorted(owners))}")
    unproved = (*checked.unproved, "that this is the newest file of its memory")
    return replace(checked, problems=(*problems, *checked.problems), unproved=unproved)
