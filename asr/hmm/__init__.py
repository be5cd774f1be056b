"""Hidden Markov models of phones: which states there are, how they follow each other, and the graphs built of them."""
