"""`asr lexicon`: pronunciations of words that no dictionary has."""

from functools import partial
from pathlib import Path

import typer

from asr.cli.input_checks import require_file, require_model
from asr.cli.options import STRIP_STRESS, Options, argument, flag, keywords, option, takes
from asr.util.errors import LexiconError, printable
from discriminants.util.paths import is_dir

_SHOWN = 20
_TRAINING, _CONVERSION = "training", "conversion"
_of_training = partial(option, to=_TRAINING)
_of_conversion = partial(option, to=_CONVERSION)


class LexiconOptions(Options):
    """Options of `asr lexicon`."""

    out: Path = option("Model (--train) or lexicon to write.", ..., metavar="FILE")
    words: Path | None = argument(
        "Words to convert: a file with a word per line, unknown-words.tsv of asr align, or a data directory.",
        "WORDS",
        None,
    )
    train: Path | None = option("Train a model on this pronunciation dictionary.", metavar="DICT")
    apply: Path | None = option("Convert WORDS with a model of --train.", metavar="MODEL")
    epitran: str | None = option(
        "Convert WORDS by the rules of a language and script, such as spa-Latn (needs the extra epitran).",
        metavar="CODE",
    )
    multigraphs: bool = flag("Propose letters of WORDS that are one sound, such as 'ch', as a table to edit.")
    lexicon: Path | None = _of_conversion(
        "Copy this lexicon to the output, and convert only words that it lacks.", metavar="FILE"
    )
    variants: int = _of_conversion("Largest number of pronunciations of a word.", 1, min=1, max=100, metavar="N")
    probabilities: bool = flag(
        "Write the probability of each pronunciation after the word, as Kaldi's lexiconp.txt. Entries of --lexicon "
        "keep theirs.",
        to=_CONVERSION,
    )
    order: int = _of_training("Length of the n-grams of a training.", 8, min=1, max=12, metavar="N")
    max_phones: int = _of_training(
        "Most phones of one letter. Signs for syllables need 3 or more.", 2, min=1, max=8, metavar="N"
    )
    held_out: int = _of_training(
        "Tenths of the dictionary on which errors are measured, each with a training without it.",
        1,
        min=0,
        max=10,
        metavar="N",
    )
    seed: int = _of_training("Seed of the choice of held-out words.", 0, min=0, metavar="N")
    strip_stress: bool | None = STRIP_STRESS


@takes(LexiconOptions)
def lexicon(given: LexiconOptions) -> None:
    """Learn pronunciations from a dictionary, and write those of new words.

    --train learns the relation of letters and phones, and prints the errors on words that were held out of a training.
    An error is a word that differs from all its pronunciations in the dictionary, or a wrong phone in the closest one.
    The model itself is trained on all words.

    --apply and --epitran write a lexicon. Words with letters that the model does not know are left out and listed in
    FILE.failed.tsv. Check pronunciations of frequent words by hand, since about a quarter of English words are wrong.

    --multigraphs writes a table for --lexicon graphemes:FILE of other commands. Check its lines by hand.

    \b
    Examples:
      asr lexicon --train cmudict.dict --out g2p.safetensors
      asr lexicon --apply g2p.safetensors names.txt --out names.lexicon --variants 2
      asr lexicon --apply g2p.safetensors aligned/unknown-words.tsv --lexicon lexicon.txt --out larger.txt
      asr lexicon --epitran spa-Latn data/train --out lexicon.txt
      asr lexicon --multigraphs data/train --out table.txt
    """
    if sum(one is not None for one in (given.train, given.apply, given.epitran)) + given.multigraphs != 1:
        raise typer.BadParameter("Expected one of them", param_hint="--train, --apply, --epitran, --multigraphs")
    words = given.words
    if (words is None) == (given.train is None):
        raise typer.BadParameter("Expected with all but --train", param_hint="WORDS")
    if words is None:
        _train(given)
        return
    if given.apply is not None:
        require_model(given.apply, "--apply")
    if not is_dir(words):
        require_file(words, "WORDS", LexiconError)
    require_file(given.lexicon, "--lexicon", LexiconError)
    if given.multigraphs:
        _propose(words, given.out)
    else:
        _convert(words, given)


def _propose(words: Path, out: Path) -> None:
    from asr.lexicon.multigraphs import write_proposal
    from asr.lexicon.word_lists import read_words
    from asr.util.counted_text import count

    n_lines = write_proposal(read_words(words), out)
    typer.echo(out)
    typer.echo(f"{count(n_lines, 'line')}. Check them, then use --lexicon graphemes:{out}", err=True)


def _convert(words: Path, given: LexiconOptions) -> None:
    from asr.commands.lexicon import convert_words
    from asr.lexicon import GraphemeToPhoneme
    from asr.lexicon.rules import epitran_rules
    from asr.util.counted_text import count, some

    known, model = given.lexicon, given.apply
    pronounce = epitran_rules(given.epitran or "") if model is None else GraphemeToPhoneme.load(model).pronounce
    options = keywords(given, _CONVERSION, strip_stress=given.strip_stress)
    done = convert_words(words, given.out, pronounce, **options)
    typer.echo(given.out)
    kept = f"; {done.n_known} in {known}" if known is not None else ""
    typer.echo(printable(f"{count(done.n_converted, 'word')} converted{kept}"), err=True)
    if done.new_phones:
        typer.echo(printable(f"asr: phones that {known} lacks: {some(done.new_phones)}"), err=True)
    if done.failures:
        typer.echo(printable(f"asr: {count(len(done.failures), 'word')} left out; see {done.failed}:"), err=True)
        for problem in done.failures[:_SHOWN]:
            typer.echo(f"  {problem.message} [{problem.code}]", err=True)


def _train(given: LexiconOptions) -> None:
    assert given.train is not None
    require_file(given.train, "--train", LexiconError)

    from asr.commands.lexicon import train_converter
    from asr.util.counted_text import count, some

    options = keywords(given, _TRAINING, strip_stress=given.strip_stress)
    trained = train_converter(given.train, given.out, **options)
    typer.echo(given.out)
    for note in trained.notes:
        typer.echo(printable(f"asr: {note}"), err=True)
    typer.echo(f"trained on {count(trained.n_words, 'word')}", err=True)
    errors = trained.errors
    if errors is not None:
        typer.echo(
            f"{count(errors.words, 'held-out word')}: {errors.phone_error_rate:.1f} % phone errors "
            f"({errors.wrong_phones} of {errors.phones}), {errors.word_error_rate:.1f} % word errors "
            f"({errors.wrong_words} of {errors.words})"
        )
    unaligned = trained.converter.unaligned
    if unaligned:
        reason = f"not used, more than {given.max_phones} phones for a letter (--max-phones)"
        typer.echo(printable(f"asr: {count(len(unaligned), 'word')} {reason}: {some(unaligned)}"), err=True)
