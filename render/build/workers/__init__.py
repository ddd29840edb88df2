"""The processes, here or on a cluster, in which makers run."""
