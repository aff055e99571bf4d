"""The decision: which IDC, and why. Python, NumPy and msgspec alone; no Django, no I/O, no clock.

Start reading at `cycle.py`.
"""
