"""`asr decode`: recognize audio files or a data directory."""

import logging
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from asr.cli.input_checks import require_directory, require_file, require_grammar, require_model
from asr.cli.options import (
    CLASSIFIER_OF_MODEL,
    CLUSTER,
    EXTRACTOR_OF_MODEL,
    JOBS,
    MODEL,
    OPTIONAL_DATA,
    ROOT,
    UPSAMPLE,
    Options,
    argument,
    flag,
    keywords,
    option,
    takes,
)
from asr.corpus.audio_kinds import READABLE
from asr.util.errors import CorpusError, printable
from asr.util.memory_errors import require_address_space
from discriminants.util.paths import exists

if TYPE_CHECKING:
    from asr import Recognizer
    from asr.corpus.data_directory import DataDirectory
    from asr.runs.outcome import Outcome

METHODS: dict[str, Literal["input-network", "fmllr", "vtln"]] = {
    "input-network": "input-network",
    "fmllr": "fmllr",
    "vtln": "vtln",
}
"""Optional value of --adapt, which is parsed as an audio file."""
_MODEL, _RESULTS = "model", "results"
_of_model = partial(option, to=_MODEL)
_of_results = partial(option, to=_RESULTS)


class DecodeOptions(Options):
    """Options of `asr decode`."""

    model: Path = MODEL
    output: Path = option(
        "Folder for hyp.txt, hyp.ctm, failed.tsv and the other requested files. Every command replaces them, so give "
        "all files to one command, or use a separate folder for every command.",
        ...,
        "--out",
        metavar="DIR",
    )
    audio: list[Path] | None = argument(
        f"Audio files ({READABLE}, with at least the model's sampling rate), or folders of them.", "AUDIO", None
    )
    data: Path | None = OPTIONAL_DATA
    classifier: str | None = CLASSIFIER_OF_MODEL
    extractor: str | None = EXTRACTOR_OF_MODEL
    scores: Literal["posteriors", "log-posteriors", "log-likelihoods"] | None = _of_model(
        "The input has state scores of this kind instead of audio, with a column for each state of the model: AUDIO "
        "is a Kaldi archive (.ark, .scp), an .npz file or a folder of .npy files, or feats.scp of --data lists them. "
        "Posteriors are divided by the model's state priors."
    )
    speakers: str | None = _of_results(
        "Speakers of the AUDIO files. 'file': each file has its own speaker; 'directory': one speaker per folder; "
        "'one': one speaker in all. A regular expression with one group is searched in the path; files with the same "
        "text in the group have the same speaker.  [default: file; directory with --adapt, or with a model trained "
        "with transforms of few speakers]",
        metavar="file|directory|one|PATTERN",
    )
    grammar: str | None = _of_model(
        "'loop' (any words in any order), 'one' (exactly one word), a number (exactly this number of words), or a "
        "file: an ARPA n-gram model, word pairs, an HTK word network or HParse grammar, an OpenFst file such as "
        "Kaldi's G.fst, or sentences, one per line.  [default: the model's]",
        metavar="NAME|N|FILE",
    )
    lm_scale: float | None = _of_model(
        "Weight of the grammar's log probabilities.  [default: the model's]", min=0.0, metavar="X"
    )
    insertion_penalty: float | None = _of_model(
        "Word insertion penalty, added to the log score of every word; negative values give fewer words.  [default: "
        "the model's]",
        metavar="X",
    )
    filler_penalty: float | None = _of_model(
        "Penalty added to the log score of every phone of speech outside the grammar ([unk] in lists of sentences, "
        "$other in HParse grammars). More negative values accept more recordings as commands.  [default: the model's]",
        metavar="X",
    )
    min_phone_llr: float | None = _of_model(
        "Reject utterances whose log-likelihood ratio to the best phone sequence is below this (natural log per frame "
        "of speech, as in ratios.tsv).  [default: the model's]",
        metavar="X",
    )
    min_silence_llr: float | None = _of_model(
        "Reject utterances whose log-likelihood ratio to silence is below this; rejects noise.  [default: the model's]",
        metavar="X",
    )
    beam: float | None = _of_model(
        "Pruning beam: drop hypotheses more than this below the best one, in natural log. A smaller beam is faster "
        "but loses words.  [default: the model's]",
        min=0.0,
        metavar="X",
    )
    max_active: int | None = _of_model(
        "Maximum number of hypotheses per frame; 0 for no limit.  [default: the model's]", min=0, metavar="N"
    )
    adapt: bool = flag(
        "Adapt the model to each speaker in several passes, each to the words of the pass before. Needs about one "
        "minute of speech of a speaker who is not in the training data. It can increase the errors for speakers of "
        "the training data, or in noise. Hybrids of kernel-logistic: use --adapt alone, or followed by "
        "'input-network'. Mixtures (gmm.safetensors): followed by 'fmllr', or by 'vtln' if there are only seconds of "
        "speech. Hybrids of other classifiers cannot be adapted, but their mixtures can. A model trained with speaker "
        "transforms adapts without this option."
    )
    speaker_transforms: Path | None = _of_results(
        "File of the speaker transforms of 'fmllr' and 'vtln'. Speakers in the file keep their transforms; new "
        "speakers are added. Speakers of a data directory are those of utt2spk, those of AUDIO files are named by "
        "--speakers (by default, by folder).",
        metavar="FILE",
    )
    allow_oov_phones: bool = flag(
        "Also recognize words with phones that are not in the training data, and words in angle brackets, such as "
        "<UNK>.",
        to=_MODEL,
    )
    formats: str = _of_results(
        "Also write words and times for other programs: textgrid, elan, csv, json or audacity, a file for every "
        "recording, or mlf (hyp.mlf, an HTK master label file). With --confidence, confidences too.",
        "",
        "--format",
        metavar="NAME[,NAME]",
        show_default=False,
    )
    confidence: bool = flag(
        "Write the confidence of each word (the probability that it is correct) as the sixth column of hyp.ctm.",
        to=_RESULTS,
    )
    ratios: bool = flag(
        "Write log-likelihood ratios of utterances and words, to the best phone sequence and to silence, to "
        "ratios.tsv. Needs a second search.",
        to=_RESULTS,
    )
    mbr: bool = flag(
        "Write the words with minimum Bayes risk, with confidences, instead of the words of the best path.", to=_RESULTS
    )
    n_best: int = _of_results(
        "Write the N best sentences of every utterance to nbest.tsv. If a lattice has fewer sentences, increase "
        "--lattice-beam.",
        0,
        min=0,
        metavar="N",
        show_default=False,
    )
    confusions: bool = flag(
        "Write the confusion networks (alternative words with times) to confusions.tsv.", to=_RESULTS
    )
    rescore: str | None = _of_results(
        "Rescore the lattices of the search with this grammar, for example a larger n-gram. Same forms as --grammar.",
        metavar="NAME|FILE",
    )
    lattices: Path | None = _of_results(
        "Write word lattices to this directory: UTTERANCE.lat for each utterance, or lattices.txt in Kaldi's format.",
        metavar="DIR",
    )
    lattice_format: Literal["slf", "kaldi"] = _of_results(
        "Format of --lattices: HTK standard lattice format (slf), or Kaldi text.", "slf"
    )
    lattice_beam: float | None = _of_results(
        "Keep paths in lattices that are at most this much below the best one, in natural log.  [default: eight times "
        "the grammar's scale, less if lattices would become too large]",
        metavar="B",
    )
    upsample: bool = UPSAMPLE
    root: Path | None = ROOT
    jobs: int = JOBS
    cluster: str | None = CLUSTER


@takes(DecodeOptions)
def decode(given: DecodeOptions) -> None:
    """Recognize the words in audio files, or in every utterance of a data directory.

    Writes hyp.txt (utterance and words), prints it, and writes hyp.ctm (one word per line with its times).
    Utterances that cannot be decoded are listed in failed.tsv with the reason.

    \b
    Examples:
      asr decode --model runs/mine/model.safetensors --out out hello.wav
      asr decode --model runs/mine/model.safetensors --out out recordings --speakers directory
      asr decode --model runs/mine/model.safetensors --out out --data data/test --grammar sentences.txt
      asr decode --model runs/mine/model.safetensors --out out --data data/test --confidence --lattices out/lattices
    """
    audio, method = _audio_and_method(given.audio or [], given.adapt)
    _require_sources(audio, given.data)
    _require_inputs(given, audio)
    require_address_space()

    from asr import Recognizer
    from asr.cli.reporting import report_failures
    from asr.runs.workers import open_workers

    _log_assumptions()
    with open_workers(given.jobs, given.cluster) as workers, ExitStack() as stack:
        recognizer = Recognizer.load(given.model, upsample=given.upsample, **keywords(given, _MODEL))
        data: Path | DataDirectory | None = given.data
        if given.scores is not None and data is None:
            data, audio = stack.enter_context(_directory_of_scores(audio, recognizer)), []
        summary = recognizer.decode(
            given.output,
            audio=audio,
            data=data,
            root=given.root,
            adapt=method,
            workers=workers,
            **keywords(given, _RESULTS),
        )
    _print_hypotheses(summary, given.output)
    report_failures(summary, given.output)


def _directory_of_scores(paths: list[Path], recognizer: "Recognizer") -> "AbstractContextManager[DataDirectory]":
    """Return a temporary data directory with the scores of one file or folder."""
    from asr.corpus.given_frames import directory_with_frames
    from asr.corpus.matrix_files import read_matrices

    if len(paths) != 1:
        raise typer.BadParameter("Expected one file or folder of scores, or --data DIR", param_hint="--scores")
    return directory_with_frames(paths[0], read_matrices(paths[0]), len(recognizer.states))


def _audio_and_method(
    audio: list[Path], adapt: bool
) -> tuple[list[Path], bool | Literal["input-network", "fmllr", "vtln"]]:
    """Separate the audio files from a method after --adapt."""
    methods = [path for path in audio if adapt and str(path) in METHODS and not exists(path)]
    if len(methods) > 1:
        raise typer.BadParameter(f"Expected one method: {' or '.join(METHODS)}", param_hint="--adapt")
    audio = [path for path in audio if path not in methods]
    for word in (str(path) for path in audio if adapt and not exists(path)):
        if word.replace("-", "").isalpha():
            raise typer.BadParameter(
                f"{word!r} is not a file or a method. Expected one of {', '.join(METHODS)}", param_hint="--adapt"
            )
    return audio, METHODS[str(methods[0])] if methods else adapt


def _require_sources(audio: list[Path], data: Path | None) -> None:
    """Raise unless exactly one of audio files and a data directory is given."""
    if bool(audio) == (data is not None):
        taken = f" ('{audio[0]}' was read as an audio file)" if audio else ""
        raise typer.BadParameter(f"Expected either audio files or --data DIR{taken}", param_hint="AUDIO | --data")


def _require_inputs(given: DecodeOptions, audio: list[Path]) -> None:
    """Raise if an input is missing, or if --out or --lattices is not a directory."""
    require_model(given.model, "--model")
    require_directory(given.data, "--data")
    require_directory(given.root, "--root")
    _require_some_file(audio)
    require_grammar(given.grammar)
    require_grammar(given.rescore, "--rescore")
    for path, name in ((given.output, "--out"), (given.lattices, "--lattices")):
        if path is not None and exists(path):
            require_directory(path, name)


def _log_assumptions() -> None:
    """Log warnings and assumptions, such as the grouping of files by speaker."""
    logging.basicConfig(level=logging.WARNING, format="asr: %(message)s")
    for module in ("decode", "audio_files"):
        logging.getLogger(f"asr.commands.{module}").setLevel(logging.INFO)


def _print_hypotheses(summary: "Outcome", out: Path) -> None:
    """Print the words, and to stderr the number of utterances and the speed."""
    hypotheses = out / "hyp.txt"
    typer.echo(hypotheses.read_text(encoding="utf-8"), nl=False)
    done = f"{summary.n_done} utterance{'' if summary.n_done == 1 else 's'} in {printable(str(hypotheses))}"
    typer.echo(f"{done}, {summary.rtf:.3f} CPU seconds per second of audio", err=True)


def _require_some_file(audio: list[Path]) -> None:
    """Raise if all files are missing; a single missing file only fails itself."""
    if not any(exists(path) or set("*?[").intersection(str(path)) for path in audio):
        for path in audio:
            require_file(path, "AUDIO", CorpusError)
