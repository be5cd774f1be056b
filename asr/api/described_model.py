"""The description of a recognizer's model: properties, trees, and a summary in one line."""

from collections.abc import Iterator, Sequence
from threading import RLock
from typing import Any, Literal

from asr.acoustic.composite import hybrid_stream
from asr.acoustic.given_scores import score_columns
from asr.acoustic.model_file import SpeechModel, describe_model
from asr.acoustic.search_settings import SearchOptions, SearchSettings
from asr.api.arguments import checked_methods
from asr.grammar import Grammar
from asr.grammar.filler import FILLER_WORD
from asr.hmm.tree_plot import draw_tree, tree_graph, tree_lines
from asr.recognition.grammars import GrammarChoice
from asr.util.counted_text import count
from asr.util.errors import ConfigError, printable

_SHOWN = 6  # words of a grammar


class Locked:
    """Base of objects with a lock: `pickle` and `copy` give each copy a new one.

    The state is read under the lock, so copies are consistent.
    """

    def __init__(self) -> None:
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the lock."""
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes, and create a new lock."""
        vars(self).update(state, _lock=RLock())


class RecognizerOptions(SearchOptions, total=False):
    """Keywords of a recognizer."""

    grammar: GrammarChoice
    allow_oov_phones: bool
    upsample: bool
    confidence: bool
    ratios: bool


@checked_methods
class DescribedModel(Locked):
    """Base of the recognizer: properties of its model."""

    _model: SpeechModel

    @property
    def model(self) -> SpeechModel:
        """Model with the current lexicon and search settings."""
        return self._model

    def info(self) -> dict[str, Any]:
        """Return a description of the model and its training data, as in `asr info`."""
        return describe_model(self._model)

    def tree(self, form: Literal["text", "dot"] = "text") -> Iterator[str]:
        """Return the lines of the context-dependency trees as text or for Graphviz.

        Raises ConfigError for a model without context-dependent states.

        Parameters
        ----------
        form : {"text", "dot"}
            Text, or a graph for Graphviz.
        """
        topology = self._model.hmm.topology
        if topology.tying is None:
            raise ConfigError(
                "The model has no decision trees, because its states do not depend on neighboring phones. Use a "
                "model trained with context = 3"
            )
        return (tree_lines if form == "text" else tree_graph)(topology)

    def plot_tree(self, phone: str, state: int = 2, ax: Any = None) -> Any:
        """Draw the context-dependency tree of a state with matplotlib, and return the axes.

        The questions begin on the left; the blue boxes are the tied states.

        Raises ConfigError for a model without context-dependent states, and for an unknown phone or state.

        Parameters
        ----------
        phone : str
            Phone of the model.
        state : int
            Number of the state in the phone, from 1.
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.
        """
        return draw_tree(self._model.hmm.topology, phone, state, ax)

    @property
    def search(self) -> SearchSettings:
        """Scales, penalties and beams of the search."""
        return self._model.search

    @property
    def words(self) -> tuple[str, ...]:
        """All words with a pronunciation, sorted; the grammar may use fewer."""
        return self._model.lexicon.words

    @property
    def phones(self) -> tuple[str, ...]:
        """Phones that can be used in pronunciations."""
        return self._model.hmm.topology.phones

    @property
    def sample_rate(self) -> int:
        """Sampling rate of the model in Hz; audio with a higher rate is converted."""
        return self._model.front_end.config.sample_rate

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states, in the order of the columns of state scores.

        `AH_2` is the second state of AH, `AH_2.7` one of its tied states. Silence comes first.
        """
        topology = self._model.hmm.topology
        return tuple(map(topology.state_name, range(topology.n_states)))

    def _of_audio(self) -> SpeechModel:
        if score_columns(self._model) is not None:
            raise ConfigError(
                "A recognizer with scores= cannot use audio. Expected state scores (frames=), or a recognizer without "
                "scores="
            )
        if self._model.source == "archive":
            raise ConfigError(
                "The model was trained on feature archives (feats.scp) or frames= and cannot recognize audio. Use "
                "frames=, asr decode with a data directory with feats.scp, or a model trained on audio"
            )
        return self._model


def summary(model: SpeechModel, source: str, choice: GrammarChoice, words: Sequence[str]) -> str:
    """Return the model's file and kind, the grammar's words, and the settings of features and search.

    Parameters
    ----------
    source : str
        Origin of the model.
    choice : settled grammar
        Grammar with these `words`.
    """
    hybrid = hybrid_stream(model.hmm.acoustic_model)
    kind = "mixtures" if hybrid is None else f"hybrid of {type(hybrid[1].classifier).__name__}"
    listed = " ".join(words[:_SHOWN]) + (" ..." if len(words) > _SHOWN else "")
    search = model.search
    return printable(
        f"<Recognizer {source}: {kind}, {model.hmm.topology.n_states} states; {_named(choice)}, "
        f"{count(len(words), 'word')} ({listed}); {model.front_end.config.sample_rate} Hz; "
        f"lm_scale {search.lm_scale:g}, insertion_penalty {search.insertion_penalty:g}{_rejecting(search, words)}>"
    )


def _rejecting(search: SearchSettings, words: Sequence[str]) -> str:
    """Describe the settings of rejection that have an effect."""
    penalty = search.filler_penalty if FILLER_WORD in words else None
    found = {
        "filler_penalty": penalty, "min_phone_llr": search.min_phone_llr, "min_silence_llr": search.min_silence_llr
    }  # fmt: skip
    return "".join(f", {name} {value:g}" for name, value in found.items() if value is not None)


def _named(choice: GrammarChoice) -> str:
    if choice is None:
        return "its own grammar"
    if isinstance(choice, Grammar):
        return f"grammar {choice.name}"
    if isinstance(choice, tuple):
        return f"grammar of {count(len(choice), 'sentence')}"
    return f"grammar {choice}"
