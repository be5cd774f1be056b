"""Data directories of phones for `asr train --unit phone`, from 100 utterances of Resource Management.

    python -m recipes.rm1.sample_phones --data-dir DIR --out OUT
    asr train --data OUT/train --unit phone --config OUT/settings.toml --work-dir W
    asr decode --model W/model.safetensors --data OUT/test --out W/test
    asr score OUT/test/text W/test/hyp.txt

DIR is read by `recipes.rm1.sample_data`. Each directory has the cepstra as features, and the phones without silence as
transcripts. The settings name the given phone boundaries of the training set, and describe how the cepstra were made.
"""

import argparse
from pathlib import Path

import numpy as np

from asr.alignment.ctm import CtmRow, write_ctm
from asr.corpus.kaldi_ark import write_archive
from asr.hmm.topology import Topology
from asr.util.files import atomic_write
from recipes.rm1.cepstra import FEATURES
from recipes.rm1.sample_data import STATES_PER_PHONE, Labelled, phone_begins, read_sample

_SHIFT = 0.01  # seconds from frame to frame


def write_directory(data: Labelled, topology: Topology, folder: Path) -> None:
    """Write features, phones as words, speakers, and `phones.ctm` with the given phones and silences."""
    folder.mkdir(parents=True, exist_ok=True)
    table = data.dataset.static
    write_archive(
        folder / "feats.ark",
        folder / "feats.scp",
        sorted((name, table.frames[table.rows(name)]) for name in table.ids),
    )
    speakers = data.dataset.utterance_speaker
    for name, lines in (
        ("text", [f"{one} {' '.join(data.dataset.transcripts[one])}" for one in sorted(table.ids)]),
        ("utt2spk", [f"{one} {speakers[one]}" for one in sorted(table.ids)]),
    ):
        with atomic_write(folder / name) as temporary:
            temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    write_ctm(folder / "phones.ctm", [row for name in sorted(table.ids) for row in _rows(name, data, topology)])


def _rows(name: str, data: Labelled, topology: Topology) -> list[CtmRow]:
    """Return the phones of an utterance; a phone begins at its first state."""
    states = data.states[name]
    phones = states // STATES_PER_PHONE
    starts = np.flatnonzero(phone_begins(states)).tolist()
    ends = [*starts[1:], len(states)]
    names = topology.phone_names
    return [
        CtmRow(name, round(start * _SHIFT, 3), round((end - start) * _SHIFT, 3), names[phones[start]])
        for start, end in zip(starts, ends, strict=True)
    ]


def main() -> None:
    """Write both directories and the settings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="recipes.rm1.sample_phones"
    )
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the cepstra, states and phones")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    lexicon, splits = read_sample(given.data_dir)
    topology = Topology(lexicon.phones, STATES_PER_PHONE)
    for split, data in splits.items():
        write_directory(data, topology, given.out / split)
    settings = (
        f'alignment = "{(given.out / "train" / "phones.ctm").resolve()}"\n'
        f"[features]\nn_filters = {FEATURES.n_filters}\nlow_hz = {FEATURES.low_hz}\nhigh_hz = {FEATURES.high_hz}\n"
        f'lifter = {FEATURES.lifter}\nenergy = "{FEATURES.energy}"\nenergy_first = true\n'
        "[hybrid]\nvtlp_warps = [0.92, 1.08]\n"
    )
    with atomic_write(given.out / "settings.toml") as temporary:
        temporary.write_text(settings, encoding="utf-8")
    print(given.out)


if __name__ == "__main__":
    main()
