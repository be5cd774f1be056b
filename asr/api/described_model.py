"""The description of a recognizer's model."""

from collections.abc import Iterator
from typing import Any, Literal

from asr.acoustic.given_scores import score_columns
from asr.acoustic.model_file import SearchSettings, SpeechModel, describe_model
from asr.acoustic.search_settings import SearchOptions
from asr.api.arguments import checked_methods
from asr.api.locked import Locked
from asr.hmm.tree_text import tree_graph, tree_lines
from asr.recognition.grammars import GrammarChoice
from asr.util.errors import ConfigError


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
        from asr.hmm.tree_plot import draw_tree

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
