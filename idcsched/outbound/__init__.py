"""The one HTTP client for calls to other systems.

Every call has a deadline, a limit on the size of the reply, a list of allowed hosts, and a circuit breaker that stops
calls to a host which keeps failing. Nothing here depends on what is called, or why.
"""
