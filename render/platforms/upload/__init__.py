"""Sending a published folder to a platform that takes files from programs."""
