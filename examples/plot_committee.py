"""Committees of least-squares support vector machines: many small machines instead of one.

    python examples/plot_committee.py [--samples N] [--draws N] [--output-dir DIR]

The data are the sinc of figures 6.9 to 6.14 of Suykens et al. (2002): 4000 samples on (-10, 10) with noise of standard
deviation 0.1 or 3. They are fitted by one machine, and by 4 or 40 on as many parts, with outputs weighted in three
ways. Errors are the root mean squares against the noise-free curve, averaged over the draws. Writes `committee.png`.
"""

import time
from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

from discriminants import CommitteeRegressor, LSSVMRegressor

WEIGHTINGS = ("nonnegative", "optimal", "equal")
SIZES = (4, 40)


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument("--samples", type=int, default=4000, help="number of training samples (default: 4000)")
    command_line.add_argument("--draws", type=int, default=3, help="number of draws of the samples (default: 3)")
    options = command_line.parse_args(arguments)

    grid = np.linspace(-10, 10, 500)[:, None]
    truth = np.sinc(grid[:, 0] / np.pi)
    machine = LSSVMRegressor(sigma=np.sqrt(2.5), regularization=1.0)
    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, noise in zip(figure.subplots(1, 2), (0.1, 3.0), strict=True):
        ways = {"one machine": machine} | {
            f"{size} members, {weighting}": CommitteeRegressor(machine, size, weighting=weighting, random_state=0)
            for size in SIZES
            for weighting in WEIGHTINGS
        }
        errors, seconds = np.empty((len(ways), options.draws)), np.empty((len(ways), options.draws))
        for draw in range(options.draws):
            random = np.random.default_rng(draw)
            x = random.uniform(-10, 10, options.samples)
            y = np.sinc(x / np.pi) + noise * random.normal(size=options.samples)
            for number, model in enumerate(ways.values()):
                start = time.perf_counter()
                model.fit(x[:, None], y)
                seconds[number, draw] = time.perf_counter() - start
                errors[number, draw] = rmse(model.predict(grid), truth)
        for name, error, time_taken in zip(ways, errors.mean(axis=1), seconds.mean(axis=1), strict=True):
            print(f"noise {noise}, {name}: error {error:.4f}, {time_taken:.2f} s")
        axes.barh(list(ways), errors.mean(axis=1))
        axes.invert_yaxis()
        axes.set(title=f"noise {noise}", xlabel="RMSE")
    save(figure, options.output_dir, "committee.png")


if __name__ == "__main__":
    main()
