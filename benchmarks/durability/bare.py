"""What any careful program must do for one entry: lock, note it, sync, write the file again, sync, replace, sync.

Run as `python bare.py FOLDER LINE` it is the script that `amp remember` is measured against; it imports no more than
it needs.
"""

import fcntl
import os
import sys


def add(folder: str, line: bytes) -> None:
    """Add a line to the document in a folder."""
    lock = os.open(f"{folder}/lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    note = os.open(f"{folder}/journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(note, line)
    os.fsync(note)
    os.close(note)
    with open(f"{folder}/document", "rb") as document:
        data = document.read()
    new = os.open(f"{folder}/new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(new, data + line)
    os.fsync(new)
    os.close(new)
    os.replace(f"{folder}/new", f"{folder}/document")
    place = os.open(folder, os.O_RDONLY)
    os.fsync(place)
    os.close(place)
    os.close(lock)


if __name__ == "__main__":
    add(sys.argv[1], os.fsencode(sys.argv[2]) + b"\n")
