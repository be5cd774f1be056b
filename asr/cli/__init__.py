"""The command line: `asr validate`, `features`, `train`, `tune`, `align`, `decode`, `score`, `info`, a thin front."""

from asr.cli.app import main

__all__ = ["main"]
