"""Caps hold before a patch is read, whatever it declares."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.patch.limits import MAX_BYTES, MAX_DECLARED, declared_bytes, over_limit
from sandbox.patch.patch import combine, parse


def binary(*sizes: str) -> str:
    """A patch with one binary file of each declared size."""
    head = "diff --git a/{0} b/{0}\nnew file mode 100644\nindex 0000000..1111111\n"
    body = "GIT binary patch\nliteral {1}\nHcmV?d00001\n\n"
    return "".join((head + body).format(f"f{n}", size) for n, size in enumerate(sizes))


@pytest.mark.parametrize(
    ("sizes", "total"),
    [
        ((), 0),
        (("10", "20"), 30),
        (("629145600",), 629_145_600),
        (("0000000000000000000000000007",), 7),
        (("9" * 19,), 10**18),
        (("9" * 100_000,), 10**18),
        (("400000", "400000", "400000"), 1_200_000),
    ],
)
def test_declared_sizes_are_added_up(sizes: tuple[str, ...], total: int) -> None:
    """A bomb is known by what it says, also split over files and in numbers without end."""
    patch = binary(*sizes)
    assert declared_bytes(patch) == total
    assert ("binary data" in over_limit(patch)) == (total > MAX_DECLARED)
    assert declared_bytes(patch.replace("literal", "delta")) == total


@pytest.mark.parametrize(
    ("patch", "rule"),
    [
        ("x" * (MAX_BYTES + 1), "256 KB"),
        ("é" * (MAX_BYTES // 2 + 1), "256 KB"),
        ("\n" * 20_001, "20000 lines"),
        (combine("", {f"f{n}": "" for n in range(101)}), "more than 100 files"),
        ("diff --git a/\udcff b/\udcff\n", "UTF-8"),
    ],
)
def test_what_is_over_a_cap_is_not_read(patch: str, rule: str) -> None:
    """Each cap names itself."""
    assert rule in over_limit(patch)


def test_what_is_within_the_caps() -> None:
    """A patch of exactly as many files, lines and bytes as are allowed is read."""
    assert over_limit("") == over_limit(combine("", {f"f{n}": "" for n in range(100)})) == ""
    assert over_limit("\n" * 20_000) == over_limit("x" * MAX_BYTES) == ""


@given(st.text() | st.text("literal dt0123456789\n"))
def test_any_text_is_measured(text: str) -> None:
    """No input makes the caps fail."""
    assert declared_bytes(text) >= 0
    assert isinstance(over_limit(text), str)


@pytest.mark.parametrize(
    "seed",
    ["diff --git ", "diff --git a/x b/x\n", "\nliteral 1", "@@ -1 +1 @@\n", "literal 0\n\n", '"\\'],
)
def test_reading_is_linear(seed: str) -> None:
    """Twice the text takes about twice the time, with room for a busy machine."""

    def cost(size: int) -> float:
        text = "diff --git a/x b/x\nnew file mode 100644\n" + seed * (size // len(seed)) + "\n"
        start = time.process_time()
        declared_bytes(text)
        with contextlib.suppress(ValueError):
            parse(text)
        return time.process_time() - start

    assert cost(4_000_000) < 16 * max(cost(500_000), 0.02) + 0.5
