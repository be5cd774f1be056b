"""`asr features`: static features of a corpus as a Kaldi archive."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from asr.corpus.data_directory import read_data_directory
from asr.corpus.kaldi_ark import write_archive
from asr.corpus.list_file import read_list
from asr.corpus.rates import rate_of_corpus
from asr.corpus.writing import write_data_directory
from asr.features.extraction import extract_static
from asr.runs.outcome import Outcome, account, require_some
from asr.runs.progress import counted
from asr.training.config import TrainingConfig, load_config, sets_nothing
from asr.util.errors import printable
from discriminants.parallel.workers import Workers
from discriminants.util.paths import exists

log = logging.getLogger(__name__)


def extract_features(
    data: Path,
    out: Path,
    *,
    root: Path | None,
    config: TrainingConfig | Path | Mapping[str, Any] | None,
    upsample: bool = False,
    workers: Workers,
) -> Outcome:
    """Write `out/feats.ark` and `out/feats.scp`: one matrix of static features per utterance.

    `config` may be a file or its tables. `sample_rate = "auto"` is the rate of this corpus; it is not the default as in
    training, because corpora used together need the same rate. Audio with a lower rate is refused unless `upsample` or
    the settings allow it.

    The other lists are copied, which makes `out` a data directory, unless it is one already and has a `wav.scp`.
    """
    corpus = read_data_directory(data, root=root, prefer="audio")
    require_some(data, corpus.utterances, corpus.problems)

    def corpus_rate() -> int | None:
        found = rate_of_corpus(corpus.utterances, workers=workers)
        if found is None:
            return None
        log.warning("%s", found)
        return found.rate

    if isinstance(config, Path) and sets_nothing(config):
        log.warning("%s", printable(f"{config} has no settings; all settings have their defaults"))
    if not isinstance(config, TrainingConfig):
        config = load_config(config, corpus_rate=corpus_rate, auto_by_default=False)
    features = config.features.model_copy(update={"upsample": upsample or config.features.upsample})
    with counted(len(corpus.utterances), "features") as finished:
        table, problems = extract_static(corpus, features, workers=workers, progress=finished)
    out.mkdir(parents=True, exist_ok=True)
    write_archive(out / "feats.ark", out / "feats.scp", ((name, table.utterance(name)) for name in table.ids))
    if not exists(out / "wav.scp"):
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
