"""The kinds of providers that come with the product, one file each."""
