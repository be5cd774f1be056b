"""Reproduce tables 5.2 to 5.5 of *Sparse Nonlinear Discriminants* (Andelic 2007) and the tables of the Fisher family.

    python -m recipes.benchmarks --data-dir DIR --work-dir W [--table 5.3] [--data heart] [--method svm]
        [--partitions 3] [--resume] [--quick]

Tables ida-kfd and usps-kfd are those of Mika (2002), ksod that of Abdallah, Richard and Lengelle (2004). Those of
Suykens et al. (2002) are lssvm-uci, uci-kernels and uci-baselines (section 3.4.2), bayes-uci (4.1) and nystroem (6.1).

DIR holds usps.npz, letter.npz, optdigits.npz, pendigits.npz, satimage.npz, boston.npz, abalone.npz, ripley.npz and the
folders ida and lssvm. The command writes to W results.json (one row for each data set and method), settings.json
(grids, chosen settings and the value of every partition) and tables.md, which lists the source's figures next to ours.
New measurements replace earlier ones in W; with --resume, data sets already in W are skipped.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from asr.util.errors import ConfigError, CorpusError, RunError
from asr.util.files import atomic_write
from discriminants.util.paths import is_dir, is_file
from recipes.benchmarks import (
    digits,
    fisher,
    gaussian_processes,
    lssvm_uci,
    multiclass,
    nystroem_evidence,
    partitions,
    regression,
    second_order,
    sinc,
    uci_baselines,
    uci_kernels,
)
from recipes.benchmarks.results import ResultFiles
from recipes.benchmarks.study import Table, run_study, study_settings
from recipes.benchmarks.tables import markdown, print_sheets, sheets
from recipes.recipe import run_recipe

TABLES = {
    module.TABLE.number: module.TABLE
    for module in (
        *(multiclass, partitions, sinc, regression, gaussian_processes, fisher, second_order),
        *(lssvm_uci, nystroem_evidence, uci_baselines, uci_kernels, digits),
    )
}

log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the recipe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the benchmark data sets")
    parser.add_argument("--work-dir", type=Path, required=True, help="where results.json goes")
    parser.add_argument("--table", choices=list(TABLES), help="only this table (default: all)")
    parser.add_argument("--data", nargs="+", metavar="NAME", help="only these data sets (default: all)")
    parser.add_argument("--method", nargs="+", metavar="NAME", help="only these methods (default: all of the table)")
    parser.add_argument("--partitions", type=int, metavar="N", help="only the first N partitions (default: all)")
    parser.add_argument(
        "--resume", action="store_true", help="keep the results of data sets that are already in the work directory"
    )
    parser.add_argument("--quick", action="store_true", help="small data sets and grids, to test the command")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="number of processes (default: all cores)"
    )
    found = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)

    tables = [TABLES[found.table]] if found.table else list(TABLES.values())
    wanted = _wanted(tables, found.data)
    methods = list(dict.fromkeys(method for table in tables for method in table.methods))
    _check_names("--method", found.method, methods, "method")
    _check_files(found.data_dir, wanted)
    files = ResultFiles(found.work_dir, quick=found.quick)
    check_kept(files, found.work_dir)
    held = {(row["table"], row["data"], row["method"]) for row in files.rows} if found.resume else set()
    for table, name in wanted:
        own = [method for method in table.methods if method in (found.method or methods)]
        if all((table.number, name, method) in held for method in own):
            log.info("table %s %s: already in %s", table.number, name, found.work_dir)
            continue
        study = table.study(table.path(found.data_dir, name) or found.data_dir, name, found.quick).only(own)
        study = replace(study, problem=replace(study.problem, partitions=study.problem.partitions[: found.partitions]))
        outcomes = run_study(table, name, study, jobs=max(1, found.jobs))
        files.put(table, name, outcomes, study_settings(table, study, outcomes))
    files.sort(TABLES)
    shown = sheets(TABLES, files.rows, files.settings)
    with atomic_write(found.work_dir / "tables.md") as temporary:
        temporary.write_text(markdown(shown, quick=found.quick), encoding="utf-8")
    print_sheets(shown)
    log.info("results in %s", found.work_dir / "results.json")


def _wanted(tables: Sequence[Table], names: Sequence[str] | None) -> list[tuple[Table, str]]:
    known = [name for table in tables for name in table.data]
    _check_names("--data", names, known, "data set")
    return [(table, name) for table in tables for name in table.data if not names or name in names]


def _check_names(option: str, names: Sequence[str] | None, known: Sequence[str], kind: str) -> None:
    for name in names or ():
        if name not in known:
            raise ConfigError(
                f"{option} {name}: not a {kind} of the requested tables. Expected one of {', '.join(known)}"
            )


def _check_files(folder: Path, wanted: Sequence[tuple[Table, str]]) -> None:
    """Check for missing files before the long run."""
    if not is_dir(folder):
        raise CorpusError(f"--data-dir {folder} is not a folder. Expected the folder of the benchmark data sets")
    paths = [table.path(folder, name) for table, name in wanted]
    missing = [path for path in paths if path is not None and not is_file(path)]
    if missing:
        raise CorpusError(f"files missing in the folder of the benchmark data sets: {', '.join(map(str, missing))}")


def check_kept(files: ResultFiles, work_dir: Path) -> None:
    """Check before the long run that earlier results are compatible with the new ones."""
    try:
        for row in files.rows:
            table = TABLES[row["table"]]
            table.data.index(row["data"]), table.methods.index(row["method"])
        sheets(TABLES, files.rows, files.settings)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise RunError(
            f"{work_dir}: results.json and settings.json are not of this recipe. Use another work directory"
        ) from error


if __name__ == "__main__":
    run_recipe(main)
