"""Speed, memory and error of the sparse kernel learners beside named peers, in one run."""
