"""Speed compared with named peers: `python -m benchmarks.NAME` prints ratios measured in one run."""
