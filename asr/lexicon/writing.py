"""Writing of pronunciation dictionaries in Kaldi's format."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from asr.lexicon.formats import MODEL_PAUSES, NumberColumns, is_comment
from asr.lexicon.lexicon import SILENCE, Lexicon
from asr.lexicon.reading import other_format
from asr.util.errors import LexiconError
from asr.util.files import atomic_write


def write_lexicon(
    lexicon: Lexicon, path: Path | str, probabilities: Mapping[str, Sequence[float]] | None = None
) -> None:
    """Write `lexicon` as a Kaldi lexicon.txt: `WORD phone phone ...`, words sorted, one variant per line.

    `read_lexicon(path, format="kaldi", strip_stress=False)` reads an equal lexicon. Raises LexiconError if a word would
    read as a comment, a first phone as a probability, or the lines as CSV or YAML, or if a phone is reserved for
    silence.

    Parameters
    ----------
    lexicon : Lexicon
        The lexicon.
    path : path
        File to write.
    probabilities : mapping from a word to floats, optional
        Probability of each variant, in Kaldi's lexiconp.txt format: `WORD probability phone phone ...`. Other words
        have those of the lexicon. By default, they are written if the lexicon has any below 1.

    Examples
    --------
    >>> from asr.lexicon import Lexicon, write_lexicon
    >>> lexicon = Lexicon({"ONE": (("W", "AH", "N"),)})
    >>> write_lexicon(lexicon, "written.txt")
    """
    reserved = sorted(
        MODEL_PAUSES.intersection((*lexicon.phones, SILENCE) if lexicon.marks_silence else lexicon.phones)
    )
    if reserved:
        raise LexiconError(f"The phone {reserved[0]!r} would read as silence in {path}; rename it.")
    comment = next((word for word in lexicon.words if is_comment(word)), None)
    if comment is not None:
        raise LexiconError(f"The word {comment!r} would read as a comment in {path}; rename it.")
    lines = [" ".join((word, *variant)) for word in lexicon.words for variant in lexicon[word]]
    columns = NumberColumns.of_lines(lines)
    number = next((v[0] for word in lexicon.words for v in lexicon[word] if columns.count(v)), None)
    if number is not None:
        raise LexiconError(f"The phone {number!r} would read as a probability in {path}; rename it.")
    other = other_format(list(enumerate(lines)))
    if other is not None:
        raise LexiconError(
            f"{lines[other[0]]!r} and nearly all lines would read as CSV or YAML in {path}; rename the words with , ; "
            "or :"
        )
    if probabilities is not None or lexicon.probabilities:
        numbers = {word: [repr(lexicon.probability(word, one)) for one in lexicon[word]] for word in lexicon.words}
        for word, given in (probabilities or {}).items():
            numbers[word] = [f"{min(max(p, 1e-6), 1.0):.6f}" for p in given]
        lines = [
            " ".join((word, number, *variant))
            for word in lexicon.words
            for variant, number in zip(lexicon[word], numbers[word], strict=False)
        ]
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in lines)
