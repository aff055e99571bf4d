"""One file per resource; a view declares, services do."""
