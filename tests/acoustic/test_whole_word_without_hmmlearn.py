"""Whole-word models where hmmlearn is not installed, as on Python 3.14 without a compiler."""

import numpy as np
import pytest

from asr.acoustic import whole_word
from asr.acoustic.whole_word import WholeWordHmms
from asr.features.frame_table import FrameTable
from asr.util.errors import ConfigError


def test_training_says_what_is_missing_why_and_what_to_do(monkeypatch):
    monkeypatch.setattr(whole_word, "find_spec", lambda name: None)
    table = FrameTable.from_utterances(["a"], ["anna"], [np.zeros((9, 2))])
    with pytest.raises(ConfigError, match=r"hmmlearn.*no wheel.*3\.14.*Python 3\.13.*pip install hmmlearn"):
        WholeWordHmms().fit(table, {"a": ("YES",)})
