"""Small data sets in the file layout of the benchmark sets."""

import numpy as np


def rings(random, n, n_classes=2):
    """Noisy rings, one a class: their class numbers and points in three dimensions."""
    codes = np.arange(n) % n_classes
    angle = random.uniform(0, 2 * np.pi, n)
    radius = 1.0 + codes + random.normal(0, 0.2, n)
    return codes, np.column_stack([radius * np.cos(angle), radius * np.sin(angle), random.normal(0, 0.3, n)])


def save_two_class(path, n_partitions=2, **changes):
    random = np.random.default_rng(0)
    codes, x = rings(random, 120)
    order = np.array([random.permutation(120) for _ in range(n_partitions)], dtype=np.int16)
    arrays = {"x": x, "y": (2 * codes - 1).astype(np.int8), "train": order[:, :40], "test": order[:, 40:]}
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **(arrays | changes))


def save_multi_class(path, **changes):
    codes, x = rings(np.random.default_rng(0), 150, 3)
    pixels = np.round(20 * (x - x.min())).astype(np.uint8)
    arrays = {"x_train": pixels[:90], "y_train": codes[:90] + 1, "x_test": pixels[90:], "y_test": codes[90:] + 1}
    np.savez_compressed(path, **(arrays | changes))


def save_split(path):
    """Two rings in given training and test parts."""
    codes, x = rings(np.random.default_rng(0), 350)
    np.savez_compressed(path, x_train=x[:250], y_train=codes[:250], x_test=x[250:], y_test=codes[250:])


def save_images(path):
    """Bars of 16 x 16 pixels in three directions, shifted and noisy."""
    random = np.random.default_rng(0)
    codes = np.arange(150) % 3
    images = random.integers(0, 40, (150, 16, 16))
    for image, code, place in zip(images, codes, random.integers(4, 12, 150), strict=True):
        rows, columns = ((place, np.arange(16)), (np.arange(16), place), (np.arange(16), np.arange(16)))[code]
        image[rows, columns] += 200
    pixels = images.reshape(150, 256).astype(np.uint8)
    np.savez_compressed(path, x_train=pixels[:90], y_train=codes[:90], x_test=pixels[90:], y_test=codes[90:])


def save_regression(path, n=520):
    random = np.random.default_rng(0)
    x = np.column_stack([random.uniform(0, 9, n), random.normal(5, 2, n), np.arange(n) % 2])
    np.savez_compressed(path, x=x, y=np.sin(x[:, 0]) + x[:, 2] + random.normal(0, 0.1, n))


def save_adult(path):
    """Rings, with two categories of three values, of which every tenth sample lacks one."""
    codes, x = rings(np.random.default_rng(0), 200)
    categories = np.column_stack([np.arange(200) % 3, np.arange(200) // 7 % 3]).astype(np.int8)
    categories[::10, 1] = -1
    halves = {"train": slice(0, 120), "test": slice(120, 200)}
    arrays = {"x_num": np.round(10 * x).astype(np.int32), "x_cat": categories, "y": (2 * codes - 1).astype(np.int8)}
    parts = {f"{name}_{part}": values[rows] for name, values in arrays.items() for part, rows in halves.items()}
    np.savez_compressed(path, **parts)
