"""Check the quickstart: `check_quickstart.py WORK_DIR SECONDS`, SECONDS being how long it took."""

import json
import sys
from pathlib import Path
from typing import Any

SECONDS_ALLOWED = 360
WORDS_NEEDED = 1000
GMM_8_WER = (5.0, 20.0)  # easier or harder than this, and the comparison teaches nothing


def find_row(rows: list[dict[str, Any]], **wanted: object) -> dict[str, Any]:
    """Return the one row that has these values."""
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    if len(found) != 1:
        raise SystemExit(f"check_quickstart: {len(found)} rows with {wanted}; exactly one is needed")
    return found[0]


def complaints(rows: list[dict[str, Any]], seconds: float) -> list[str]:
    """Return a sentence for everything that is not as promised."""
    test = {"grammar": "wordpair", "split": "test"}
    gmm = find_row(rows, system="gmm-8", **test)
    hybrid = find_row(rows, kind="discriminant", primary=True, **test)
    print(f"gmm-8 {gmm['wer']:.2f} % WER, {hybrid['system']} {hybrid['wer']:.2f} % WER, {seconds:.0f} s")
    low, high = GMM_8_WER
    found = []
    if gmm["words"] < WORDS_NEEDED:
        found.append(f"the test set has {gmm['words']} words; at least {WORDS_NEEDED} are needed")
    if not low <= gmm["wer"] <= high:
        found.append(f"gmm-8 makes {gmm['wer']:.2f} % errors; between {low:g} and {high:g} % are wanted")
    if not hybrid["wer"] < gmm["wer"]:
        found.append(f"{hybrid['system']} is not better than gmm-8")
    if seconds > SECONDS_ALLOWED:
        found.append(f"it took {seconds:.0f} s; {SECONDS_ALLOWED} s are allowed")
    return found


def main(work_dir: Path, seconds: float) -> None:
    """Exit with status 1, and a sentence for each fault, unless the quickstart kept its promises."""
    rows = json.loads((work_dir / "results.json").read_text(encoding="utf-8"))
    found = complaints(rows, seconds)
    if not (work_dir / "report.html").is_file():
        found.append(f"{work_dir / 'report.html'} was not written")
    if found:
        raise SystemExit("\n".join(f"check_quickstart: {sentence}" for sentence in found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
