"""How often the chosen patch is right: the product's vote beside other rules, in one run.

    python bench/voting.py --pool FILE [--draws FILE] [--repos DIR] [--json]

A pool is a JSON-lines file of candidate patches with their outcome; draws are fixed samples of the
candidates of each instance, and a rule's figure is the mean over them. `--repos` holds bare
mirrors `owner__name.git`, from which base texts are read; without one a patch counts by what it
says alone. Ties are expectations. Figures are percent.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean, stdev
from typing import Any

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.vote_confidence import (
    Draws,
    calibrated,
    choices,
    first_of,
    out_of_fold,
    resolved_by,
    shuffled,
    stopping,
)
from bench.vote_pool import read_pool
from bench.vote_rules import RULES, Pool, Rule, soft

Json = Any
SHUFFLES = 5


def main() -> None:
    """Run the benchmark and print its table or its JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pool", type=Path, required=True, help="JSON lines, gzipped or not")
    parser.add_argument("--draws", type=Path, help="JSON: instance to lists of candidate numbers")
    parser.add_argument("--repos", type=Path, help="folder of bare mirrors owner__name.git")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    pools = [Pool(each) for each in read_pool(args.pool, args.repos)]
    given = json.loads(args.draws.read_text()) if args.draws else {}
    report = measured(pools, draws_of(pools, given))
    print(json.dumps(report, indent=1) if args.json else table(report))


def draws_of(pools: Sequence[Pool], given: Mapping[str, Sequence[Sequence[int]]]) -> Draws:
    """The draws of each instance; all of its candidates where none is given."""
    found = {}
    for pool in pools:
        voters = pool.instance.voters
        drawn = given.get(pool.instance.name) or [list(voters)]
        found[pool.instance.name] = [[n for n in one if n in voters] for one in drawn]
    return found


def measured(pools: Sequence[Pool], draws: Draws) -> Json:
    """Everything the benchmark says, as JSON."""
    rates = {name: rate(pools, draws, rule) for name, rule in RULES.items()}
    oracle = [
        mean(bool(pool.instance.resolved & set(one)) for one in draws[pool.instance.name])
        for pool in pools
    ]
    trust = calibrated(out_of_fold(choices(pools, draws)))
    six = first_of(draws, 6)
    stop = stopping(pools, draws)
    again = [
        mean(rate([shuffled(pool, seed) for pool in pools], draws, soft))
        for seed in range(SHUFFLES)
    ]
    percents = {name: _percent(mean(values)) for name, values in rates.items()}
    wanted = ("prism", "random_static", "majority_ast", "majority_text", "trae_text", "medoid")
    return {
        "n": len(pools),
        "rules": {**{name: percents[name] for name in wanted}, "oracle": _percent(mean(oracle))},
        "ece": round(trust.ece, 4),
        "brier": round(trust.brier, 4),
        "auroc": round(trust.auroc, 4),
        "surest": {name: round(value, 1) for name, value in trust.surest.items()},
        "ece_interval": [round(end, 4) for end in trust.ece_interval],
        "brier_constant": round(trust.brier_constant, 4),
        "other_rules": {name: percents[name] for name in percents if name not in wanted},
        "against": {
            name: _paired(rates["prism"], rates[name]) for name in rates if name != "prism"
        },
        "control": {"shuffled_letters": _percent(mean(again))},
        "identity": identity(pools),
        "effort": {
            "six_soft": _percent(mean(rate(pools, six, soft))),
            "six_majority": _percent(mean(rate(pools, six, RULES["majority_ast"]))),
            "twelve_majority": percents["majority_ast"],
            "stop_used_of_12": round(stop.used, 2),
            "stop_resolved": round(stop.resolved, 2),
            "stop_loss": round(stop.whole - stop.resolved, 2),
        },
    }


def rate(pools: Sequence[Pool], draws: Draws, rule: Rule) -> list[float]:
    """How often a rule is right on each instance, the mean over its draws."""
    return [
        mean(resolved_by(rule, pool, one) for one in draws[pool.instance.name]) for pool in pools
    ]


def identity(pools: Sequence[Pool]) -> Json:
    """Equal pairs by abstract syntax and by the product's key; of each the percent of one label."""
    by_syntax, by_key, only_key = list[bool](), list[bool](), list[bool]()
    for pool in pools:
        solved = pool.instance.resolved
        for one, other in combinations(pool.valid(pool.instance.voters), 2):
            same = (one.number in solved) == (other.number in solved)
            if one.ast == other.ast:
                by_syntax.append(same)
            if one.edit.key == other.edit.key:
                by_key.append(same)
                only_key += [same] if one.ast != other.ast else []
    named = {"equal_by_syntax": by_syntax, "equal_by_key": by_key, "by_key_alone": only_key}
    return {
        name: {"pairs": len(found), "same_label": _percent(mean(found)) if found else None}
        for name, found in named.items()
    }


def _percent(value: float) -> float:
    return round(100 * value, 2)


def _paired(ours: Sequence[float], theirs: Sequence[float]) -> Json:
    """The mean difference over instances and its standard error."""
    gaps = [100 * (a - b) for a, b in zip(ours, theirs, strict=True)]
    error = stdev(gaps) / len(gaps) ** 0.5 if len(gaps) > 1 else 0.0
    return {"difference": round(mean(gaps), 2), "standard_error": round(error, 2)}


def table(report: Json) -> str:
    """The report for people."""
    lines = [f"{report['n']} instances", "", f"{'rule':<24}{'resolved':>9}{'ours better by':>18}"]
    for name, value in {**report["rules"], **report["other_rules"]}.items():
        gap = report["against"].get(name)
        text = f"{gap['difference']:+.1f} ± {gap['standard_error']:.1f}" if gap else ""
        lines.append(f"{name:<24}{value:>9.1f}{text:>18}")
    low, high = report["ece_interval"]
    effort, sure = report["effort"], report["surest"]
    return "\n".join(
        [
            *lines,
            f"{'source letters shuffled':<24}{report['control']['shuffled_letters']:>9.1f}",
            "",
            f"confidence, out of fold: ECE {report['ece']:.3f} (90 % {low:.3f} to {high:.3f}), "
            f"Brier {report['brier']:.3f} (a constant {report['brier_constant']:.3f}), "
            f"AUROC {report['auroc']:.2f}",
            "surest " + ", ".join(f"{share} %: {value:.1f}" for share, value in sure.items()),
            "equal pairs (same label): "
            + ", ".join(
                f"{name.replace('_', ' ')} {found['pairs']} ({found['same_label']} %)"
                for name, found in report["identity"].items()
            ),
            f"six candidates: soft {effort['six_soft']:.1f}, majority {effort['six_majority']:.1f}"
            f"; twelve under majority {effort['twelve_majority']:.1f}",
            f"stop when two lineages agree: {effort['stop_used_of_12']:.1f} of 12 used, "
            f"{effort['stop_loss']:.2f} points lost",
        ]
    )


if __name__ == "__main__":
    main()
