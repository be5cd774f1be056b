"""`asr features`: a corpus's static features as a Kaldi archive."""

from dataclasses import replace
from pathlib import Path

from asr.corpus.data_directory import read_data_directory
from asr.corpus.kaldi_ark import write_archive
from asr.corpus.list_file import read_list
from asr.corpus.writing import write_data_directory
from asr.features.extraction import extract_static
from asr.recognition.material import require_some
from asr.runs.outcome import Outcome, account
from asr.runs.progress import counted
from asr.training.config import TrainingConfig
from discriminants.parallel.workers import Workers


def extract_features(data: Path, out: Path, *, root: Path | None, config: TrainingConfig, workers: Workers) -> Outcome:
    """Write `out/feats.ark` and `out/feats.scp`: one matrix of static features an utterance.

    The other lists go with them, which makes `out` a data directory, unless it is one already and has a `wav.scp`.
    """
    corpus = read_data_directory(data, root=root, prefer="audio")
    require_some(data, corpus.utterances, corpus.problems)
    with counted(len(corpus.utterances), "features") as finished:
        table, problems = extract_static(corpus, config.features, workers=workers, progress=finished)
    out.mkdir(parents=True, exist_ok=True)
    write_archive(out / "feats.ark", out / "feats.scp", ((name, table.utterance(name)) for name in table.ids))
    if not (out / "wav.scp").exists():
        offsets = {name: int(entry.value.rpartition(":")[2]) for name, entry in read_list(out / "feats.scp").items()}
        archived = [
            replace(u, audio=None, start=None, end=None, archive=out / "feats.ark", offset=offsets[u.id])
            for u in corpus.utterances
            if u.id in offsets
        ]
        write_data_directory(out, archived, corpus.gender)
    failures = [*corpus.problems, *problems]
    account(corpus.listed, table.ids, failures, out)
    return Outcome(len(table), failures)
