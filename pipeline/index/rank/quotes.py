"""Messages that the issue quotes: fixed parts of string literals found in its text."""

import numpy as np
import numpy.typing as npt

from pipeline.index.rank.arrays import Arrays
from pipeline.index.rank.tokens import number

Floats = npt.NDArray[np.float64]


def quotes(arrays: Arrays, folded: str) -> tuple[Floats, Floats]:
    """Files and units by quoted pieces: min(length / 30, 2) / files that hold the piece.

    Only pieces whose longest word stands in the issue are looked for.
    """
    file_value, unit_value = np.zeros(len(arrays.paths)), np.zeros(len(arrays.names))
    words = np.array(sorted({number(word) for word in folded.split()}), np.uint32)
    found: dict[str, set[int]] = {}
    for at in np.flatnonzero(np.isin(arrays.piece_words, words)):
        if arrays.pieces[at] in folded:
            found.setdefault(arrays.pieces[at], set()).add(int(arrays.piece_units[at]))
    for piece, units in found.items():
        files = {int(arrays.file_of[unit]) for unit in units}
        value = min(len(piece) / 30, 2) / len(files)
        for file in files:
            file_value[file] += value
        for unit in units:
            unit_value[unit] += value
    return file_value, unit_value
