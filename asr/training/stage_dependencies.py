"""Dependencies of training stages on settings and inputs; other changes do not invalidate a stage."""

_OF_HYBRIDS = ("hybrid", "hybrid_features", "hybrid_search")
_OF_FOLDS = ("tuning.held_out", "tuning.words")
_OF_PLAIN_FRAMES = ("gmm", "turned", "tied")


def depends(stage: str, name: str) -> bool:
    """Whether a stage of `asr train` depends on a setting ("hybrid.classifier") or an input ("data", "lexicon").

    Dependencies are inherited by later stages. Unknown names count as dependencies.
    """
    table, parts = name.partition(".")[0], stage.split("-")
    if stage == "features":
        return table in ("features", "data")
    if stage == "tuning-search":
        return True
    if table == "ngram_order":  # grammar of the tuning's search
        return False
    if table == "tuning":
        return parts[0] == "tuning" and name in _OF_FOLDS
    if table == "speakers":  # the transforms are estimated from plain mixtures
        return parts[-1] not in _OF_PLAIN_FRAMES
    if table in _OF_HYBRIDS:
        return "hybrid" in parts
    return True
