"""The list of jobs on a Dask cluster (docs/cluster.md); needs the extra ``cluster``.

``connect`` reaches or starts the cluster, ``farm`` gives its workers scenes to render, ``work`` is
what runs on them, ``fingerprint`` tells whether they would render just what this machine would.
"""
