"""What a third party's distribution may get wrong, one way a module."""
