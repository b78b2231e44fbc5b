"""TAP as tape 5.10 writes it is read by assertion, and only when it is whole."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.suite.report import ReportInvalid
from sandbox.suite.tap import parse_tap, tape_line

WRITTEN = b"""npm output before it
TAP version 13
# adds
ok 1 should be strictly equal
not ok 2 should be strictly equal
  ---
    operator: equal
    stack: |-
      Error: should be strictly equal
  ...
ok 3 named # odd
# SKIP skipped
# TODO later
not ok 4 not yet # TODO
# outer
# inner
ok 5 should be deeply equivalent

1..5
# tests 5
# pass  4
# fail  1
"""


def test_what_tape_writes() -> None:
    """Assertions below their test; equal ones are numbered, expected failures are no failures."""
    assert parse_tap(WRITTEN) == {
        "adds > should be strictly equal": "pass",
        "adds > should be strictly equal #2": "fail",
        "adds > named # odd": "pass",
        "TODO later > not yet": "skip",
        "inner > should be deeply equivalent": "pass",
    }


@pytest.mark.parametrize("end", range(WRITTEN.index(b"ok 5"), WRITTEN.index(b"1..5") + 4))
def test_what_was_cut_off_is_no_verdict(end: int) -> None:
    """Until the plan has been read it is not known what is missing."""
    with pytest.raises(ReportInvalid):
        parse_tap(WRITTEN[:end])


PLANS = (b"1..0", b"1..1", b"1..2", b"1.." + b"9" * 5000, "1..\u0663".encode())
LINE = st.sampled_from([*WRITTEN.splitlines(), *PLANS]) | st.binary(max_size=20)


@given(st.lists(LINE, max_size=12))
def test_any_bytes_are_read_or_refused(lines: list[bytes]) -> None:
    """Nothing but ReportInvalid, and no result without a plan or with more than it planned."""
    data = b"\n".join(lines)
    with suppress(ReportInvalid):
        results = parse_tap(data)
        plans = [int(count) for count in re.findall(rb"1\.\.(\d{1,9})", data)]
        assert len(results) <= max(plans)


def test_lines() -> None:
    """All of the test command, or files alone; the report is the output."""
    assert tape_line("npm run tests", (), "/r") == "{ npm run tests ; } > /r"
    assert tape_line("x", ("a b.js",), "/r") == "{ npx --no-install tape 'a b.js' ; } > /r"
