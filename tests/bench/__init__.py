"""Measurements are code too."""
