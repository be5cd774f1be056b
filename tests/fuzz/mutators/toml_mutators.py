"""Settings with one value, key or table spoilt."""

import re
from collections.abc import Sequence
from random import Random

from tests.fuzz.mutators.nasty import NUMBERS

_SETTING = re.compile(rb"^([\w\"'.-]+)[ \t]*=[ \t]*(.*)$", re.MULTILINE)

VALUES = (
    *NUMBERS, b"[]", b"[[]]", b"[nan]", b"[inf, 1.0]", b"[0]", b"[-1.0, 1.0]", b"[1, 2, 4]", b"[1e308]", b"[2, 4]",
    b"[1.0, 1.0]", b"true", b"false", b'""', b'"x"', b'"auto"', b'"none"', b'"log"', b'"1e5"', b'"\\u0000"',
    b'"\\u001b[2J"', b"1979-05-27", b"07:32:00", b"{}", b"{a = 1}", b"{x = {y = {z = 1}}}", b"[" * 3000 + b"]" * 3000,
    b"[" * 200 + b"1" + b"]" * 200, b'"' + b"x" * 20_000 + b'"', b"[" + b"1.0, " * 20_000 + b"]", b"10000000",
    b"100000",
    b"1024", b"65536", b"0.999999", b"1e-30", b"4611686018427387904", b"3.0", b"'../x'", b"0b11", b"0o17", b"-0",
)  # fmt: skip

CLASSIFIERS = (
    b'"sklearn.datasets.clear_data_home"', b'"sklearn.utils._testing.check_subprocess"',
    b'"sklearn.utils._testing.assert_run_python_script_without_output"', b'"sklearn.utils._testing.os.system"',
    b'"sklearn.ensemble.RandomForestClassifier"', b'"sklearn.ensemble.BaggingClassifier"', b'"sklearn.tree"',
    b'"sklearn.tree.DecisionTreeClassifier"', b'"sklearn.base.clone"', b'"sklearn.show_versions"', b'"sklearn."',
    b'"sklearn.experimental.enable_halving_search_cv.x"', b'"sklearn.conftest.x"', b'"sklearn"', b'"sklearn..x"',
    b'"sklearn.svm.SVC"', b'"sklearn.linear_model.Ridge"', b'"sklearn.externals.array_api_compat.x"', b'"os.system"',
    b'"sklearn.linear_model.LogisticRegression"', b'"sklearn.naive_bayes.GaussianNB"', b'"mlp"', b'"orols"', b'"npd"',
)  # fmt: skip


def spoil_toml(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One `key = value` of TOML with another value or key, twice, or in another table."""
    found = list(_SETTING.finditer(content))
    if not found:
        return content + b"seed = " + random.choice(VALUES) + b"\n"
    match = random.choice(found)
    key, value = match.group(1), match.group(2)
    way = random.random()
    if way < 0.75:
        value = random.choice(CLASSIFIERS if key == b"classifier" and random.random() < 0.7 else VALUES)
    elif way < 0.85:
        value = random.choice(found).group(2)
    elif way < 0.9:
        key = random.choice(
            (b"x", b"n_jobs", b"random_state", b'""', b'"\\u001b[2J"', b"a.b.c", b"kernel", b"data_home")
        )
    elif way < 0.95:
        key = random.choice(found).group(1)
    else:
        return content[: match.end()] + b"\n" + match.group() + content[match.end() :]
    return content[: match.start()] + key + b" = " + value + content[match.end() :]
