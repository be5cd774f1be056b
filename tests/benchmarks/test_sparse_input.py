"""`python -m benchmarks.sparse_input` on few documents."""

import re

import numpy as np
import pytest

from benchmarks.sparse_input import METHODS, documents, main


def test_documents_of_a_class_share_words() -> None:
    X, y = documents(200, 3000, seed=1)
    assert X.shape == (200, 3000) and 0 < X.nnz < 200 * 70
    again, _ = documents(200, 3000, seed=1)
    np.testing.assert_array_equal(X.toarray(), again.toarray())
    assert np.unique(y).shape == (20,)


@pytest.mark.slow
def test_every_method_is_measured_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--samples", "300", "--features", "2000", "--centers", "20"])
    row = re.compile(r"(\S.*?) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) +([\d.]+) +([\d.]+)")
    rows = [row.fullmatch(line) for line in capsys.readouterr().out.splitlines()[2:]]
    assert [found[1] for found in rows if found] == list(METHODS)
    assert rows[0] and rows[0][6] == rows[0][7] == "1.00"
