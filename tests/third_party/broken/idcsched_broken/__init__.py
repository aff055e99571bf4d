"""Mistakes that a third party's distribution may make, one in each module."""
