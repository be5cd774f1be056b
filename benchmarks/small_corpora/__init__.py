"""Small corpora that no recipe knows: what `asr train` makes of them by its defaults, from several seeds."""
