"""REST, under `/api/v1/`: what portals are promised. No models of its own."""
