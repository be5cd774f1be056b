"""The search: lexicon and grammar compiled to one graph of HMM states, and its best path."""
