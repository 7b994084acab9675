"""BLAKE2 without `hashlib`, which loads OpenSSL: that takes longer than everything recall does."""

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
