"""Readers of corpora in foreign formats, for `asr prepare`: one format a file."""
