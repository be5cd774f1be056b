"""Speed, memory and error of the sparse kernel learners compared with named peers, in one run."""
