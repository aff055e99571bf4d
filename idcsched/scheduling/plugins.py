"""The plugins of this process: loaded once, at first use."""

from functools import cache

from idcsched.framework.registry import Registry, load_registry

__all__ = ["registry"]


@cache
def registry() -> Registry:
    return load_registry()
