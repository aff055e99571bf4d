"""Who does the background work: signs of life of workers and beat, and what waits in the queues."""
