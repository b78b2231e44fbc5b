"""Real bugs of real projects, and what the scripted model makes of them.

A scenario is a folder of data: `scenario.yaml`, `issue.md`, `patches/`, `reproductions/`. The
project itself comes as a source distribution from the package index, checked by its sha256.
"""
