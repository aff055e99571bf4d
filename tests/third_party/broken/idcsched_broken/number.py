"""An entry point that names something else than a plugin."""

ANSWER = 42
