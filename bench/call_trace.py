"""A pytest plugin that writes down which function of a package called which; runs in containers.

Stands alone: only the standard library (3.11 or newer). PRISM_CALLS names the folder to watch and
the file to write. Comprehensions and lambdas count as the function around them, an instance that
is made as its class.
"""

import dis
import json
import os
import sys
import threading
from types import CodeType, FrameType

_FOLDER, _, _REPORT = os.environ.get("PRISM_CALLS", "::").partition("::")
_OPTIMISED = 1  # the code of a function; modules and classes lack it

_Place = tuple[str, str]
_places: dict[CodeType, _Place | None] = {}
_by_call: dict[tuple[CodeType, int], bool] = {}
_ran: set[_Place] = set()
_pairs: set[tuple[_Place, _Place, bool]] = set()


def _place(code: CodeType) -> _Place | None:
    """(path, qualified name) of what code belongs to, None outside the folder and for modules."""
    if code not in _places:
        _places[code] = None
        path = os.path.realpath(code.co_filename)
        if path.startswith(_FOLDER + os.sep):
            parts = [p for p in code.co_qualname.split(".") if p != "<locals>"]
            while parts and parts[-1].startswith("<"):
                parts.pop()
            name = ".".join(parts)
            if name and "<" not in name:
                _places[code] = (os.path.relpath(path, _FOLDER), name)
    return _places[code]


def _is_call(frame: FrameType) -> bool:
    """Whether the instruction a frame stands at is a call, not a property or an operator."""
    key = (frame.f_code, frame.f_lasti)
    if key not in _by_call:
        code, at = frame.f_code.co_code, frame.f_lasti
        while at > 0 and dis.opname[code[at]] == "CACHE":  # what follows an instruction
            at -= 2
        _by_call[key] = dis.opname[code[at]].startswith(("CALL", "PRECALL"))
    return _by_call[key]


def _made(frame: FrameType, back: FrameType, place: _Place) -> _Place:
    """The class of an instance that is being made; the class that holds a chained `__init__`."""
    path, name = place
    holder = (path, name.rpartition(".")[0])
    code = frame.f_code
    first = frame.f_locals.get(code.co_varnames[0]) if code.co_varnames else None
    above = back.f_code
    chained = above.co_name == code.co_name and above.co_varnames
    if chained and back.f_locals.get(above.co_varnames[0]) is first:
        return holder
    made = first if isinstance(first, type) else type(first)
    file = getattr(sys.modules.get(made.__module__), "__file__", None) or ""
    file = os.path.realpath(file)
    if not file.startswith(_FOLDER + os.sep):
        return holder
    return (os.path.relpath(file, _FOLDER), made.__qualname__.replace(".<locals>", ""))


def _seen(frame: FrameType, event: str, _: object) -> None:
    if event != "call":
        return
    code = frame.f_code
    place = _place(code)
    if place is None or code.co_name.startswith("<") or not code.co_flags & _OPTIMISED:
        return
    back = frame.f_back
    caller = _place(back.f_code) if back else None
    is_maker = code.co_name in {"__init__", "__new__"} and "." in place[1]
    _ran.add((place[0], place[1].rpartition(".")[0]) if is_maker else place)
    if back is None or caller is None:
        return
    target = _made(frame, back, place) if is_maker else place
    if back.f_code.co_name in {"__init__", "__new__"}:
        caller = (caller[0], caller[1].rpartition(".")[0])
    _pairs.add((caller, target, _is_call(back)))


def pytest_unconfigure() -> None:
    """Write the report."""
    sys.setprofile(None)
    with open(_REPORT, "w", encoding="utf-8") as file:
        json.dump({"ran": sorted(_ran), "pairs": sorted(_pairs)}, file)


if _REPORT:
    threading.setprofile(_seen)
    sys.setprofile(_seen)
