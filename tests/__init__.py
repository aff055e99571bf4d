"""The tests mirror the packages; `make test` runs all of them."""
