"""The course page as a SCORM 1.2 package, which every course platform imports.

The page knows nothing of SCORM: ``files/scorm.js`` uses its hook, ``window.lecture``.
"""
