"""What a name can mean: modules, definitions, instances of them, namespaces, bases of a class."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Files:
    """A module of the repository; without paths, something outside it."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Things:
    """Definitions of one name, or an instance of one of them."""

    numbers: tuple[int, ...]
    is_instance: bool = False


@dataclass(frozen=True, slots=True)
class Space:
    """What only qualifies names, as the file at `path` sees it: a namespace, an object."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Above:
    """The bases of a class, as `super` names them."""

    number: int


Meaning = Files | Things | Space | Above | None
OUTSIDE = Files(())


def instance(of: Meaning) -> Meaning:
    """One of these classes, where they are classes."""
    return replace(of, is_instance=True) if isinstance(of, Things) else of
