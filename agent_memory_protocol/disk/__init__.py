"""The disk: read, write, lock and watch files below one root, without ever leaving it."""
