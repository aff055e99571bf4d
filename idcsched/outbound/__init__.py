"""The one HTTP client that leaves the house.

Whoever wants something of the outside asks here: every call has a deadline, a bounded reply, hosts that it may go to
and no others, and a breaker that lets a host rest which keeps failing. Nothing here knows what is asked, or why.
"""
