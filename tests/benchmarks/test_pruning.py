"""`python -m benchmarks.pruning` on the irises."""

import re

import pytest

from benchmarks.pruning import main


def test_fewer_samples_are_left_of_the_irises(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--sets", "iri", "--draws", "1"])
    row = capsys.readouterr().out.splitlines()[1]
    numbers = [float(number) for number in re.findall(r"[\d.]+", row)]
    accuracies, samples = numbers[0::3], numbers[2::3]
    assert min(accuracies) > 85
    assert samples[0] == 200
    assert samples[1] < 150
