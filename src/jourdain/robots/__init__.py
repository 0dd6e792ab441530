"""Robots from URDF and MJCF files, payloads, scenes: mechanisms with a tree of joints."""
