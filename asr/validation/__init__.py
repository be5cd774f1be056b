"""Checks of a corpus before training."""

from asr.validation.findings import Finding
from asr.validation.report import Report, Summary
from asr.validation.validate import validate

__all__ = ["Finding", "Report", "Summary", "validate"]
