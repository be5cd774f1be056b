"""Small transformations of images given as rows of pixels: shifts, rotation, scaling, thickness."""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import affine_transform, gaussian_filter, grey_dilation, grey_erosion

TRANSFORMATIONS = ("horizontal", "vertical", "rotation", "scaling", "thickness")


def transformed_images(
    X: np.ndarray,
    shape: tuple[int, int],
    transformations: Sequence[str] = TRANSFORMATIONS,
    *,
    size: float = 1.0,
    background: float | None = None,
) -> np.ndarray:
    """Return copies of all images, two per transformation in opposite directions (Mika 2002, 5.3.1, figure 5.10).

    Parameters
    ----------
    X : ndarray of shape (n_images, height * width)
        The images.
    shape : (int, int)
        Height and width.
    transformations : sequence of str
        "horizontal" and "vertical" shift by `size` pixels, "rotation" turns by 10 `size` degrees, and "scaling" changes
        the lengths by 10 `size` % about the center. "thickness" interpolates by the fraction `size` toward the dilated
        or eroded image (3 x 3 pixels).
    size : float
        Size of the transformations; positive.
    background : float, optional
        Value outside the image; by default the smallest value of X.

    Returns
    -------
    ndarray of shape (2 * len(transformations), n_images, height * width), in the float type of X

    Raises
    ------
    ValueError
        If the shape does not fit, or a name is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import transformed_images
    >>> transformed_images(np.eye(3).reshape(1, 9), (3, 3), ["rotation"]).shape
    (2, 1, 9)
    """
    height, width = shape
    if X.ndim != 2 or X.shape[1] != height * width:
        raise ValueError(
            f"X has shape {X.shape}. Expected {height * width} values per image of {height} x {width} pixels"
        )
    unknown = [name for name in transformations if name not in TRANSFORMATIONS]
    if unknown:
        raise ValueError(f"unknown transformation {unknown[0]!r}. Expected one of {', '.join(TRANSFORMATIONS)}")
    images = X.reshape(-1, height, width)
    outside = float(X.min()) if background is None else background
    copies = [
        _transformed(images, name, sign * size, outside).reshape(X.shape)
        for name in transformations
        for sign in (1.0, -1.0)
    ]
    return np.stack(copies).astype(X.dtype)


def smoothed_images(X: np.ndarray, shape: tuple[int, int], width: float, background: float | None = None) -> np.ndarray:
    """Smooth images by a Gaussian.

    Parameters
    ----------
    X : ndarray of shape (n_images, height * width)
        The images.
    shape : (int, int)
        Height and width.
    width : float
        Standard deviation of the Gaussian, in pixels.
    background : float, optional
        Value outside the image; by default the smallest value of X.

    Returns
    -------
    ndarray of the shape and float type of X

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import smoothed_images
    >>> smoothed_images(np.eye(3).reshape(1, 9), (3, 3), 1.0).shape
    (1, 9)
    """
    outside = float(X.min()) if background is None else background
    images = X.reshape(-1, *shape)
    smooth = gaussian_filter(images, (0.0, width, width), mode="constant", cval=outside)
    return smooth.reshape(X.shape).astype(X.dtype)


def _transformed(images: np.ndarray, name: str, size: float, outside: float) -> np.ndarray:
    if name == "thickness":
        extreme = (grey_dilation if size > 0 else grey_erosion)(images, size=(1, 3, 3), mode="constant", cval=outside)
        return images + abs(size) * (extreme - images)
    shift, inverse = np.zeros(2), np.eye(2)
    if name == "horizontal":
        shift[1] = -size
    elif name == "vertical":
        shift[0] = -size
    elif name == "rotation":
        angle = np.deg2rad(10.0 * size)
        inverse = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    else:
        inverse = np.eye(2) / (1.0 + 0.1 * size)
    middle = (np.array(images.shape[1:]) - 1.0) / 2.0
    matrix = np.eye(3)
    matrix[1:, 1:] = inverse
    offset = np.concatenate([[0.0], middle - inverse @ middle + shift])
    found: np.ndarray = affine_transform(images, matrix, offset, order=1, mode="constant", cval=outside)
    return found
