"""The store of the index: one SQLite file beside a repository's mirror, keyed by blob id.

Source text is not kept here: it is in git. `open_index` gives the view of one built commit.
"""

from pipeline.index.store.schema import store_file
from pipeline.index.store.view import FileRow, Index, open_index

__all__ = ["FileRow", "Index", "open_index", "store_file"]
