"""What is read: handout, course page, SCORM package, descriptions."""
