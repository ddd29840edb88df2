"""Videos: pictures, mux, check, timed text, captions."""
