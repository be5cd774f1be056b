"""Recipes: one script per corpus, from its files to a table of word error rates."""
