"""The voice of the lecture: what is said, by whom, how loud."""
