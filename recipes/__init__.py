"""Recipes: one readable script a corpus, from its files to a table of word error rates."""
