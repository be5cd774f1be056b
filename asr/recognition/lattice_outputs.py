"""Lattice outputs of `asr decode`: confidences, minimum-Bayes-risk words, n-best lists and files."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from asr.acoustic.search_settings import SearchSettings
from asr.alignment.confusion_file import write_confusions
from asr.alignment.frame_times import FrameTimes
from asr.corpus.identifiers import fault_in_key
from asr.decode.path_segments import Segment
from asr.grammar import Grammar
from asr.lattices.concatenation import concatenated
from asr.lattices.confusion_network import Bin
from asr.lattices.generation import LatticeBeam
from asr.lattices.kaldi_text import write_kaldi_lattices
from asr.lattices.lattice import Lattice
from asr.lattices.minimum_bayes_risk import mbr_decode
from asr.lattices.n_best import n_best
from asr.lattices.rescoring import rescored
from asr.lattices.slf import write_slf_lattice
from asr.recognition.confidence import mbr_segments, posterior_scale, with_confidence
from asr.recognition.decoder import Recognition
from asr.util.counted_text import count
from asr.util.errors import ConfigError, GrammarError, printable
from asr.util.files import atomic_write

log = logging.getLogger(__name__)

CONFUSIONS, N_BEST = "confusions.tsv", "nbest.tsv"
BEAM_OF_SCALE = 8.0
"""Lattice beam in units of the grammar's scale, which keeps nearly all relevant sentences. In a recognition with 67 %
word errors, the lattices' oracle errors were 47 % of these, and 54 % with a beam of 6.
"""
DENSITY = 100.0
"""Maximum density of lattices. Four times this changes posteriors of poorly recognized words by a few hundredths, and
takes ten times as long.
"""
MAX_SENTENCES = 100_000


@dataclass(frozen=True)
class OutputOptions:
    """Requested outputs: lattices, and details of words."""

    directory: Path | None = None  # directory for lattices: `UTTERANCE.lat` in SLF, or `lattices.txt` in Kaldi's format
    form: Literal["slf", "kaldi"] = "slf"
    beam: float | None = None
    """Lattice beam below the best path; default: eight times the grammar's scale, limited by `DENSITY`."""
    n_best: int = 0  # number of sentences per utterance in `nbest.tsv`; 0 for none
    mbr: bool = False  # whether words minimize the expected errors instead of following the best path
    confidence: bool = False  # whether words get confidences
    confusions: bool = False  # whether to write confusion networks to `confusions.tsv`
    ratios: bool = False  # whether to measure likelihood ratios, see `asr.recognition.speech_ratios`
    rescore: Grammar | None = None  # grammar whose scores replace those of the search, before all other steps

    def __post_init__(self) -> None:
        if self.form not in ("slf", "kaldi"):
            raise ConfigError(f"--lattice-format (lattice_format=) is {self.form!r}. Expected 'slf' or 'kaldi'")
        if self.beam is not None and not self.beam > 0:
            raise ConfigError(f"--lattice-beam (lattice_beam=) is {self.beam:g}. Expected a number above 0")
        if not 0 <= self.n_best <= MAX_SENTENCES:
            raise ConfigError(f"--n-best (n_best=) is {self.n_best}. Expected 0 to {MAX_SENTENCES}")

    @property
    def any(self) -> bool:
        """Whether lattices are needed."""
        return bool(
            self.directory or self.n_best or self.mbr or self.confidence or self.confusions or self.rescore is not None
        )

    def calibrated(self, search: SearchSettings) -> bool | None:
        """Return whether the confidences of words are calibrated; None for words without confidences."""
        return search.confidence is not None if self.confidence or self.mbr else None

    def lattice_beam(self, search: SearchSettings) -> LatticeBeam | None:
        """Return the lattice beam of a search; None if no lattices are needed."""
        if not self.any:
            if self.beam is not None:
                raise ConfigError(
                    "--lattice-beam (lattice_beam=) is only used with lattices. Request lattices, n-best lists "
                    "or confidences too"
                )
            return None
        return default_lattice_beam(search) if self.beam is None else LatticeBeam(self.beam)


def default_lattice_beam(search: SearchSettings) -> LatticeBeam:
    """Return eight times the grammar's scale, as acoustic scores grow with it, but at most the search's beam."""
    return LatticeBeam(min(search.beam, BEAM_OF_SCALE * max(1.0, search.lm_scale)), DENSITY)


def with_lattices(found: Recognition, outputs: OutputOptions, search: SearchSettings) -> Recognition:
    """Return the recognition with the requested words, confidences and lattices.

    An utterance without a sentence of the rescoring grammar keeps its words, and is logged. A rejected utterance stays
    rejected, with confidence 1 minus the minimum over its words.
    """
    words, lattices = dict(found.words), dict(found.lattices)
    kept: list[str] = []
    for name, lattice in found.lattices.items():
        best = words[name]
        if outputs.rescore is not None:
            try:
                lattices[name] = rescored(lattice, outputs.rescore, search.lm_scale)
            except GrammarError:
                kept.append(name)
        if name in found.rejected or lattices[name] is not lattice:
            best = lattices[name].segments(lattices[name].first_path)
        if outputs.mbr:
            best = mbr_segments(lattices[name], search.confidence)
        elif outputs.confidence:
            best = with_confidence(lattices[name], best, search.confidence)
        words[name] = [_rejection(words[name][0], best)] if name in found.rejected else best
    if kept:
        log.warning(
            "%s",
            printable(
                f"{len(kept)} of {len(lattices)} lattices have no sentence of the rescoring grammar and are not "
                f"changed. The first: {kept[0]}"
            ),
        )
    return replace(found, words=words, lattices=lattices)


def _rejection(filler: Segment, words: Sequence[Segment]) -> Segment:
    """Return the filler of a rejected utterance, with a confidence if its words have some."""
    known = [word.confidence for word in words if word.confidence is not None]
    return replace(filler, confidence=1.0 - min(known)) if known else filler


def write_lattices(
    outputs: OutputOptions,
    parts: Mapping[str, Sequence[tuple[int, Lattice]]],
    times: Mapping[str, FrameTimes],
    out: Path,
    search: SearchSettings,
) -> None:
    """Write the requested outputs: lattices to their directory, `nbest.tsv` and `confusions.tsv` to `out`.

    `parts` are the lattices of each utterance with their first frames; a short utterance has one.
    """
    lattices: dict[str, Lattice] = {}
    if outputs.directory is not None or outputs.n_best:
        lattices = {name: concatenated(own, times[name].n_frames) for name, own in parts.items()}
    if outputs.directory is not None:
        outputs.directory.mkdir(parents=True, exist_ok=True)
        if outputs.form == "kaldi":
            write_kaldi_lattices(outputs.directory / "lattices.txt", lattices)
        else:
            for name, lattice in lattices.items():
                if fault_in_key(name) is not None or "/" in name or name.startswith("."):
                    raise ConfigError(f"the utterance id {name!r} is not a valid file name. Use Kaldi's format")
                write_slf_lattice(
                    outputs.directory / f"{name}.lat", lattice, utterance=name, borders=_borders(times[name])
                )
    if outputs.n_best:
        rows = ["utterance\trank\tscore\tacoustic\tgrammar\twords"]
        for name, lattice in lattices.items():
            for rank, one in enumerate(n_best(lattice, outputs.n_best), 1):
                end = int(lattice.target[one.arcs[-1]]) if len(one.arcs) else 0
                acoustic = float(lattice.acoustic[one.arcs].sum() + lattice.final_acoustic[end])
                grammar = float(lattice.grammar[one.arcs].sum() + lattice.final_grammar[end])
                words = " ".join(lattice.words[word] for word in lattice.word[one.arcs])
                rows.append(f"{name}\t{rank}\t{one.score:.3f}\t{acoustic:.3f}\t{grammar:.3f}\t{words}")
        _write_lines(out / N_BEST, rows)
        short = Counter(row.partition("\t")[0] for row in rows[1:])
        n_short = sum(short[name] < outputs.n_best for name in lattices)
        if n_short:
            log.warning(
                "%s: %d of %s have fewer than %d sentences. Increase --lattice-beam (lattice_beam=) for more",
                N_BEST, n_short, count(len(lattices), "utterance"), outputs.n_best,
            )  # fmt: skip
    if outputs.confusions:
        networks = {}
        for name, own in parts.items():
            border = times[name].border
            networks[name] = [
                Bin(place.words, border(first + round(place.begin)), border(first + round(place.end)))
                for first, lattice in own
                for place in mbr_decode(lattice, posterior_scale(lattice, search.confidence)).places
            ]
        write_confusions(out / CONFUSIONS, networks)


def _borders(times: FrameTimes) -> list[float]:
    return [times.border(frame) for frame in range(times.n_frames + 1)]


def _write_lines(path: Path, lines: list[str]) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
