"""Which stages of a training depend on which settings and inputs; where others change, a stage can be kept."""

_OF_HYBRIDS = ("hybrid", "hybrid_features", "hybrid_search")
_OF_FOLDS = ("tuning.held_out", "tuning.words")
_OF_PLAIN_FRAMES = ("gmm", "turned", "tied")


def depends(stage: str, name: str) -> bool:
    """Whether a stage of `asr train` depends on a setting ("hybrid.classifier") or an input ("data", "lexicon").

    Whatever a stage depends on, those that are made of it depend on too. What is not known here counts as needed.
    """
    table, parts = name.partition(".")[0], stage.split("-")
    if stage == "features":
        return table in ("features", "data")
    if stage == "tuning-search":
        return True
    if table == "ngram_order":  # of the grammar that the search of the tuning takes
        return False
    if table == "tuning":
        return parts[0] == "tuning" and name in _OF_FOLDS
    if table == "speakers":  # plain mixtures, from which the maps are found first
        return parts[-1] not in _OF_PLAIN_FRAMES
    if table in _OF_HYBRIDS:
        return "hybrid" in parts
    return True
