"""`asr lexicon`: training of a converter from letters to phones, and pronunciations of words."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from asr.lexicon import ConversionErrors, GraphemeToPhoneme, Lexicon, held_out_errors, read_lexicon, write_lexicon
from asr.lexicon.lexicon import Pronunciation
from asr.lexicon.word_lists import read_words
from asr.runs.progress import counted
from asr.util.errors import Issue, LexiconError, printable
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines
from discriminants.util.paths import is_file

Pronounce = Callable[[str, int], list[tuple[Pronunciation, float]]]


@dataclass(frozen=True)
class TrainedConverter:
    """Converter and its errors on held-out words (None if they were not measured); `notes` are of the dictionary."""

    converter: GraphemeToPhoneme
    errors: ConversionErrors | None
    n_words: int
    notes: tuple[str, ...]


def train_converter(
    dictionary: Path, out: Path, *, held_out: int, seed: int, strip_stress: bool | None, **options: int
) -> TrainedConverter:
    """Measure the errors on `held_out` of 10 parts of the dictionary, train on all of it, and write the model.

    `options` are those of `GraphemeToPhoneme.train`.
    """
    from asr.lexicon.g2p.alignment import N_ITERATIONS

    lexicon = read_lexicon(dictionary, strip_stress=strip_stress)
    _require_no_transcripts(dictionary, lexicon)
    errors = None
    before = held_out * N_ITERATIONS
    with counted(before + N_ITERATIONS, "training") as finished:
        if held_out:
            errors = held_out_errors(lexicon, used=held_out, seed=seed, progress=finished, **options)
        converter = GraphemeToPhoneme.train(lexicon, progress=lambda done: finished(before + done), **options)
    converter.save(out)
    return TrainedConverter(converter, errors, len(lexicon), lexicon.notes)


def _require_no_transcripts(dictionary: Path, lexicon: Lexicon) -> None:
    """Raise LexiconError for the transcripts of a data directory, whose lines look like those of a dictionary."""
    speakers = dictionary.with_name("utt2spk")
    if is_file(speakers) and speakers != dictionary:
        utterances = {line.split(maxsplit=1)[0] for line in read_text_lines(speakers, LexiconError) if line.strip()}
        if utterances.issuperset(lexicon.words):
            raise LexiconError(
                f"{dictionary}: these are transcripts; the first word of each line is an utterance. Expected a "
                "dictionary with the lines 'WORD phone phone ...'."
            )


@dataclass(frozen=True)
class ConvertedWords:
    """Numbers of words by the origin of their pronunciation, and the words left out.

    `new_phones` are phones of converted words that the lexicon they were added to lacks.
    """

    n_known: int
    n_converted: int
    failures: tuple[Issue, ...]
    failed: Path
    new_phones: tuple[str, ...]


def convert_words(
    words: Path,
    out: Path,
    pronounce: Pronounce,
    *,
    lexicon: Path | None = None,
    variants: int = 1,
    probabilities: bool = False,
    strip_stress: bool | None = None,
) -> ConvertedWords:
    """Write the pronunciations of the words that `lexicon` lacks, and all entries of `lexicon`.

    `OUT.failed.tsv` lists words without pronunciation. If all have one, an earlier list is removed. Raises LexiconError
    if the output would be empty.
    """
    counts = read_words(words)
    known = None if lexicon is None else read_lexicon(lexicon, strip_stress=strip_stress)
    missing = sorted(word for word in counts if known is None or word not in known)
    found: dict[str, tuple[Pronunciation, ...]] = {}
    weights: dict[str, tuple[float, ...]] = {}
    failures = []
    with counted(len(missing), "pronunciations") as finished:
        for number, word in enumerate(missing, 1):
            try:
                best = pronounce(word, variants)
            except LexiconError as error:
                failures.append(Issue(error.code, str(error), path=words, utterances=(word,)))
            else:
                found[word], weights[word] = zip(*best, strict=True)
            finished(number)
    failed = out.with_name(f"{out.name}.failed.tsv")
    _write_failures(failed, failures)
    if failures and not found and known is None:
        raise LexiconError(f"{words}: no word has a pronunciation. {failures[0].message}")
    phones = {phone for spoken in found.values() for variant in spoken for phone in variant}
    merged = Lexicon(
        {**(known.pronunciations if known else {}), **found},
        str(out),
        probabilities=known.probabilities if known else {},
    )
    write_lexicon(merged, out, weights if probabilities else None)
    new = tuple(sorted(phones - set(known.phones))) if known else ()
    return ConvertedWords(len(counts) - len(missing), len(found), tuple(failures), failed, new)


def _write_failures(path: Path, failures: list[Issue]) -> None:
    if not failures:
        path.unlink(missing_ok=True)
        return
    rows = ["word\tcode\treason", *(f"{printable(one.utterance)}\t{one.code}\t{one.message}" for one in failures)]
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
