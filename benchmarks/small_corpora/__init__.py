"""Results of `asr train` with default settings on small corpora without a recipe, from several seeds."""
