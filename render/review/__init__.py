"""What is looked at before publishing: audit, contact sheets, comparison of weights."""
