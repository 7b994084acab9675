"""The kernel's lock on an open file: it goes with whoever holds it, however that ends, and leaves nothing behind.

Windows locks the first byte and asks much of whoever does it, so there it is filelock's. That takes as long to load as
all of `amp recall` to run, and does elsewhere what these lines do.
"""

import sys

if sys.platform == "win32":
    from filelock import lock_descriptor, unlock_descriptor

    def take(fd: int) -> bool:
        """Take the lock if it is free; say whether it was."""
        return lock_descriptor(fd, blocking=False)

    def give_up(fd: int) -> None:
        """Give the lock up; the file stays open."""
        unlock_descriptor(fd)

else:
    import errno
    import fcntl

    def take(fd: int) -> bool:
        """Take the lock if it is free; say whether it was.

        Raises:
            OSError: the file system has no locks.
        """
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some file systems say EACCES of what another process holds.
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK):
                return False
            raise
        return True

    def give_up(fd: int) -> None:
        """Give the lock up; the file stays open."""
        fcntl.flock(fd, fcntl.LOCK_UN)
