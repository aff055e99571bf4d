"""What the settings are made of: the environment, checks, logging, the look of the admin, what browsers may load."""
