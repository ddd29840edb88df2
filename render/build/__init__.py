"""What is wanted, what it is made of, whether it is up to date, and making it."""
