"""Assignments of many orders at once: which order should go where, so that all of them together cost least."""
