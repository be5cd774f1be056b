"""What the learners share: bases, checks, files, threads."""
