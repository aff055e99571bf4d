"""Who may do what: tenants, users with their roles, API tokens."""
