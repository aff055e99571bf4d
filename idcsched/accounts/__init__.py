"""Tenants, users with their roles, API tokens, and what each of them may do."""
