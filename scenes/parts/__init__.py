"""The visual vocabulary: what scenes are made of, a module for each kind of thing."""
