"""Laws of the bounded output."""

from hypothesis import given
from hypothesis import strategies as st

from sandbox.output import CappedOutput

pieces = st.lists(st.binary(max_size=40), max_size=20)


@given(chunks=pieces, limit=st.integers(0, 60))
def test_keeps_both_ends(chunks: list[bytes], limit: int) -> None:
    """However the stream is cut into pieces, the first half and the last are kept."""
    output = CappedOutput(limit)
    for chunk in chunks:
        output.feed(chunk)
    whole = b"".join(chunks)
    if len(whole) <= limit:
        assert output.value() == whole
        assert output.dropped == 0
    else:
        head, tail = limit - limit // 2, limit // 2
        assert output.dropped == len(whole) - limit
        assert output.value().startswith(whole[:head] + b"\n[")
        assert output.value().endswith(b"]\n" + whole[len(whole) - tail :])


def test_memory_stays_bounded() -> None:
    """A long stream of small pieces does not pile up."""
    output = CappedOutput(1000)
    for _ in range(20_000):
        output.feed(b"0123456789")
    assert len(output.value()) < 1100
    assert len(output._tail) <= 60
