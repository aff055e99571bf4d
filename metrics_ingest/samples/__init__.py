"""Samples on their way into the tables: checked, put into columns, written in bulk."""
