"""Speed beside named peers: `python -m benchmarks.NAME` prints ratios measured in one run."""
