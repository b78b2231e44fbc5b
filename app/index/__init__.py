"""`prism index` and the index of a run: where a repository's store is, and how it is opened."""
