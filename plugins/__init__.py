"""The built-in scheduling plugins, one file each. The registry finds them by name; nothing imports them."""
