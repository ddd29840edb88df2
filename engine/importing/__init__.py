"""Models trained elsewhere, brought in from the files that PyTorch and its friends write."""
