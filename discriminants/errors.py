"""What can go wrong here beyond a wrong argument (which is a `ValueError`, as everywhere in scikit-learn)."""


class DiscriminantError(Exception):
    """Base of the errors that this package raises on purpose."""


class ModelFormatError(DiscriminantError, ValueError):
    """A model file or its content is truncated, of another format, disagrees with its own header, or cannot
    be represented.
    """
