"""Atomic writing of files, from `discriminants.util.files`."""

from discriminants.util.files import DISK_TROUBLE, atomic_directory, atomic_write, write_array

__all__ = ["DISK_TROUBLE", "atomic_directory", "atomic_write", "write_array"]
