"""Sentences and numbers in the language of the reader."""
