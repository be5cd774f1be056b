r"""The ARPA text format of n-gram models: a `\data\` block of counts, a section per order, `\end\`."""

import re
from collections.abc import Iterable
from pathlib import Path

from asr.grammar.arpa import END, LOG10_ZERO, MAX_ORDER, START, ArpaModel, Ngram
from asr.grammar.back_off_check import more_than_certain
from asr.util.errors import GrammarError
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines

COUNT = re.compile(r"ngram\s+(\d{1,9})\s*=\s*(\d{1,18})", re.ASCII)
ROUNDING = 1e-4
_MARKS_IN_CAPITALS = {"<S>": START, "</S>": END}
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|-inf(inity)?", re.ASCII | re.IGNORECASE)


def read_arpa(path: Path | str) -> ArpaModel:
    r"""Read an ARPA file of any order, plain or gzip-compressed.

    Text before the line `\data\` is ignored; `<S>` and `</S>` also mark sentences. `-inf` and values below -99 read as
    -99, the format's zero. Pruned files may lack histories.

    Raises GrammarError with file, line and value for a missing section or `\end\`, a wrong count, a wrong number of
    fields, an invalid number, a probability above 1, an n-gram that is repeated or has a word without unigram, and an
    order above 20. Also for a back-off weight above 99, or one that gives a word a probability above 1.

    Parameters
    ----------
    path : path
        ARPA file.

    Returns
    -------
    ArpaModel
        The model.

    Examples
    --------
    >>> from asr.grammar import estimate_ngram, read_arpa, write_arpa
    >>> model = estimate_ngram([["ONE", "TWO"], ["TWO"]], 2)
    >>> write_arpa(model, "bigram.arpa")
    >>> read_arpa("bigram.arpa").words
    ('ONE', 'TWO')
    """
    return parse_arpa(read_text_lines(path, GrammarError), str(path))


def parse_arpa(lines: Iterable[str], source: str) -> ArpaModel:
    """Parse lines of text as `read_arpa` does; `source` is used in errors."""
    reader = _Reader(source, lines)
    counts = reader.counts()
    log_probabilities: list[dict[Ngram, float]] = []
    back_offs: dict[Ngram, float] = {}
    for order, count in enumerate(counts, 1):
        vocabulary = log_probabilities[0] if order > 1 else None
        log_probabilities.append(reader.section(order, count, order == len(counts), vocabulary, back_offs))
    reader.expect("\\end\\")
    model = ArpaModel(tuple(log_probabilities), back_offs, source)
    fault = more_than_certain(model)
    if fault is not None:
        raise GrammarError(
            f"{source}, line {reader.line_of_weight[fault.history]}: with the back-off "
            f"weight {back_offs[fault.history]:g} of {' '.join(fault.history)!r}, the probability of {fault.word!r} "
            f"after it exceeds one (its log10 would be {fault.log10_probability:.3g}). Expected a smaller weight."
        )
    return model


class _Reader:
    """The lines of the file, and the number of the next line."""

    def __init__(self, source: str, lines: Iterable[str]) -> None:
        self.path = source
        self.lines = [line.strip() for line in lines]
        self.next = 0
        self.line_of_weight: dict[Ngram, int] = {}
        """Line of each positive log back-off weight."""

    def error(self, message: str) -> GrammarError:
        """Return a GrammarError about the current line."""
        where = f"line {self.next + 1}" if self.next < len(self.lines) else "at its end"
        return GrammarError(f"{self.path}, {where}: {message}")

    def skip_blank(self) -> str:
        """Return the next line that is not blank; '' at the end of the file."""
        while self.next < len(self.lines) and not self.lines[self.next]:
            self.next += 1
        return self.lines[self.next] if self.next < len(self.lines) else ""

    def expect(self, header: str) -> None:
        line = self.skip_blank()
        if line != header:
            found = f"found {line!r}" if line else "the file ends"
            raise self.error(f"expected the line {header!r}, but {found}.")
        self.next += 1

    def counts(self) -> list[int]:
        r"""Read the text up to `\data\`, then the lines `ngram k=count` for k = 1, 2, ..."""
        if "\\data\\" not in self.lines:
            raise GrammarError(f"{self.path} has no line '\\data\\', so it is not an ARPA file.")
        self.next = self.lines.index("\\data\\") + 1
        counts: list[int] = []
        while match := COUNT.fullmatch(self.skip_blank()):
            if int(match.group(1)) != len(counts) + 1:
                raise self.error(f"{match.group(0)!r} is out of order. Expected 'ngram {len(counts) + 1}=COUNT'.")
            if len(counts) == MAX_ORDER:
                raise self.error(f"{match.group(0)!r}: the order is above {MAX_ORDER}, the highest supported.")
            counts.append(int(match.group(2)))
            self.next += 1
        if not counts or counts[0] == 0:
            raise self.error("Expected 'ngram 1=COUNT' with a count of at least 1 after '\\data\\'.")
        return counts

    def section(
        self,
        order: int,
        count: int,
        highest: bool,
        vocabulary: dict[Ngram, float] | None,
        back_offs: dict[Ngram, float],
    ) -> dict[Ngram, float]:
        """Read the n-grams of one order; back-off weights go into `back_offs`."""
        self.expect(f"\\{order}-grams:")
        ngrams: dict[Ngram, float] = {}
        known = {word for (word,) in vocabulary or ()}
        marks = _MARKS_IN_CAPITALS.keys()
        while (line := self.skip_blank()) and not line.startswith("\\"):
            fields = line.split()
            n_back_off = len(fields) - order - 1
            if n_back_off not in (0, 1) or (highest and n_back_off):
                wanted = "" if highest else " and optionally a back-off weight"
                raise self.error(f"{line!r} is not an n-gram. Expected a log10 probability, {order} word(s){wanted}.")
            ngram = tuple(fields[1 : order + 1])
            if not marks.isdisjoint(ngram):
                ngram = tuple(_MARKS_IN_CAPITALS.get(word, word) for word in ngram)
            if ngram in ngrams:
                raise self.error(f"the {order}-gram {' '.join(ngram)!r} is listed twice.")
            if order > 1 and not known.issuperset(ngram):
                word = next(word for word in ngram if word not in known)
                raise self.error(f"the word {word!r} of the {order}-gram {' '.join(ngram)!r} is not a unigram.")
            value = self.number(fields[0])
            if value > ROUNDING:
                raise self.error(f"the log10 probability {fields[0]!r} is above 0.")
            ngrams[ngram] = min(value, 0.0)
            if n_back_off:
                back_offs[ngram] = weight = self.number(fields[-1])
                if weight > 0:
                    self.line_of_weight[ngram] = self.next + 1
            self.next += 1
        if len(ngrams) != count:
            raise self.error(f"the section \\{order}-grams: has {len(ngrams)} n-grams, but its header has {count}.")
        return ngrams

    def number(self, text: str) -> float:
        if not NUMBER.fullmatch(text):
            raise self.error(f"{text!r} is not a number.")
        value = float(text)
        if value > -LOG10_ZERO:
            raise self.error(f"{text!r} is out of range. Expected a log10 probability or weight between -99 and 99.")
        return max(value, LOG10_ZERO)


def write_arpa(model: ArpaModel, path: Path | str) -> None:
    """Write `model` as an ARPA file, n-grams sorted; `read_arpa` reads the same numbers.

    Raises GrammarError if a history with back-off weight is not listed as an n-gram, which the format requires.

    Parameters
    ----------
    model : ArpaModel
        The model.
    path : path
        File to write.

    Examples
    --------
    >>> from asr.grammar import estimate_ngram, write_arpa
    >>> model = estimate_ngram([["ONE", "TWO"], ["TWO"]], 2)
    >>> write_arpa(model, "bigram.arpa")
    """
    listed = {ngram for section in model.log_probabilities[:-1] for ngram in section}
    for history in model.back_offs:
        if history not in listed:
            raise GrammarError(
                f"The history {' '.join(history)!r} has a back-off weight but no probability of its own."
            )
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("\\data\\\n")
        for order, section in enumerate(model.log_probabilities, 1):
            stream.write(f"ngram {order}={len(section)}\n")
        for order, section in enumerate(model.log_probabilities, 1):
            stream.write(f"\n\\{order}-grams:\n")
            for ngram in sorted(section):
                back_off = f"\t{model.back_offs[ngram]!r}" if ngram in model.back_offs else ""
                stream.write(f"{section[ngram]!r}\t{' '.join(ngram)}{back_off}\n")
        stream.write("\n\\end\\\n")
