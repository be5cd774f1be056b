"""Command line: `asr validate`, `features`, `train`, `tune`, `align`, `decode`, `score`, `compare` and `info`."""

from asr.cli.app import main

__all__ = ["main"]
