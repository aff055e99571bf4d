"""Side-by-side measurements that anyone can run: `make bench`, or `python -m bench engine_10k_sql floor`.

Absolute times drift on shared machines, so that every figure is a ratio against something that is measured in the
same run, in turns with it. `rows/` has one file a subject; `peers/` is what we are measured against.
"""
