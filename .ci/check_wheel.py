"""Check an installed wheel: `check_wheel.py CLONE`, run outside the clone with the wheel's own Python."""

import sys
from pathlib import Path

import asr
from asr.util.resources import resource


def main(clone: Path) -> None:
    """Exit with status 1 when the package is the clone's own, or lacks a data file of the clone."""
    package = Path(asr.__file__).resolve().parent
    if package == (clone / "asr").resolve():
        raise SystemExit(f"check_wheel: asr was imported from the clone, {package}")
    kept = sorted(path.relative_to(clone / "data") for path in (clone / "data").rglob("*") if path.is_file())
    for name in kept:
        found = resource(*name.parts)
        if not found.resolve().is_relative_to(package):
            raise SystemExit(f"check_wheel: {name} was found at {found}, outside the wheel")
    if not (package / "py.typed").is_file():
        raise SystemExit("check_wheel: asr/py.typed is missing")
    print(f"wheel {asr.__version__}: {len(kept)} data files in {package / 'data'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
