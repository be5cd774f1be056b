"""One-line summary of a recognizer."""

from collections.abc import Sequence

from asr.acoustic.composite import hybrid_stream
from asr.acoustic.model_file import SpeechModel
from asr.acoustic.search_settings import SearchSettings
from asr.grammar import Grammar
from asr.grammar.filler import FILLER_WORD
from asr.recognition.grammars import GrammarChoice
from asr.util.counted_text import count
from asr.util.errors import printable

_SHOWN = 6  # words of a grammar


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
