"""Lattices in HTK's standard lattice format (HTK Book 3.4, chapter 20), as HVite writes them.

Words are on links, with acoustic (`a`) and grammar (`l`) scores in natural logarithms; nodes have times in seconds. The
header has the scale and the penalty of the search. All final nodes lead to the last node without a word.
"""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

from asr.grammar.slf import slf_fields
from asr.lattices.lattice import Lattice
from asr.lattices.networks import Network, NetworkLink, lattice_from, network_of
from asr.util.errors import GrammarError
from asr.util.files import atomic_write
from asr.util.htk_strings import write_htk_string
from asr.util.text_lines import read_text_lines

NULL = "!NULL"
_LAST_FRAME = 2**31 - 1


def write_slf_lattice(
    path: Path | str, lattice: Lattice, *, utterance: str = "", borders: Sequence[float] | None = None
) -> None:
    """Write a lattice.

    `utterance` is the name for the header. `borders`, (n_frames + 1,), has the start of each frame and the end of the
    last, in seconds; the default is 0.01 s per frame.
    """
    network = network_of(lattice)
    times = [frame / 100 for frame in range(lattice.n_frames + 1)] if borders is None else borders
    end = len(network.frames)
    links = [
        *network.links,
        *(NetworkLink(node, end, None, *scores) for node, scores in sorted(network.final.items())),
    ]
    lines = ["VERSION=1.0"]
    if utterance:
        lines.append(f"UTTERANCE={write_htk_string(utterance)}")
    lines.append(f"lmscale={lattice.lm_scale:.9g} wdpenalty={lattice.insertion_penalty:.9g} acscale=1.00")
    lines.append(f"start=0 end={end}")
    lines.append(f"N={end + 1} L={len(links)}")
    lines += [f"I={node} t={times[frame]:.4f}" for node, frame in enumerate([*network.frames, lattice.n_frames])]
    lines += [
        f"J={number} S={link.source} E={link.target} W={NULL if link.word is None else write_htk_string(link.word)} "
        f"a={link.acoustic:.9g} l={link.grammar:.9g}"
        for number, link in enumerate(links)
    ]
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def read_slf_lattice(path: Path | str, *, borders: Sequence[float] | None = None, rate: float = 100.0) -> Lattice:
    """Read a lattice written by `write_slf_lattice`; GrammarError with file and line for a malformed file.

    `borders` is as in `write_slf_lattice`. Without it, `rate` is the number of frames per second: 1000 gives times in
    milliseconds.
    """
    frames: dict[int, int] = {}
    links: list[NetworkLink] = []
    header: dict[str, float] = {"lmscale": 1.0, "wdpenalty": 0.0}
    for number, line in enumerate(read_text_lines(path, GrammarError), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{path}, line {number}"
        fields = slf_fields(line, where)

        def value(name: str, where: str = where, fields: dict[str, str] = fields) -> float:
            try:
                found = float(fields[name])
            except (KeyError, ValueError):
                raise GrammarError(f"{where}: the field {name}= is missing or not a number.") from None
            if not abs(found) < 1e12:
                raise GrammarError(f"{where}: {name}={fields[name][:80]}. Expected a number below 1e12.")
            return found

        if "I" in fields:
            time = value("t")
            if not 0 <= time * rate <= _LAST_FRAME:
                raise GrammarError(f"{where}: t={fields['t'][:80]}. Expected a time of at most {_LAST_FRAME} frames.")
            frames[int(value("I"))] = round(time * rate) if borders is None else _nearest(borders, time)
        elif "J" in fields:
            word = fields.get("W", NULL)
            if word.split() != [word]:
                raise GrammarError(f"{where}: W={word[:80]!r}. Expected a word without white space.")
            ends = int(value("S")), int(value("E"))
            links.append(NetworkLink(*ends, None if word == NULL else word, value("a"), value("l")))
        else:
            header |= {name: value(name) for name in ("lmscale", "wdpenalty", "end") if name in fields}
    end = len(frames) - 1
    if sorted(frames) != list(range(len(frames))) or int(header.get("end", end)) != end or end < 1:
        raise GrammarError(f"{path}: nodes are not numbered from 0, or the last one is not the end.")
    final = {link.source: (link.acoustic, link.grammar) for link in links if link.target == end and link.word is None}
    inner = sorted((link for link in links if link.target != end or link.word is not None), key=lambda link: link[:2])
    return lattice_from(
        Network([frames[node] for node in range(end)], inner, final),
        n_frames=frames[end],
        lm_scale=header["lmscale"],
        insertion_penalty=header["wdpenalty"],
        fault=lambda reason: GrammarError(f"{path}: {reason}."),
    )


def _nearest(borders: Sequence[float], time: float) -> int:
    place = min(bisect_left(borders, time), len(borders) - 1)
    return place - 1 if place > 0 and time - borders[place - 1] < borders[place] - time else place
