"""Grapheme-to-phoneme conversion with joint-sequence n-grams (Bisani and Ney 2008; Novak et al. 2012).

A dictionary is aligned by expectation maximization: every entry becomes a sequence of graphones, pairs of a few letters
and a few phones. An n-gram of graphones then gives the best pronunciations of new words.
"""
