"""How often the index finds the place of a fix, beside plain BM25.

    python bench/localization.py --instances FILE --repos DIR [--split Lite] [--json]
        [--by-repo] [--ablation] [--cache DIR] [--processes 2]

FILE is JSON lines (gzipped or not) with issues and their known places, DIR holds bare mirrors
named `owner__name.git`; instances without a mirror or commit are skipped and counted. The index
goes to the cache: a first run parses every version of every file, later ones take minutes.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.finding import Outcome, find_all
from bench.instances import Instance, read

FILE_AT = (1, 3, 5, 10)
FUNCTION_AT = (1, 5, 10)


def measured(
    instances: Sequence[Instance], repos: Path, cache: Path, processes: int, ablation: bool
) -> list[Outcome]:
    """The outcome of every instance that could be tried, one process for each repository."""
    groups: dict[str, list[Instance]] = {}
    for each in instances:
        groups.setdefault(each.repository, []).append(each)
    ordered = sorted(groups.values(), key=len, reverse=True)
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(processes) as pool:
        running = [pool.submit(find_all, group, repos, cache, ablation) for group in ordered]
        for done in as_completed(running):
            outcomes += done.result()
            print(f"{len(outcomes)} of {len(instances)} instances", file=sys.stderr)
    return outcomes


def percents(outcomes: Iterable[Outcome], way: str) -> dict[str, float | None]:
    """All measures of one way of ranking, in percent; None where there is nothing to count."""
    tried = [each for each in outcomes if way in each.ranks]
    having = [each for each in tried if each.functions]
    found: dict[str, float | None] = {}
    for limit in FILE_AT:
        found[f"file@{limit}"] = _percent([each.ranks[way].file <= limit for each in tried])
    for name in ("any", "all"):
        for limit in FUNCTION_AT:
            ranks = [getattr(each.ranks[way], f"function_{name}") for each in having]
            found[f"function_{name}@{limit}"] = _percent([rank <= limit for rank in ranks])
    for limit in FUNCTION_AT:
        strict = [each.ranks[way].strict <= limit for each in tried]
        found[f"function_strict@{limit}"] = _percent(strict)
    return found


def _percent(hits: Sequence[bool]) -> float | None:
    return round(100 * sum(hits) / len(hits), 1) if hits else None


def summary(outcomes: Sequence[Outcome], skipped: Mapping[str, int]) -> dict[str, object]:
    """What `--json` prints."""
    seconds = sorted(each.seconds for each in outcomes)
    return {
        "n": len(outcomes),
        "n_with_function": sum(bool(each.functions) for each in outcomes),
        "skipped": dict(skipped),
        "prism": percents(outcomes, "prism"),
        "bm25": percents(outcomes, "bm25"),
        "rank_ms_p50": _milliseconds(seconds, 0.5),
        "rank_ms_p95": _milliseconds(seconds, 0.95),
    }


def _milliseconds(seconds: Sequence[float], share: float) -> float | None:
    return round(1000 * seconds[int(share * (len(seconds) - 1))], 1) if seconds else None


def table(outcomes: Sequence[Outcome]) -> str:
    """Prism and BM25 side by side, in Markdown."""
    rows = {way: percents(outcomes, way) for way in ("prism", "bm25")}
    lines = ["| measure | Prism | BM25 |", "| --- | --- | --- |"]
    lines += [f"| {name} | {rows['prism'][name]} | {rows['bm25'][name]} |" for name in rows["bm25"]]
    return "\n".join(lines)


def by_repository(outcomes: Sequence[Outcome]) -> str:
    """file@3 and function_all@5 of each repository, in Markdown."""
    lines = [
        "| repository | n | file@3 | BM25 | function_all@5 | BM25 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, count in Counter(each.repository for each in outcomes).most_common():
        own = [each for each in outcomes if each.repository == name]
        prism, bm25 = percents(own, "prism"), percents(own, "bm25")
        values = [each[key] for key in ("file@3", "function_all@5") for each in (prism, bm25)]
        lines.append(f"| {name} | {count} | " + " | ".join(map(str, values)) + " |")
    return "\n".join(lines)


def ablation_table(outcomes: Sequence[Outcome]) -> str:
    """What each signal adds: alone, and what is lost without it, in Markdown."""
    ways = sorted({way for each in outcomes for way in each.ranks} - {"bm25"})
    shown = ("file@1", "file@3", "file@5", "function_any@5", "function_all@5")
    lines = ["| signals | " + " | ".join(shown) + " |", "| --- " * (len(shown) + 1) + "|"]
    for way in sorted(ways, key=lambda way: (way != "prism", way)):
        values = percents(outcomes, way)
        lines.append(f"| {way} | " + " | ".join(str(values[name]) for name in shown) + " |")
    return "\n".join(lines)


def split_missing(
    instances: Sequence[Instance], repos: Path
) -> tuple[list[Instance], Counter[str]]:
    """Those whose mirror is there, and how many instances of each other repository there are."""
    there = [each for each in instances if (repos / mirror_name(each.repository)).is_dir()]
    return there, Counter(each.repository for each in instances if each not in there)


def mirror_name(repository: str) -> str:
    """The folder of a mirror: `owner__name.git`."""
    return repository.replace("/", "__") + ".git"


def main() -> None:
    """Measure and print; the exit code is 1 when no instance could be tried."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--instances", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--split", default="")
    parser.add_argument("--cache", type=Path, help="folder of the index, kept between runs")
    parser.add_argument("--processes", type=int, default=2)
    for name in ("json", "by-repo", "ablation"):
        parser.add_argument(f"--{name}", action="store_true")
    given = parser.parse_args()
    cache = given.cache or Path(tempfile.gettempdir()) / "prism-bench-localization"
    there, skipped = split_missing(read(given.instances, given.split), given.repos)
    outcomes = measured(there, given.repos, cache, given.processes, given.ablation)
    lost = Counter(each.repository for each in there)
    lost.subtract(each.repository for each in outcomes)
    skipped += +lost
    report(outcomes, skipped, given)
    sys.exit(0 if outcomes else 1)


def report(outcomes: Sequence[Outcome], skipped: Counter[str], given: argparse.Namespace) -> None:
    """JSON alone, or tables."""
    for name, count in skipped.items():
        print(f"{name}: {count} instances skipped, no mirror or commit", file=sys.stderr)
    if given.json:
        print(json.dumps(summary(outcomes, skipped), indent=2))
        return
    having = sum(bool(each.functions) for each in outcomes)
    print(f"{len(outcomes)} instances, {having} of them with a known function\n")
    print(table(outcomes))
    if outcomes:
        middle = statistics.median(each.seconds for each in outcomes)
        slow = summary(outcomes, {})["rank_ms_p95"]
        print(f"\nrank: median {1000 * middle:.0f} ms, 95 of 100 within {slow} ms")
    if given.by_repo:
        print("\n" + by_repository(outcomes))
    if given.ablation:
        print("\n" + ablation_table(outcomes))


if __name__ == "__main__":
    main()
