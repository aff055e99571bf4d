"""Metrics of IDCs and lines: definitions, latest values, history, bandwidth figures, and the sources they come from."""
