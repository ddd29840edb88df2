"""The commands whose results are for others: what to read aloud, handout, page, platforms."""
