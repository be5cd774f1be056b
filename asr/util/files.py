"""Writing files that are whole or absent; a floor's own door to `discriminants.util.files`, where it is done."""

from discriminants.util.files import DISK_TROUBLE, atomic_directory, atomic_write, write_array

__all__ = ["DISK_TROUBLE", "atomic_directory", "atomic_write", "write_array"]
