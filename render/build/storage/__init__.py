"""The cache of what was made, which users know as the store."""
