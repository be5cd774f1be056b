"""Resource Management 1: naval commands and questions of about 1000 words, from the discs or from published cepstra."""
