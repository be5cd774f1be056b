"""Flat starts against the phones of the real sentences of Resource Management."""

import json
import sys

import pytest

from recipes.rm1 import flat_starts


@pytest.mark.slow
def test_division_by_changes_finds_most_phones_of_little_speech(rm1_sample, monkeypatch, capsys):
    monkeypatch.setattr(flat_starts, "SHARES", (0.4,))
    monkeypatch.setattr(flat_starts, "STARTS", ("equal", "auto"))
    monkeypatch.setattr(sys, "argv", ["flat_starts", "--corpus-dir", str(rm1_sample), "--seeds", "0", "1"])
    flat_starts.main()
    right = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert min(right["auto"]["0.4"]) > 82.0  # 84.8 and 86.2
    assert max(right["equal"]["0.4"]) < 70.0  # 58.8 and 63.4
    assert min(right["equal, restarted"]["0.4"]) > 80.0
    assert min(right["auto, restarted"]["0.4"]) > 83.0  # 84.0 and 87.1, with pauses found by their level alone
