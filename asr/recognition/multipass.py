"""Multi-pass recognition with speaker adaptation, and files of speaker transforms."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, get_args

from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.model_metadata import MapKind
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.lattices.generation import LatticeBeam
from asr.recognition.decoder import Recognition, recognize
from asr.recognition.input_network import n_steps, recognize_adapted
from asr.recognition.speaker_transforms import adaptable, add_maps, load_maps, recognized_maps
from asr.runs.progress import counted
from asr.util.counted_text import count, some
from asr.util.errors import ConfigError, printable
from discriminants.logistic.affine_transform import AffineTransform
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.paths import exists

log = logging.getLogger(__name__)

AdaptationMethod = Literal["input-network", MapKind]
"""Methods of `asr.recognition.input_network`, `asr.acoustic.fmllr` and `asr.acoustic.vtln`."""

_SHOWN = 3  # speakers missing in a file, each with the most similar names


def adaptable_model(model: SpeechModel, adapt: bool | AdaptationMethod, speaker_transforms: Path | None) -> SpeechModel:
    """Return the model for `recognize_speakers`, changed only if mixtures shall use speaker transforms.

    Raises ConfigError if the method is unknown or unsuitable for the model, or no method uses the transforms.
    """
    methods = get_args(AdaptationMethod)
    if adapt not in (False, True, *methods):
        raise ConfigError(f"--adapt (adapt=) {adapt!r} is unknown. Expected {', '.join(methods[:-1])} or {methods[-1]}")
    if adapt in ("fmllr", "vtln"):
        model = adaptable(model, adapt)
    if speaker_transforms is not None and model.speakers is None:
        raise ConfigError(
            "--speaker-transforms (speaker_transforms=) needs speaker transforms. Use --adapt fmllr or vtln "
            "(adapt=), or a model trained with speaker transforms"
        )
    return model


def recognize_speakers(
    model: SpeechModel,
    static: FrameTable,
    graph: StateGraph,
    search: SearchSettings | None = None,
    *,
    adapt: bool | AdaptationMethod = False,
    speaker_transforms: Path | None = None,
    lattice_beam: LatticeBeam | None = None,
    ratios: bool = False,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> Recognition:
    """Recognize utterances grouped by speaker, in one pass or in several adaptation passes; show progress.

    Parameters
    ----------
    model : SpeechModel
        From `adaptable_model`.
    adapt : bool, "input-network", "fmllr" or "vtln"
        Method of speaker adaptation; True is "input-network". Models trained on transformed frames always adapt.
    speaker_transforms : path, optional
        File of speaker transforms: its speakers are not adapted again, others are added to it.
    static, graph, search, lattice_beam, ratios, workers
        As in `recognize`.

    Raises
    ------
    ConfigError
        If the model cannot be adapted, or not with this grammar.
    ModelFormatError
        If the file `speaker_transforms` is damaged or belongs to another model.
    """
    maps, seconds = _speaker_maps(model, static, graph, speaker_transforms, workers)
    by_input_network = adapt in (True, "input-network")
    total = n_steps(len(static)) if by_input_network else len(static)
    passes = recognize_adapted if by_input_network else recognize
    with counted(total, "adaptation and recognition: steps" if by_input_network else "recognizing") as finished:
        found = passes(
            model,
            static,
            graph,
            search,
            maps=maps,
            lattice_beam=lattice_beam,
            ratios=ratios,
            workers=workers,
            progress=finished,
        )
    return replace(found, cpu_seconds=seconds + found.cpu_seconds)


def _speaker_maps(
    model: SpeechModel, static: FrameTable, graph: StateGraph, speaker_transforms: Path | None, workers: Workers
) -> tuple[dict[str, AffineTransform], float]:
    """Return all speaker transforms, reusing those of the file, and the processor time of the others."""
    if model.speakers is None:
        return {}, 0.0
    known = (
        {}
        if speaker_transforms is None or not exists(speaker_transforms)
        else load_maps(speaker_transforms, model.speakers)
    )
    n_strange = sum(speaker not in known for speaker in static.speakers)
    if not n_strange:
        return recognized_maps(model, static, graph, known=known, workers=workers)
    with counted(2 * n_strange, "speaker transforms: utterances") as finished:
        maps, seconds = recognized_maps(model, static, graph, known=known, workers=workers, progress=finished)
    if speaker_transforms is not None:
        add_maps(speaker_transforms, maps, model.speakers)
        if known:
            log.warning(
                "%s", printable(f"{speaker_transforms}: {_added(known, [name for name in maps if name not in known])}")
            )
    return maps, seconds


def _added(known: Collection[str], added: Sequence[str]) -> str:
    """Describe the speakers missing in a file, with similar names in it."""
    message = (
        f"has transforms of {count(len(known), 'speaker')} ({some(known, 3)}), but not of {some(added, 3)}, which "
        "are estimated now and added"
    )
    near = [(name, _nearest(name, known)) for name in added]
    meant = [f"{name} is similar to {' or '.join(names)}" for name, names in near if names][:_SHOWN]
    return "; ".join([message, *meant])


def _nearest(name: str, known: Collection[str]) -> list[str]:
    """Return names with the same ending, as in another folder, otherwise similar names."""
    same_end = [other for other in sorted(known) if other.rpartition("/")[2] == name.rpartition("/")[2]]
    return (same_end or get_close_matches(name, sorted(known), 3, 0.7))[:_SHOWN]
