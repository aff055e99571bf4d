"""idcsched picks the data centre (IDC) of a region in which ordered machines should stand, and says why."""

__all__ = ["__version__"]
__version__ = "0.1.0"
