"""`asr features`: a corpus's static features as a Kaldi archive."""

from pathlib import Path

from asr.corpus.data_directory import read_data_directory
from asr.corpus.kaldi_ark import write_archive
from asr.features.extraction import extract_static
from asr.recipe.config import TrainingConfig
from asr.recipe.outcome import Outcome
from asr.recipe.progress import counted


def extract_features(data: Path, out: Path, *, root: Path | None, config: TrainingConfig, jobs: int) -> Outcome:
    """Write `out/feats.ark` and `out/feats.scp`: one matrix of static features an utterance."""
    corpus = read_data_directory(data, root=root, prefer="audio")
    with counted(len(corpus.utterances), "features") as finished:
        table, problems = extract_static(corpus, config.features, jobs=jobs, progress=finished)
    out.mkdir(parents=True, exist_ok=True)
    write_archive(out / "feats.ark", out / "feats.scp", ((name, table.utterance(name)) for name in table.ids))
    return Outcome(len(table), [*corpus.problems, *problems])
