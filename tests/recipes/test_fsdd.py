"""Units of the digits recipe."""

from asr.lexicon import Lexicon
from recipes.fsdd.__main__ import with_own_phones


def test_no_two_words_share_a_phone_and_variants_share_places():
    lexicon = Lexicon({"SIX": (("S", "IH"),), "ZERO": (("S", "IY"), ("S", "IH"))})
    found = with_own_phones(lexicon).pronunciations
    assert found["SIX"] == (("S_SIX_0", "IH_SIX_1"),)
    assert found["ZERO"] == (("S_ZERO_0", "IY_ZERO_1"), ("S_ZERO_0", "IH_ZERO_1"))
