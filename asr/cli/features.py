"""`asr features`: features of a corpus as a Kaldi archive."""

from pathlib import Path
from typing import Annotated

import typer

from asr.cli.options import ALL_CORES, Cluster, Config, Data, Jobs, Root, Upsample, require_directory, require_file
from asr.util.memory_errors import require_address_space


def features(
    data: Data,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder for feats.ark and feats.scp.", show_default=False),
    ],
    root: Root = None,
    upsample: Upsample = False,
    config: Config = None,
    jobs: Jobs = ALL_CORES,
    cluster: Cluster = None,
) -> None:
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
    require_directory(data, "--data")
    require_directory(root, "--root")
    require_file(config, "--config")

    require_address_space()

    import asr
    from asr.cli.reporting import report_failures

    summary = asr.extract_features(data, out, root=root, config=config, upsample=upsample, jobs=jobs, cluster=cluster)
    typer.echo(out / "feats.scp")
    report_failures(summary, out)
