"""Tests of the programs in `bench/`, which measure performance."""
