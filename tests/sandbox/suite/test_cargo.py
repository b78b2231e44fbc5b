"""Cargo's text, whole, broken and forged, and the lines that make it."""

import pytest

from sandbox.suite.cargo import cargo_line, parse_cargo
from sandbox.suite.report import ReportInvalid

# As cargo 1.96 prints it, with one test thread in the second binary and an abort in the third.
HONEST = """\
   Compiling shop v1.0.0 (/workspace)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 3.44s
     Running unittests src/lib.rs (target/debug/deps/shop-8c4cd90d7d8bc85d)

running 5 tests
test tests::exchange ... ignored, rates are not known yet
test tests::refuses ... ok
test tests::one_decimal ... FAILED
test tests::whole_euros ... ok
test tests::too_much - should panic ... ok

failures:

---- tests::one_decimal stdout ----

thread 'tests::one_decimal' (195) panicked at src/lib.rs:39:9:
assertion `left == right` failed
  left: Some(1203)
 right: Some(1230)


failures:
    tests::one_decimal

test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
     Running tests/cart.rs (target/debug/deps/cart-550223be9b036f98)

running 3 tests
test adds_up ... ok
test needs_every_amount ... ok
test speaks_past_the_harness ... a line of the program itself
ok

test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/crash.rs (target/debug/deps/crash-7b6e6be3c64a5135)

running 2 tests
test fine ... ok
error: test failed, to rerun pass `--test crash`

Caused by:
  process didn't exit successfully: `/w/target/debug/deps/crash-7b6e` (signal: 6, SIGABRT)
   Doc-tests shop

running 1 test
test src/lib.rs - (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s

error: 2 targets failed:
    `--lib`
    `--test crash`
"""
RESULT = "test result: ok. {} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
START = "     Running tests/a.rs (target/debug/deps/a-0123456789abcdef)\n\n"


def test_ids_and_statuses() -> None:
    """Tests are named by crate and path; a binary that went away is an error of its crate."""
    assert parse_cargo(HONEST.encode()) == {
        "shop::tests::exchange": "skip",
        "shop::tests::refuses": "pass",
        "shop::tests::one_decimal": "fail",
        "shop::tests::whole_euros": "pass",
        "shop::tests::too_much": "pass",
        "cart::adds_up": "pass",
        "cart::needs_every_amount": "pass",
        "cart::speaks_past_the_harness": "pass",
        "crash::fine": "pass",
        "crash": "error",
        "shop::src/lib.rs -": "pass",
    }


@pytest.mark.parametrize("line", range(5, 66))
def test_cut_text_never_gains_a_pass(line: int) -> None:
    """Text that ends early is refused inside a binary, and says no more than the whole else."""
    whole = parse_cargo(HONEST.encode())
    cut = "".join(HONEST.splitlines(keepends=True)[:line])
    try:
        results = parse_cargo(cut.encode())
    except ReportInvalid:
        return
    assert results.items() <= whole.items()


@pytest.mark.parametrize(
    "text",
    [
        START + "running 2 tests\ntest a ... ok\n" + RESULT.format(2),
        START + "running 1 test\ntest a ... ok\ntest forged ... ok\n" + RESULT.format(1),
        START + "running 2 tests\ntest a ... ok\ntest forged ... ok\n" + RESULT.format(1),
        START + "running 1 test\ntest a ... oktest b ... \n" + RESULT.format(1),
        START + "running 1 test\n" + RESULT.format(1),
        START + "running 1 test\ntest a ... ok\n",
    ],
)
def test_counts_must_agree(text: str) -> None:
    """What a binary announced, what its lines say and its result are the same, or none counts."""
    with pytest.raises(ReportInvalid):
        parse_cargo(text.encode())


def test_nothing_built_is_nothing() -> None:
    """A crate that does not compile has no tests; only the exit code tells."""
    assert parse_cargo(b"error[E0425]: cannot find value\nerror: could not compile `shop`\n") == {}


def test_time_is_linear() -> None:
    """Long lines of marks cost no more than their length."""
    text = START + "running 1 test\ntest a ... " + "ok ... " * 200_000 + "\n"
    with pytest.raises(ReportInvalid):
        parse_cargo(text.encode())


@pytest.mark.parametrize(
    ("test", "targets", "line"),
    [
        ("cargo test --offline", (), "{ cargo test --no-fail-fast --offline ; } > /r 2>&1"),
        ("cargo test -q", (), "{ cargo test --no-fail-fast ; } > /r 2>&1"),
        (
            "cargo test",
            ("shop::tests::a", "shop::b c"),
            "code=0 ; { cargo test --workspace --offline --no-fail-fast -- "
            "--exact tests::a 'b c' || code=$? ; } > /r 2>&1 ; exit $code",
        ),
        (
            "cargo test",
            ("lib/tests/api.rs", "src/a/b.rs", "src/lib.rs"),
            "code=0 ; { cargo test --workspace --offline --no-fail-fast --test api || code=$? ; "
            "cargo test --workspace --offline --no-fail-fast a::b:: || code=$? ; "
            "cargo test --workspace --offline --no-fail-fast --lib || code=$? ; "
            "} > /r 2>&1 ; exit $code",
        ),
    ],
)
def test_lines(test: str, targets: tuple[str, ...], line: str) -> None:
    """All binaries run and speak in full; targets are binaries, modules or exact names."""
    assert cargo_line(test, targets, "/r") == line
