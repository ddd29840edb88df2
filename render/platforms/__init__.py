"""A folder ready to upload (``folder``), what platforms take (``rules``), and the uploads."""
