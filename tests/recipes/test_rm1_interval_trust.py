"""Trust in phones against their distance from the given ones of Resource Management."""

import re
import sys

import pytest

from recipes.rm1 import interval_trust


@pytest.mark.slow
def test_interval_trust_finds_phones_near_given_ones(rm1_sample, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["interval_trust", "--corpus-dir", str(rm1_sample), "--seeds", "0"])
    interval_trust.main()
    areas = [float(area) for area in re.findall(r"area ([0-9.]+) for phones", capsys.readouterr().out)]
    assert len(areas) == 2 and min(areas) > 0.73  # 0.790 and 0.750
