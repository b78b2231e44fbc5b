"""Searching one commit: the tools of SWE-Adept's Table 9, as functions (method.md §4.2, §4.5)."""

from pipeline.index.search.search import CodeSearch
from pipeline.index.search.values import Edges, FileHit, Found, Hit, NotFound

__all__ = ["CodeSearch", "Edges", "FileHit", "Found", "Hit", "NotFound"]
