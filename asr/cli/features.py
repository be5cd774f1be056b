"""`asr features`: features of a corpus as a Kaldi archive."""

from pathlib import Path

import typer

from asr.cli.input_checks import require_directory, require_file
from asr.cli.options import CLUSTER, CONFIG, DATA, JOBS, ROOT, UPSAMPLE, Options, keywords, option, takes
from asr.util.memory_errors import require_address_space


class FeatureOptions(Options):
    """Options of `asr features`."""

    data: Path = DATA
    output: Path = option("Folder for feats.ark and feats.scp.", ..., "--out", metavar="DIR")
    root: Path | None = ROOT
    upsample: bool = UPSAMPLE
    config: Path | None = CONFIG
    jobs: int = JOBS
    cluster: str | None = CLUSTER


@takes(FeatureOptions)
def features(given: FeatureOptions) -> None:
    """Compute the features of every utterance and write them as a Kaldi archive.

    The archive contains the static coefficients, one row every 10 ms. The model computes deltas, normalization and
    splicing in training and decoding. Transcripts and speakers are copied, so DIR is itself a data directory and the
    audio is not read again.

    A model trained on archives recognizes only archives. To recognize audio files, train on the audio.

    \b
    Example:
      asr features --data data/train --out features/train
      asr train --data features/train --lexicon lexicon.txt --work-dir runs/mine
    """
    require_directory(given.data, "--data")
    require_directory(given.root, "--root")
    require_file(given.config, "--config")

    require_address_space()

    import asr
    from asr.cli.reporting import report_failures

    summary = asr.extract_features(**keywords(given))
    typer.echo(given.output / "feats.scp")
    report_failures(summary, given.output)
