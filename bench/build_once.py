"""One full build in a process of its own: `python -m bench.build_once MIRROR COMMIT STORE`.

Prints seconds, files, bytes and the most memory that it and its parsers held, as JSON.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

from app.github.mirror import Mirror
from app.github.objects import MirrorObjects
from pipeline.index.build import build
from pipeline.index.graph import build_graph
from pipeline.index.store import open_index
from pipeline.index.workers import end_spare


def main() -> None:
    """Build, open, and relate everything: what the peers call their graph."""
    objects = MirrorObjects(Mirror(Path(sys.argv[1]), "bench"))
    start = time.perf_counter()
    stats = build(objects, sys.argv[2], Path(sys.argv[3]))
    built = time.perf_counter()
    with open_index(Path(sys.argv[3]), stats.commit, objects) as index:
        build_graph(index)
    done = time.perf_counter()
    end_spare()
    own = resource.getrusage(resource.RUSAGE_SELF)
    parsers = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {
        "parse_s": built - start,
        "seconds": done - start,
        "files": stats.parsed,
        "bytes": stats.parsed_bytes,
        "memory_mb": (own.ru_maxrss + (os.cpu_count() or 1) * parsers.ru_maxrss) / 1000,
        "cpu_s": own.ru_utime + own.ru_stime + parsers.ru_utime + parsers.ru_stime,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
