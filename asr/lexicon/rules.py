"""Pronunciations by rule, from the package Epitran (Mortensen, Dalmia and Littell 2018)."""

import re
from collections.abc import Callable
from unicodedata import category

from asr.lexicon.lexicon import Pronunciation
from asr.util.errors import ConfigError, LexiconError

_CODE = re.compile(r"[a-z]{3}-[A-Z][a-z]{3}(-[a-z]+)?")


def epitran_rules(code: str) -> Callable[[str, int], list[tuple[Pronunciation, float]]]:
    """Return a function like `GraphemeToPhoneme.pronounce` with the rules of a language and script, such as `spa-Latn`.

    Phones are IPA segments. Raises ConfigError if the package is missing or does not know the code.
    """
    if not _CODE.fullmatch(code):
        raise ConfigError(f"the code of the rules is {code!r}. Expected a language and a script, such as spa-Latn")
    if code == "eng-Latn":
        raise ConfigError("epitran has no rules for English (eng-Latn). Use a model of asr lexicon")
    try:
        import epitran
        from epitran.exceptions import DatafileError, MappingError
    except ImportError as error:
        raise ConfigError("rules need the package epitran. Use pip install 'hybrid-asr[epitran]'") from error
    try:
        rules = epitran.Epitran(code)
    except (DatafileError, MappingError) as error:
        raise ConfigError(
            f"epitran has no rules for {code!r}. Expected a language and a script, such as spa-Latn"
        ) from error

    def pronounce(word: str, n: int = 1) -> list[tuple[Pronunciation, float]]:
        phones = [phone for phone in rules.trans_list(word) if category(phone[0])[0] != "P"]
        unknown = [phone for phone in dict.fromkeys(phones) if not rules.ft.seg_known(phone)]
        if unknown:
            shown = " ".join(map(repr, unknown[:5]))
            raise LexiconError(f"the rules have no phones for {shown} of {word!r}", code="unseen-letter")
        if not phones:
            raise LexiconError(f"the rules give no phones for {word!r}", code="no-pronunciation")
        return [(tuple(phones), 1.0)]

    return pronounce
