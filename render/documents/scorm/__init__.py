"""The course page as a SCORM 1.2 package, which every course platform imports.

The page and SCORM know of each other only what stands at the head of ``files/scorm.js``: the page
asks ``window.lectureHost``, if there is one, where to begin, and tells it where it is.
"""
