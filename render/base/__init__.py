"""Files, processes, failures and small readers that every room uses."""
