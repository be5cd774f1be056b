"""Data directories: each list by itself, and the whole with its audio or archive, aligned and written out.

Sphinx corpora likewise.
"""

import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np
import soundfile

from asr.alignment.ctm import ctm_rows, read_ctm, write_ctm
from asr.alignment.frame_times import FrameTimes
from asr.alignment.textgrid import write_textgrid
from asr.cli.reporting import report_failures
from asr.corpus.data_directory import DataDirectory, interpret_lists, read_data_directory, read_lists
from asr.corpus.identifiers import fault_in_name
from asr.corpus.kaldi_ark import write_archive
from asr.corpus.sphinx_corpus import read_sphinx_corpus
from asr.corpus.sphinx_features import write_sphinx_features
from asr.decode.path_segments import Segment
from asr.features.augmentation import read_noise
from asr.features.config import FeatureConfig
from asr.features.extraction import static_features
from asr.runs.outcome import Outcome
from asr.scoring.files import read_transcripts, write_transcripts
from asr.util.errors import AsrError, CorpusError, Issue
from tests.fuzz.mutators.text_mutators import TEXT
from tests.fuzz.outcome import MAX_MESSAGE_LENGTH, Unsound, check_mark
from tests.fuzz.reader import Seeds, reader

RATE = 8000
_MAX_LINE_LENGTH = 2 * MAX_MESSAGE_LENGTH
CONFIG = FeatureConfig(sample_rate=RATE, n_filters=12, n_cepstra=6)


def wav(seconds: float = 0.06, seed: int = 0, subtype: str = "PCM_16", format: str = "WAV", rate: int = RATE) -> bytes:
    """Noise in an audio file."""
    samples = 0.1 * np.random.default_rng(seed).standard_normal(round(seconds * rate))
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, subtype=subtype, format=format)
    return buffer.getvalue()


LISTS: Seeds = {
    "train/utt2spk": b"utt1 anna\nutt2 anna\nutt3 bert\n",
    "train/text": b"utt1 ONE TWO\nutt2 TWO\nutt3 NO\n",
    "train/spk2gender": b"anna f\nbert m\n",
}
AUDIO: Seeds = {
    **LISTS,
    "train/wav.scp": b"rec1 audio/rec1.wav\nrec2 audio/rec2.wav\n",
    "train/segments": b"utt1 rec1 0.0 0.05\nutt2 rec1 0.01 0.06\nutt3 rec2 0.00 -1\n",
    "audio/rec1.wav": wav(seed=1),
    "audio/rec2.wav": wav(seed=2),
}


def archive(folder: Path) -> Seeds:
    """A data directory with an archive."""
    random = np.random.default_rng(0)
    items = [(name, random.normal(size=(7, 5)).astype(np.float32)) for name in ("utt1", "utt2", "utt3")]
    write_archive(folder / "train" / "feats.ark", folder / "train" / "feats.scp", items)
    names = ("train/feats.ark", "train/feats.scp")
    return {**LISTS, **{name: (folder / name).read_bytes() for name in names}}


def checked(corpus: DataDirectory) -> DataDirectory:
    """Refuse what no file, archive member or line could be named by, and a report that no terminal can show."""
    for utterance in corpus.utterances:
        for name in (utterance.id, utterance.speaker):
            fault = fault_in_name(name)
            if fault is not None:
                raise Unsound(f"a name that {fault}: {name[:100]!r}")
    check_report(corpus.problems)
    return corpus


def check_report(problems: Sequence[Issue]) -> None:
    """What a command prints of utterances that it leaves out: a line each, of a name and a reason."""
    printed = io.StringIO()
    with redirect_stderr(printed):
        report_failures(Outcome(0, list(problems)), Path("out"))
    lines = printed.getvalue().split("\n")[:-1]
    if lines and len(problems) < 20 and len(lines) != len(problems) + 2:
        raise Unsound(f"utterances left out that are not told in one line each: {lines[1:3]}"[:500])
    for line in lines:
        if not line.isprintable() or len(line) > _MAX_LINE_LENGTH:
            raise Unsound(f"a report of utterances left out that no terminal can show: {line[:200]!r}")


def _check_collector(path: Path) -> None:
    """Lists that are read past their issues have some if they are refused, and else the same utterances."""
    issues: list[Issue] = []
    found = interpret_lists(path, read_lists(path, needs=("utt2spk",), issues=issues), issues=issues)
    usable = found.usable
    try:
        corpus = read_data_directory(path)
    except CorpusError:
        if not issues:
            raise Unsound("a list is refused, but has no issue") from None
        return
    if issues or tuple(usable.values()) != corpus.utterances:
        raise Unsound(f"a list is accepted, but has an issue or other utterances: {issues[:1]}"[:500])


def _read_marked_or_not(folder: Path) -> None:
    def read() -> tuple[object, ...]:
        _check_collector(folder / "train")
        corpus = checked(read_data_directory(folder / "train"))
        corpus.digest()
        return corpus.utterances, corpus.problems, corpus.gender

    check_mark((folder / "train").iterdir(), read)


for _name in ("utt2spk", "text", "spk2gender", "wav.scp", "segments"):
    reader(f"list-{_name}", AUDIO, TEXT, tree=True, targets=(f"train/{_name}",))(_read_marked_or_not)
reader("list-feats.scp", archive, TEXT, tree=True, targets=("train/feats.scp",))(_read_marked_or_not)


def _sphinx(folder: Path) -> Seeds:
    """Lists and feature files, of which one is spelled in other letter case."""
    random = np.random.default_rng(9)
    names = {"feat/anna/s1.mfc": 7, "feat/anna/s2.mfc": 5, "feat/BERT/S1.MFC": 6}
    for name, n_frames in names.items():
        write_sphinx_features(folder / name, random.normal(size=(n_frames, 13)))
    return {
        "etc/x.fileids": b"anna/s1\nanna/s2\nbert/s1\n",
        "etc/x.transcription": b"<s> ONE TWO(2) </s> (anna/s1)\nNO <sil> (s2)\nTWO (bert/s1)\n",
        **{name: (folder / name).read_bytes() for name in names},
    }


@reader("data-directory-of-audio", AUDIO, TEXT, tree=True, writes=True, renames=True)
@reader("data-directory-of-features", archive, TEXT, tree=True, writes=True, renames=True)
def _use(folder: Path) -> None:
    _use_corpus(checked(read_data_directory(folder / "train")), folder)


@reader("sphinx-corpus", _sphinx, TEXT, tree=True, writes=True, renames=True)
def _sphinx_corpus(folder: Path) -> None:
    lists = folder / "etc" / "x.fileids", folder / "etc" / "x.transcription"
    root = folder.resolve() / "feat"

    def read() -> tuple[object, ...]:
        corpus = checked(read_sphinx_corpus(*lists, root))
        return corpus.utterances, corpus.problems

    check_mark(lists, read)
    corpus = read_sphinx_corpus(*lists, root)
    corpus.digest()
    if not all(utterance.source.resolve().is_relative_to(root) for utterance in corpus.utterances):
        raise Unsound("features outside their folder")
    _use_corpus(corpus, folder)


def _use_corpus(corpus: DataDirectory, folder: Path) -> None:
    """Features of every utterance, and files named after it, as `asr align` writes them."""
    states = {}
    for utterance in corpus.utterances:
        try:
            static = static_features(utterance, CONFIG)
        except AsrError as error:
            check_report([Issue(error.code, str(error), utterances=(utterance.id,))])
            continue
        if not np.isfinite(static).all():
            raise Unsound("static features that are not finite")
        states[utterance.id] = [Segment("ONE", 0, len(static))]
    write_alignments(folder / "out", states)


def write_alignments(out: Path, segments: dict[str, list[Segment]]) -> None:
    """Files with utterances' names in them and in theirs."""
    times = {name: FrameTimes.of(CONFIG, found[-1].end) for name, found in segments.items()}
    rows = [row for name, found in segments.items() for row in ctm_rows(name, found, times[name])]
    write_ctm(out / "words.ctm", rows)
    if len(read_ctm(out / "words.ctm")) != len(rows):
        raise Unsound("a CTM file that is not read as it was written")
    write_transcripts(out / "hyp.txt", {name: ["ONE"] for name in segments})
    if read_transcripts(out / "hyp.txt").keys() != segments.keys():
        raise Unsound("a transcript that is not read as it was written")
    for name, found in segments.items():
        (out / "textgrid").mkdir(exist_ok=True)
        border = times[name].border
        words = [(border(one.start), border(one.end), one.label) for one in found]
        write_textgrid(out / "textgrid" / f"{name}.TextGrid", {"words": words}, border(found[-1].end))


@reader(
    "noise-list",
    {
        "noise.scp": b"rain audio/rain.wav\nwind audio/wind.wav\n",
        "audio/rain.wav": wav(seed=3),
        "audio/wind.wav": wav(seed=4),
    },
    TEXT,
    tree=True,
)
def _noise(folder: Path) -> None:
    clips = read_noise(folder)
    clips.digest()
    for name in ("utt1", "utt2", "utt3"):
        if not np.isfinite(clips.piece(name, 800, rate=RATE)).all():
            raise Unsound("noise that is not finite")
