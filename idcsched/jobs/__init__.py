"""The background work: its schedule, the embedded broker, heartbeats of workers and beat, and queue depths."""
