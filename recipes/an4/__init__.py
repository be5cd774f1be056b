"""AN4 (CMU Census): spelled words, numbers and commands by 74 training and 10 test speakers, from cepstra."""
