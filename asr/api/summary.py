"""A recognizer in one line, for whoever prints it."""

from collections.abc import Sequence

from asr.acoustic.composite import hybrid_stream
from asr.acoustic.model_file import SpeechModel
from asr.api.grammars import GrammarChoice
from asr.grammar import Grammar
from asr.util.errors import printable
from asr.validation.findings import count

_SHOWN = 6  # words of a grammar


def summary(model: SpeechModel, source: str, choice: GrammarChoice, words: Sequence[str]) -> str:
    """File and kind of the model, the grammar's words, and how it listens and searches.

    Parameters
    ----------
    source : str
        Where the model is from.
    choice : settled grammar
        That has these `words`.
    """
    hybrid = hybrid_stream(model.hmm.acoustic_model)
    kind = "mixtures" if hybrid is None else f"hybrid of {type(hybrid[1].classifier).__name__}"
    listed = " ".join(words[:_SHOWN]) + (" ..." if len(words) > _SHOWN else "")
    search = model.search
    return printable(
        f"<Recognizer {source}: {kind}, {model.hmm.topology.n_states} states; {_named(choice)}, "
        f"{count(len(words), 'word')} ({listed}); {model.front_end.config.sample_rate} Hz; "
        f"lm_scale {search.lm_scale:g}, insertion_penalty {search.insertion_penalty:g}>"
    )


def _named(choice: GrammarChoice) -> str:
    if choice is None:
        return "its own grammar"
    if isinstance(choice, Grammar):
        return f"grammar {choice.name}"
    if isinstance(choice, tuple):
        return f"grammar of {count(len(choice), 'sentence')}"
    return f"grammar {choice}"
