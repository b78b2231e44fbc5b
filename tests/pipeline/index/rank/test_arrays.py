"""What ranking works on, laid out from counts as the store keeps them."""

import numpy as np

from pipeline.index.parse import parse
from pipeline.index.rank.arrays import arrays
from pipeline.index.rank.counts import counts, pack, unpack


def test_a_large_commit_is_laid_out_from_kept_counts() -> None:
    """Kept counts are in 16 bits where they can be; the units of a commit are more."""
    text = "".join(f"def f{n}():\n    return g{n}('name {n}')\n" for n in range(100))
    made = counts(parse("m.py", text.encode()), text)
    paths = [f"m{n}.py" for n in range(700)]
    new, kept = (
        arrays(paths, ["python"] * 700, [each] * 700) for each in (made, unpack(pack(made)))
    )
    assert len(new.names) > 65_536
    for field in ("units", "text", "unit_names"):
        ours, theirs = getattr(new, field), getattr(kept, field)
        assert np.array_equal(ours.documents, theirs.documents)
        assert np.array_equal(ours.impacts, theirs.impacts)
    assert np.array_equal(new.piece_units, kept.piece_units)
