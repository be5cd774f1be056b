"""Hidden Markov models of phones: states, topology, and graphs of them."""
