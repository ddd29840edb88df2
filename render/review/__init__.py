"""For inspection before publishing: audit, contact sheets, comparison of weights."""
