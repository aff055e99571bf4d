"""The console at `/console/`: pages that show the fleet, explain decisions, and try orders and profiles."""
