"""`asr lexicon`: pronunciations of words that no dictionary has."""

from pathlib import Path
from typing import Annotated, Any

import typer

from asr.cli.options import StripStress, require_file, require_model
from asr.util.errors import LexiconError, printable
from discriminants.util.paths import is_dir

_SHOWN = 20

Out = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="Model (--train) or lexicon to write.", show_default=False)
]
Words = Annotated[
    Path | None,
    typer.Argument(
        metavar="WORDS",
        help="Words to convert: a file with a word per line, unknown-words.tsv of asr align, or a data directory.",
        show_default=False,
    ),
]
Train = Annotated[
    Path | None,
    typer.Option("--train", metavar="DICT", help="Train a model on this pronunciation dictionary.", show_default=False),
]
Apply = Annotated[
    Path | None,
    typer.Option("--apply", metavar="MODEL", help="Convert WORDS with a model of --train.", show_default=False),
]
EpitranCode = Annotated[
    str | None,
    typer.Option(
        "--epitran",
        metavar="CODE",
        help="Convert WORDS by the rules of a language and script, such as spa-Latn (needs the extra epitran).",
        show_default=False,
    ),
]
Multigraphs = Annotated[
    bool,
    typer.Option(
        "--multigraphs", help="Propose letters of WORDS that are one sound, such as 'ch', as a table to edit."
    ),
]
Dictionary = Annotated[
    Path | None,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="Copy this lexicon to the output, and convert only words that it lacks.",
        show_default=False,
    ),
]
Variants = Annotated[
    int, typer.Option("--variants", min=1, max=100, metavar="N", help="Largest number of pronunciations of a word.")
]
Probabilities = Annotated[
    bool,
    typer.Option(
        "--probabilities",
        help="Write the probability of each pronunciation after the word, as Kaldi's lexiconp.txt. Entries of "
        "--lexicon keep theirs.",
    ),
]
Order = Annotated[int, typer.Option("--order", min=1, max=12, metavar="N", help="Length of the n-grams of a training.")]
MaxPhones = Annotated[
    int,
    typer.Option(
        "--max-phones",
        min=1,
        max=8,
        metavar="N",
        help="Most phones of one letter. Signs for syllables need 3 or more.",
    ),
]
HeldOut = Annotated[
    int,
    typer.Option(
        "--held-out",
        min=0,
        max=10,
        metavar="N",
        help="Tenths of the dictionary on which errors are measured, each with a training without it.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the choice of held-out words.")]


def lexicon(
    out: Out,
    words: Words = None,
    train: Train = None,
    apply: Apply = None,
    epitran: EpitranCode = None,
    multigraphs: Multigraphs = False,
    dictionary: Dictionary = None,
    variants: Variants = 1,
    probabilities: Probabilities = False,
    order: Order = 8,
    max_phones: MaxPhones = 2,
    held_out: HeldOut = 1,
    seed: Seed = 0,
    strip_stress: StripStress = None,
) -> None:
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
    if sum(one is not None for one in (train, apply, epitran)) + multigraphs != 1:
        raise typer.BadParameter("Expected one of them", param_hint="--train, --apply, --epitran, --multigraphs")
    if (words is None) == (train is None):
        raise typer.BadParameter("Expected with all but --train", param_hint="WORDS")
    if train is not None:
        require_file(train, "--train", LexiconError)
        _train(
            train,
            out,
            held_out=held_out,
            seed=seed,
            strip_stress=strip_stress,
            order=order,
            max_phones=max_phones,
        )
        return
    assert words is not None
    if apply is not None:
        require_model(apply, "--apply")
    if not is_dir(words):
        require_file(words, "WORDS", LexiconError)
    require_file(dictionary, "--lexicon", LexiconError)
    if multigraphs:
        _propose(words, out)
        return

    from asr.commands.lexicon import convert_words
    from asr.lexicon import GraphemeToPhoneme
    from asr.lexicon.rules import epitran_rules
    from asr.util.counted_text import count, some

    pronounce = GraphemeToPhoneme.load(apply).pronounce if apply is not None else epitran_rules(epitran or "")
    done = convert_words(
        words,
        out,
        pronounce,
        lexicon=dictionary,
        variants=variants,
        probabilities=probabilities,
        strip_stress=strip_stress,
    )
    typer.echo(out)
    known = f"; {done.n_known} in {dictionary}" if dictionary is not None else ""
    typer.echo(printable(f"{count(done.n_converted, 'word')} converted{known}"), err=True)
    if done.new_phones:
        typer.echo(printable(f"asr: phones that {dictionary} lacks: {some(done.new_phones)}"), err=True)
    if done.failures:
        typer.echo(printable(f"asr: {count(len(done.failures), 'word')} left out; see {done.failed}:"), err=True)
        for problem in done.failures[:_SHOWN]:
            typer.echo(f"  {problem.message} [{problem.code}]", err=True)


def _propose(words: Path, out: Path) -> None:
    from asr.lexicon.multigraphs import write_proposal
    from asr.lexicon.writing import read_words
    from asr.util.counted_text import count

    n_lines = write_proposal(read_words(words), out)
    typer.echo(out)
    typer.echo(f"{count(n_lines, 'line')}. Check them, then use --lexicon graphemes:{out}", err=True)


def _train(dictionary: Path, out: Path, *, max_phones: int, **options: Any) -> None:
    from asr.commands.lexicon import train_converter
    from asr.util.counted_text import count, some

    trained = train_converter(dictionary, out, max_phones=max_phones, **options)
    typer.echo(out)
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
        reason = f"not used, more than {max_phones} phones for a letter (--max-phones)"
        typer.echo(printable(f"asr: {count(len(unaligned), 'word')} {reason}: {some(unaligned)}"), err=True)
