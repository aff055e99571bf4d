"""Bandwidth figures computed from history, and the bills and forecasts that follow from them."""
