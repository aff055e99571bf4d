"""The parts of the settings: the environment, checks, logging, the look of the admin, content security policies."""
