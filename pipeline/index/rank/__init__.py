"""Ranking files and functions for an issue: no model, no network, only the index and git's log.

`rank.rank` is the entry; every signal is one small module, all weights stand in `weights.py`.
"""
