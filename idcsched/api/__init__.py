"""The REST API under `/api/v1/`, without models of its own."""
