"""`asr decode`: recognize audio files or a data directory."""

import logging
from contextlib import AbstractContextManager, ExitStack
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from asr.cli.options import (
    ALL_CORES,
    ClassifierOfModel,
    Cluster,
    ExtractorOfModel,
    Jobs,
    Model,
    OptionalData,
    Root,
    Upsample,
    require_directory,
    require_file,
    require_grammar,
    require_model,
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


class LatticeFormat(Enum):
    """File format of lattices."""

    slf = "slf"
    kaldi = "kaldi"


class ScoreKind(Enum):
    """Kind of given state scores."""

    posteriors = "posteriors"
    log_posteriors = "log-posteriors"
    log_likelihoods = "log-likelihoods"


Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder for hyp.txt, hyp.ctm, failed.tsv and the other requested files. Every command replaces them, so "
        "give all files to one command, or use a separate folder for every command.",
        show_default=False,
    ),
]
Audio = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="AUDIO",
        help=f"Audio files ({READABLE}, with at least the model's sampling rate), or folders of them.",
    ),
]
Speakers = Annotated[
    str | None,
    typer.Option(
        "--speakers",
        metavar="file|directory|one|PATTERN",
        help="Speakers of the AUDIO files. 'file': each file has its own speaker; 'directory': one speaker per "
        "folder; 'one': one speaker in all. A regular expression with one group is searched in the path; files "
        "with the same text in the group have the same speaker.  [default: file; directory with --adapt, or with "
        "a model trained with transforms of few speakers]",
        show_default=False,
    ),
]
Grammar = Annotated[
    str | None,
    typer.Option(
        "--grammar",
        metavar="NAME|N|FILE",
        help="'loop' (any words in any order), 'one' (exactly one word), a number (exactly this number of words), or "
        "a file: an ARPA n-gram model, word pairs, an HTK word network or HParse grammar, an OpenFst file such "
        "as Kaldi's G.fst, or sentences, one per line.  [default: the model's]",
        show_default=False,
    ),
]
LmScale = Annotated[
    float | None,
    typer.Option(
        "--lm-scale",
        min=0.0,
        metavar="X",
        help="Weight of the grammar's log probabilities.  [default: the model's]",
        show_default=False,
    ),
]
InsertionPenalty = Annotated[
    float | None,
    typer.Option(
        "--insertion-penalty",
        metavar="X",
        help="Word insertion penalty, added to the log score of every word; negative values give fewer words.  "
        "[default: the model's]",
        show_default=False,
    ),
]
FillerPenalty = Annotated[
    float | None,
    typer.Option(
        "--filler-penalty",
        metavar="X",
        help="Penalty added to the log score of every phone of speech outside the grammar ([unk] in lists of "
        "sentences, $other in HParse grammars). More negative values accept more recordings as commands.  "
        "[default: the model's]",
        show_default=False,
    ),
]
MinPhoneLlr = Annotated[
    float | None,
    typer.Option(
        "--min-phone-llr",
        metavar="X",
        help="Reject utterances whose log-likelihood ratio to the best phone sequence is below this (natural log per "
        "frame of speech, as in ratios.tsv).  [default: the model's]",
        show_default=False,
    ),
]
MinSilenceLlr = Annotated[
    float | None,
    typer.Option(
        "--min-silence-llr",
        metavar="X",
        help="Reject utterances whose log-likelihood ratio to silence is below this; rejects noise.  [default: the "
        "model's]",
        show_default=False,
    ),
]
Beam = Annotated[
    float | None,
    typer.Option(
        "--beam",
        min=0.0,
        metavar="X",
        help="Pruning beam: drop hypotheses more than this below the best one, in natural log. A smaller beam is "
        "faster but loses words.  [default: the model's]",
        show_default=False,
    ),
]
MaxActive = Annotated[
    int | None,
    typer.Option(
        "--max-active",
        min=0,
        metavar="N",
        help="Maximum number of hypotheses per frame; 0 for no limit.  [default: the model's]",
        show_default=False,
    ),
]
Adapt = Annotated[
    bool,
    typer.Option(
        "--adapt",
        help="Adapt the model to each speaker in several passes, each to the words of the pass before. Needs about "
        "one minute of speech of a speaker who is not in the training data. It can increase the errors for "
        "speakers of the training data, or in noise. Hybrids of kernel-logistic: use --adapt alone, or followed "
        "by 'input-network'. Mixtures (gmm.safetensors): followed by 'fmllr', or by 'vtln' if there are only "
        "seconds of speech. Hybrids of other classifiers cannot be adapted, but their mixtures can. A model "
        "trained with speaker transforms adapts without this option.",
    ),
]
SpeakerTransforms = Annotated[
    Path | None,
    typer.Option(
        "--speaker-transforms",
        metavar="FILE",
        help="File of the speaker transforms of 'fmllr' and 'vtln'. Speakers in the file keep their transforms; new "
        "speakers are added. Speakers of a data directory are those of utt2spk, those of AUDIO files are named "
        "by --speakers (by default, by folder).",
        show_default=False,
    ),
]
AllowOovPhones = Annotated[
    bool,
    typer.Option(
        "--allow-oov-phones",
        help="Also recognize words with phones that are not in the training data, and words in angle brackets, such "
        "as <UNK>.",
    ),
]
Scores = Annotated[
    ScoreKind | None,
    typer.Option(
        "--scores",
        help="The input has state scores of this kind instead of audio, with a column for each state of the model: "
        "AUDIO is a Kaldi archive (.ark, .scp), an .npz file or a folder of .npy files, or feats.scp of --data lists "
        "them. Posteriors are divided by the model's state priors.",
        show_default=False,
    ),
]
Formats = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME[,NAME]",
        help="Also write words and times for other programs: textgrid, elan, csv, json or audacity, a file for every "
        "recording, or mlf (hyp.mlf, an HTK master label file). With --confidence, confidences too.",
        show_default=False,
    ),
]
Confidence = Annotated[
    bool,
    typer.Option(
        "--confidence",
        help="Write the confidence of each word (the probability that it is correct) as the sixth column of hyp.ctm.",
    ),
]
Ratios = Annotated[
    bool,
    typer.Option(
        "--ratios",
        help="Write log-likelihood ratios of utterances and words, to the best phone sequence and to silence, to "
        "ratios.tsv. Needs a second search.",
    ),
]
Mbr = Annotated[
    bool,
    typer.Option(
        "--mbr",
        help="Write the words with minimum Bayes risk, with confidences, instead of the words of the best path.",
    ),
]
NBest = Annotated[
    int,
    typer.Option(
        "--n-best",
        min=0,
        metavar="N",
        help="Write the N best sentences of every utterance to nbest.tsv. If a lattice has fewer sentences, increase "
        "--lattice-beam.",
        show_default=False,
    ),
]
Confusions = Annotated[
    bool,
    typer.Option("--confusions", help="Write the confusion networks (alternative words with times) to confusions.tsv."),
]
Rescore = Annotated[
    str | None,
    typer.Option(
        "--rescore",
        metavar="NAME|FILE",
        help="Rescore the lattices of the search with this grammar, for example a larger n-gram. Same forms as "
        "--grammar.",
        show_default=False,
    ),
]
Lattices = Annotated[
    Path | None,
    typer.Option(
        "--lattices",
        metavar="DIR",
        help="Write word lattices to this directory: UTTERANCE.lat for each utterance, or lattices.txt in Kaldi's "
        "format.",
        show_default=False,
    ),
]
LatticeFormatOption = Annotated[
    LatticeFormat,
    typer.Option("--lattice-format", help="Format of --lattices: HTK standard lattice format (slf), or Kaldi text."),
]
LatticeBeam = Annotated[
    float | None,
    typer.Option(
        "--lattice-beam",
        metavar="B",
        help="Keep paths in lattices that are at most this much below the best one, in natural log.  [default: eight "
        "times the grammar's scale, less if lattices would become too large]",
        show_default=False,
    ),
]


def decode(
    model: Model,
    out: Out,
    audio: Audio = None,
    data: OptionalData = None,
    classifier: ClassifierOfModel = None,  # given to model files by the option
    extractor: ExtractorOfModel = None,  # the same
    scores: Scores = None,
    speakers: Speakers = None,
    grammar: Grammar = None,
    lm_scale: LmScale = None,
    insertion_penalty: InsertionPenalty = None,
    filler_penalty: FillerPenalty = None,
    min_phone_llr: MinPhoneLlr = None,
    min_silence_llr: MinSilenceLlr = None,
    beam: Beam = None,
    max_active: MaxActive = None,
    adapt: Adapt = False,
    speaker_transforms: SpeakerTransforms = None,
    allow_oov_phones: AllowOovPhones = False,
    formats: Formats = "",
    confidence: Confidence = False,
    ratios: Ratios = False,
    mbr: Mbr = False,
    n_best: NBest = 0,
    confusions: Confusions = False,
    rescore: Rescore = None,
    lattices: Lattices = None,
    lattice_format: LatticeFormatOption = LatticeFormat.slf,
    lattice_beam: LatticeBeam = None,
    upsample: Upsample = False,
    root: Root = None,
    jobs: Jobs = ALL_CORES,
    cluster: Cluster = None,
) -> None:
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
    audio, method = _audio_and_method(audio or [], adapt)
    _require_sources(audio, data)
    _require_inputs(model, audio, data, root, grammar, rescore, lattices)
    require_address_space()

    from asr import Recognizer
    from asr.cli.reporting import report_failures
    from asr.runs.workers import open_workers

    _log_assumptions()
    with open_workers(jobs, cluster) as workers, ExitStack() as stack:
        recognizer = Recognizer.load(
            model,
            scores=None if scores is None else scores.value,
            grammar=grammar,
            lm_scale=lm_scale,
            insertion_penalty=insertion_penalty,
            filler_penalty=filler_penalty,
            min_phone_llr=min_phone_llr,
            min_silence_llr=min_silence_llr,
            beam=beam,
            max_active=max_active,
            allow_oov_phones=allow_oov_phones,
            upsample=upsample,
        )
        given: Path | DataDirectory | None = data
        if scores is not None and data is None:
            given, audio = stack.enter_context(_directory_of_scores(audio, recognizer)), []
        summary = recognizer.decode(
            out,
            audio=audio,
            speakers=speakers,
            data=given,
            root=root,
            adapt=method,
            speaker_transforms=speaker_transforms,
            formats=formats,
            lattices=lattices,
            lattice_format=lattice_format.value,
            lattice_beam=lattice_beam,
            n_best=n_best,
            mbr=mbr,
            confidence=confidence,
            ratios=ratios,
            confusions=confusions,
            rescore=rescore,
            workers=workers,
        )
    _print_hypotheses(summary, out)
    report_failures(summary, out)


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


def _require_inputs(
    model: Path,
    audio: list[Path],
    data: Path | None,
    root: Path | None,
    grammar: str | None,
    rescore: str | None,
    lattices: Path | None,
) -> None:
    """Raise if an input is missing, or if --lattices is not a directory."""
    require_model(model, "--model")
    require_directory(data, "--data")
    require_directory(root, "--root")
    _require_some_file(audio)
    require_grammar(grammar)
    require_grammar(rescore, "--rescore")
    if lattices is not None and exists(lattices):
        require_directory(lattices, "--lattices")


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
