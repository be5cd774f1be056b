"""Lexicons of words with states of their own."""

from asr.lexicon import Lexicon, read_lexicon, with_own_phones, write_lexicon


def test_no_two_words_share_a_phone_and_variants_share_places(tmp_path):
    lexicon = Lexicon({"SIX": (("S", "IH"),), "ZERO": (("S", "IY"), ("S", "IH"))})
    own = with_own_phones(lexicon)
    assert own["SIX"] == (("S_SIX_0", "IH_SIX_1"),)
    assert own["ZERO"] == (("S_ZERO_0", "IY_ZERO_1"), ("S_ZERO_0", "IH_ZERO_1"))
    write_lexicon(own, tmp_path / "words.txt")
    assert read_lexicon(tmp_path / "words.txt") == own
