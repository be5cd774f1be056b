"""Shared parts of recipes: command line, run directory, table and report."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from asr.corpus.data_directory import DataDirectory, read_data_directory
from asr.features.augmentation import Augmentation
from asr.lexicon import Lexicon, read_lexicon
from asr.report.page import write_report
from asr.runs.log import LOG, training_log
from asr.runs.progress import counted
from asr.runs.run import Run
from asr.runs.workers import open_workers
from asr.scoring.transcript import aligned_transcripts, speaker_summary
from asr.scoring.wer import ScoreReport
from asr.training.config import TrainingConfig
from asr.training.dataset import Dataset, build_static, left_out, load_dataset, trainable
from asr.training.gmm_stages import TrainingContext
from asr.util.counted_text import count
from asr.util.error_messages import drop_unwritten_output, sentence_of, standard_output_named
from asr.util.supervisor import supervise
from discriminants.util.paths import is_dir
from recipes.comparison import System
from recipes.results import Published, ResultRow, print_published, print_table, write_results
from recipes.specifications import HybridSpecification, MixtureSpecification

log = logging.getLogger(__name__)

OURS = "ours"


@dataclass(frozen=True)
class Recipe:
    """A running recipe; `finish` releases the `resources`."""

    title: str
    work_dir: Path
    context: TrainingContext
    corpora: dict[str, DataDirectory]
    resources: ExitStack

    def dataset(self, name: str, augmentation: Augmentation | None = None, *, known_only: bool = True) -> Dataset:
        """Stage `features-NAME`: return the static features of a data directory with its transcripts.

        With an augmentation, the audio is modified and the stage is `features-NAME-CHANGE`. Utterances with words that
        the lexicon lacks are left out if `known_only`; a test set needs them.
        """
        corpus, problems = trainable(self.corpora[name], self.context.lexicon, known_only=known_only)
        features = self.context.config.features
        stage = f"features-{name}" if augmentation is None else f"features-{name}-{augmentation.name}"

        def build(directory: Path) -> None:
            with counted(len(corpus.utterances), stage.replace("-", " of ", 1)) as finished:
                build_static(
                    directory,
                    corpus,
                    features,
                    augmentation=augmentation,
                    workers=self.context.workers,
                    progress=finished,
                )

        directory = self.context.stage(stage, build)
        problems = [*problems, *left_out(directory)]
        for number, problem in enumerate(problems):
            log.log(
                logging.DEBUG if number else logging.WARNING, "%s: left out: %s", problem.utterance, problem.message
            )
        if len(problems) > 1:
            log.warning("%s of %s left out; listed in %s", count(len(problems), "utterance"), name, LOG)
        return load_dataset(directory, corpus, features)


@dataclass(frozen=True)
class Arguments:
    """Command line of a recipe."""

    corpus_dir: Path | None
    work_dir: Path
    jobs: int
    rebuild_changed: bool
    noise_dir: Path | None = None
    cluster: str | None = None
    systems: str = OURS
    download: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)
    """All values by name, including those of `options`."""


def parse_arguments(
    description: str,
    *,
    needs_corpus: bool = True,
    takes_noise: bool = False,
    downloads: bool = False,
    systems: Mapping[str, str] = MappingProxyType({}),
    options: Callable[[argparse._ArgumentGroup], None] | None = None,
) -> Arguments:
    """Parse the shared command line of recipes.

    `systems` (names and descriptions, such as `recipes.systems.TABLE_4_2`) adds an option to select them. `downloads`
    adds `--download`, and the corpus's folder may then be missing. `options` adds options of one recipe.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if needs_corpus:
        parser.add_argument("--corpus-dir", type=Path, required=True, help="folder of the corpus")
    parser.add_argument("--work-dir", type=Path, required=True, help="directory of the stages, models and results.json")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="number of threads and processes (default: all cores)"
    )
    parser.add_argument(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="use the machines of this dask scheduler, which need access to the same files",
    )
    parser.add_argument(
        "--rebuild-changed", action="store_true", help="delete the stages of another run in the work directory"
    )
    if takes_noise:
        parser.add_argument("--noise-dir", type=Path, help="folder with noise.scp, for a test with added noise")
    if downloads:
        parser.add_argument(
            "--download", action="store_true", help="download the public parts of the corpus if they are missing"
        )
    if systems:
        parser.add_argument(
            "--systems",
            choices=(OURS, *systems),
            default=OURS,
            help=f"systems to compare: the recipe's own, or {', or '.join(systems.values())} (default: {OURS})",
        )
    if options is not None:
        options(parser.add_argument_group("options of this recipe"))
    parser.add_argument("-v", "--verbose", action="store_true", help=f"show all details, which are also in {LOG}")
    found = parser.parse_args()
    corpus_dir = found.corpus_dir if needs_corpus else None
    download = bool(downloads and found.download)
    if corpus_dir is not None and not is_dir(corpus_dir) and not download:
        parser.error(f"--corpus-dir {corpus_dir} is not a directory")
    noise_dir = found.noise_dir if takes_noise else None
    return Arguments(
        corpus_dir,
        found.work_dir,
        max(1, found.jobs),
        found.rebuild_changed,
        noise_dir,
        found.cluster,
        found.systems if systems else OURS,
        download,
        vars(found),
    )


def open_recipe(
    title: str,
    arguments: Arguments,
    corpus_dir: Path,
    config: TrainingConfig,
    mixtures: Sequence[MixtureSpecification],
    hybrids: Sequence[HybridSpecification],
    splits: Sequence[str] = ("train", "test"),
    *,
    lexicon: Lexicon | None = None,
    inputs: Mapping[str, str] | None = None,
    corpora: Mapping[str, DataDirectory] | None = None,
) -> Recipe:
    """Open the run of a recipe on the data directories `corpus_dir/SPLIT`, or on `corpora` by split.

    The lexicon is `corpus_dir/lexicon.txt` by default; `inputs` are checksums of other inputs.
    """
    found = {split: read_data_directory(corpus_dir / split) for split in splits} if corpora is None else dict(corpora)
    lexicon = read_lexicon(corpus_dir / "lexicon.txt") if lexicon is None else lexicon
    configuration: dict[str, Any] = {
        "training": config.model_dump(mode="json"),
        "mixtures": {
            family.name: {
                "components": list(family.components),
                "features": family.features.model_dump(mode="json"),
                **({"tied_states": family.tied_states} if family.tied_states else {}),
                **({"maps": True} if family.maps else {}),
            }
            for family in mixtures
        },
        "hybrids": {
            hybrid.name: {
                "settings": hybrid.settings.model_dump(mode="json"),
                "features": hybrid.features.model_dump(mode="json"),
                **({"aligner": hybrid.aligner} if hybrid.aligner else {}),
                **({"adaptation": hybrid.adaptation.model_dump(mode="json")} if hybrid.adaptation else {}),
                **({"tried": hybrid.tried} if hybrid.tried else {}),
            }
            for hybrid in hybrids
        },
    }
    resources = ExitStack()
    workers = resources.enter_context(open_workers(arguments.jobs, arguments.cluster))
    run = resources.enter_context(
        Run.open(
            arguments.work_dir,
            command=sys.argv,
            configuration=configuration,
            inputs={
                "lexicon": lexicon.digest(),
                **{split: corpus.digest() for split, corpus in found.items()},
                **(inputs or {}),
            },
            seed=config.seed,
            rebuild_changed=arguments.rebuild_changed,
        )
    )
    archive = any(utterance.archive is not None for utterance in next(iter(found.values())).utterances)
    context = TrainingContext(run, lexicon, config, "archive" if archive else "audio", workers)
    return Recipe(title, arguments.work_dir, context, found, resources)


def finish(
    recipe: Recipe,
    scored: Sequence[tuple[ResultRow, ScoreReport]],
    systems: Sequence[System],
    notes: Sequence[str] = (),
    published: Sequence[Published] = (),
) -> None:
    """Write `results.json`, the scored transcripts and `report.html`, and print the table.

    `published` error rates of other systems are printed after the table, and are among the report's notes.
    """
    rows = [row for row, _ in scored]
    write_results(recipe.work_dir / "results.json", rows)
    (recipe.work_dir / "score").mkdir(exist_ok=True)
    for row, report in scored:
        name = f"{row['split']}-{row['system']}-{row['grammar']}"
        (recipe.work_dir / "score" / f"{name}.pra").write_text(aligned_transcripts(report), encoding="utf-8")
        (recipe.work_dir / "score" / f"{name}.sys").write_text(speaker_summary(report, title=name), encoding="utf-8")
    shown = next(((row, report) for row, report in scored if row["primary"]), scored[0])
    place = (shown[0]["grammar"], shown[0]["split"])
    write_report(
        recipe.work_dir / "report.html",
        title=recipe.title,
        rows=rows,
        speakers={
            row["system"]: report.speakers() for row, report in scored if (row["grammar"], row["split"]) == place
        },
        curves=_curves(systems),
        transcripts=shown[1].worst(20),
        transcripts_of=f"{shown[0]['system']}, grammar {place[0]}, {place[1]}",
        notes=[*notes, *(f"Published: {row.system}, {row.wer:g} % ({row.source})." for row in published)],
    )
    print_table(rows)
    if published:
        print_published(published)
    recipe.resources.close()
    log.info("results: %s, report: %s", recipe.work_dir / "results.json", recipe.work_dir / "report.html")


def run_recipe(main: Any) -> NoReturn:
    """Run a recipe's main function under a supervisor; report errors in one sentence with exit status 1."""
    supervise("recipe", resumable=True)
    try:
        with standard_output_named(), training_log(verbose=not {"-v", "--verbose"}.isdisjoint(sys.argv)):
            main()
    except Exception as error:
        message = sentence_of(error, resumable=True)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        drop_unwritten_output()
        raise SystemExit(1) from error
    raise SystemExit(0)


def _curves(systems: Sequence[System]) -> dict[str, Sequence[float]]:
    curves: dict[str, Sequence[float]] = {}
    growth: list[float] = []
    for system in systems:
        for name, values in system.trained.curves.items():
            if system.kind == "gmm":
                growth.extend(values)
            elif values:
                curves[f"{system.name}: {name}"] = values
    return {"GMM log-likelihood per frame by re-estimation": growth, **curves}
