"""Checks of a corpus before training."""

from asr.util.errors import Issue
from asr.validation.report import Report, Summary
from asr.validation.validate import validate

__all__ = ["Issue", "Report", "Summary", "validate"]
