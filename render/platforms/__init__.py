"""A folder ready to upload: what each platform takes (``rules``), what the files are (``facts``),
whether the two fit (``checks``), and the folder itself (``folder``).
"""
