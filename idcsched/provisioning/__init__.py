"""Provisioning: the providers, the drivers that call them, and the tending of the machines that placements ask for."""
