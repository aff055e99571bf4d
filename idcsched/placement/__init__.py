"""Placements, the orders that hold capacity or wait for it: their life, their machines and their callbacks."""
