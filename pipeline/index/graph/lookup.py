"""What a name means: through scopes, imports, re-exports and bases, never by running anything."""

from collections.abc import Iterable, Iterator, Sequence

from pipeline.index.graph.heads import Heads
from pipeline.index.graph.meanings import OUTSIDE, Above, Files, Meaning, Space, Things, instance
from pipeline.index.graph.places import Places
from pipeline.index.graph.symbols import Given, Module, Symbols
from pipeline.index.languages.layout import Layout, Rules
from pipeline.index.values import Import

MAX_DEPTH = 6
MAX_SEGMENTS = 12


class Lookup:
    """Meanings of names in one commit; remembers what it found."""

    def __init__(self, symbols: Symbols, layout: Layout, rules: dict[str, Rules]) -> None:
        self._symbols = symbols
        self._modules = symbols.modules
        self._places = Places(symbols.modules, layout, rules)
        self._heads = Heads(symbols)
        self._tops: dict[tuple[str, str], Meaning] = {}
        self._bases: dict[int, tuple[Meaning, ...]] = {}
        self._members: dict[tuple[int, str], Meaning] = {}

    def top(self, module: Module, name: str, depth: int = 0) -> Meaning:
        """What a module's attribute means: its own, imported, or from a module it takes all of."""
        key = (module.path, name)
        if key in self._tops:
            return self._tops[key]
        if depth > MAX_DEPTH:
            return None
        self._tops[key] = None  # a cycle of re-exports ends here
        self._tops[key] = found = self._top(module, name, depth)
        return found

    def _top(self, module: Module, name: str, depth: int) -> Meaning:
        if name in module.names:
            return self._things(module, name)
        for item in reversed(module.aliases.get(name, ())):
            found = self.imported(module, item, depth + 1)
            if found is not None:
                return found
        if ("", name) in module.bound:
            return self._agreed(module, name, module.bound["", name], depth)
        is_space = name in module.spaces
        for star in module.stars:
            for path in self._places.files(module, star):
                found = self.top(self._modules[path], name, depth + 1)
                if isinstance(found, Things) or (isinstance(found, Files) and found.paths):
                    return found
                is_space |= isinstance(found, Space)
        return Space(module.path, name) if is_space else None

    def _things(self, module: Module, name: str) -> Things:
        numbers = module.names[name]
        return Things(tuple(numbers[-1:] if module.rules.last_counts else numbers))

    def imported(self, module: Module, item: Import, depth: int = 0) -> Meaning:
        """What an import brings; OUTSIDE when it is not of this repository."""
        if not item.module:
            # A renaming in the file itself.
            return self.top(module, item.name, depth) if item.name != item.alias else None
        if item.module in module.spaces:
            return self.attribute(Space(module.path, item.module), item.name, depth)
        return self._brought(module, item, depth)

    def _brought(self, module: Module, item: Import, depth: int) -> Meaning:
        files = self._places.files(module, item.module)
        if item.name in {"", "*"}:
            return Files(files)
        for path in files:
            found = self.attribute(Files((path,)), item.name, depth)
            if found is not None:
                return found
        glue = "" if item.module.endswith(".") else "."
        below = self._places.files(module, item.module + glue + item.name)
        if not module.rules.package:
            # Elsewhere a file is named like the class in it.
            for path in below:
                found = self.top(self._modules[path], item.name, depth)
                if found is not None:
                    return found
        if not below and item.name == "default":
            return Files(files)
        return Files(below)

    def attribute(self, of: Meaning, name: str, depth: int = 0) -> Meaning:
        """What `of.name` means; OUTSIDE stays OUTSIDE."""
        if of is OUTSIDE or of == OUTSIDE or of is None or depth > MAX_DEPTH:
            return of if isinstance(of, Files) else None
        if isinstance(of, Files):
            return self._in_files(of.paths, name, depth)
        if isinstance(of, Above):
            return self._above(of.number, name, depth)
        if isinstance(of, Space):
            return self._known(self._modules[of.path], f"{of.name}.{name}", depth)
        for number in of.numbers:
            found = self.member(number, name, depth)
            if found is not None:
                return found
        # A property gives what its head says.
        return self.attribute(self.result(of, depth), name, depth + 1) if self._gives(of) else None

    def _gives(self, of: Things) -> bool:
        return not of.is_instance and self._symbols.kinds[of.numbers[-1]] == "function"

    def _in_files(self, paths: Sequence[str], name: str, depth: int) -> Meaning:
        for path in paths:
            module = self._modules[path]
            found = self.top(module, name, depth)
            if found is not None:
                return found
            file = path.rpartition("/")[2]
            if file == module.rules.package:
                below = self._places.files(module, "." + name)
                if below:
                    return Files(below)
            # Java's static members, what a file named like its class holds.
            held = f"{file.partition('.')[0]}.{name}"
            if held in module.names:
                return self._things(module, held)
        return None

    def member(self, number: int, name: str, depth: int = 0) -> Meaning:
        """A class's own or inherited member, or what its methods gave `self.name`."""
        key = (number, name)
        if key in self._members:
            return self._members[key]
        module = self._symbols.owners[number]
        if module is None or not self._symbols.is_class(number) or depth > MAX_DEPTH:
            return None
        self._members[key] = None  # a class may be its own base
        whole = f"{self._symbols.names[number]}.{name}"
        if whole in module.names:
            found: Meaning = self._things(module, whole)
        elif name in module.rules.makers:
            found = Things((number,))
        else:
            found = self._part(module, whole) or self._above(number, name, depth)
        self._members[key] = found
        return found

    def _part(self, module: Module, whole: str) -> Meaning:
        """A member that stands in another file than its class; one in the same folder first."""
        numbers = self._symbols.parts.get((module.rules.family, whole), ())
        folder = module.path.rpartition("/")[0]
        near = [n for n in numbers if self._folder(n) == folder]
        return Things(tuple(near or numbers)) if numbers else None

    def _folder(self, number: int) -> str:
        module = self._symbols.owners[number]
        return module.path.rpartition("/")[0] if module else ""

    def _above(self, number: int, name: str, depth: int) -> Meaning:
        for base in self.bases(number):
            found = self.attribute(base, name, depth + 1) if isinstance(base, Things) else None
            if found is not None:
                return found
        return None

    def bases(self, number: int) -> tuple[Meaning, ...]:
        """What the bases of a class mean, in order; a cycle gives none."""
        if number not in self._bases:
            self._bases[number] = ()
            definition, module = self._symbols.definitions[number], self._symbols.owners[number]
            if definition is not None and module is not None:
                owner = definition.name.rpartition(".")[0]
                found = (self.meaning(module, owner, b, 1) for b in definition.bases)
                self._bases[number] = tuple(found)
        return self._bases[number]

    def meaning(self, module: Module, owner: str, written: str, depth: int = 0) -> Meaning:
        """What `a.b().c`, written inside `owner`, means; None when nobody can say."""
        segments = written.split(".")
        if depth > MAX_DEPTH or len(segments) > MAX_SEGMENTS:
            return None
        found, rest = self._root(module, owner, segments, depth)
        for segment in rest:
            if found is None:
                return None
            name, called = _bare(segment)
            holder, found = found, self.attribute(found, name, depth)
            if found is None and isinstance(holder, Things) and not holder.is_instance:
                found = self._qualified(module, owner, holder, name)
            if found is None and isinstance(holder, Things) and holder.is_instance:
                found = self._held(holder, name, depth)
            found = self._used(found, segment, called, depth)
        return found

    def _qualified(self, module: Module, owner: str, holder: Things, name: str) -> Meaning:
        """`Outer.this`, `Outer.super`, and `Interface.super`, which is the interface itself."""
        rules = module.rules
        if name in rules.own:
            return instance(holder)
        if name not in rules.above:
            return None
        around = {
            module.names[each][-1] for each, is_class in self._scopes(module, owner) if is_class
        }
        number = holder.numbers[-1]
        return Above(number) if number in around else instance(holder)

    def _used(self, found: Meaning, segment: str, called: int, depth: int) -> Meaning:
        if segment.endswith("[]"):
            return found if found == OUTSIDE else None
        return self.result(found, depth) if called else found

    def _root(
        self, module: Module, owner: str, segments: Sequence[str], depth: int
    ) -> tuple[Meaning, Sequence[str]]:
        root, called = _bare(segments[0])
        rules = module.rules
        if segments[0] in rules.above or root in rules.own:
            number = self._class_around(module, owner)
            if number is not None:
                above = segments[0] in rules.above
                return (Above(number) if above else Things((number,), True)), segments[1:]
            whole = f"{owner.rpartition('.')[0]}.{''.join(segments[1:2])}"
            if whole in module.names:  # what `app.f = function` holds
                return self._things(module, whole), segments[2:]
        if root in rules.roots:
            return self._by_path(module, segments, depth)
        if module.dotted:
            for end in range(len(segments), 1, -1):
                for item in module.aliases.get(".".join(segments[:end]), ()):
                    return self.imported(module, item, depth + 1), segments[end:]
        found = self.seen(module, owner, root, depth, is_called=called > 0 or not segments[1:])
        if found is None and (root in rules.builtins or not root.isidentifier()):
            found = OUTSIDE if root != "?" else None
        return self._used(found, segments[0], called, depth), segments[1:]

    def _by_path(
        self, module: Module, segments: Sequence[str], depth: int
    ) -> tuple[Meaning, Sequence[str]]:
        """What a path of modules leads to: the longest beginning that is a file with the rest."""
        for end in range(len(segments) - 1, 0, -1):
            files = Files(self._places.files(module, ".".join(segments[:end])))
            if files.paths and self.attribute(files, _bare(segments[end])[0], depth) is not None:
                return files, segments[end:]
        return None, ()

    def seen(
        self, module: Module, owner: str, name: str, depth: int, *, is_called: bool
    ) -> Meaning:
        """What a bare name means inside a definition: innermost scope first.

        A variable hides what has its name outside, even where nobody can say what it holds.
        """
        for scope, is_class in self._scopes(module, owner):
            whole = f"{scope}.{name}"
            if is_class and name == scope.rpartition(".")[2]:
                return self._things(module, scope)  # not its constructor
            if not is_class or module.rules.implicit or scope == owner:
                if whole in module.names:
                    return self._things(module, whole)
                if whole in module.spaces:
                    return Space(module.path, whole)
            found = self._in_scope(module, scope, name, depth, is_class)
            if found is not None:
                return found
            if not is_class and self._hides(module, scope, name, is_called):
                return None
        return self._known(module, name, depth)

    def _known(self, module: Module, name: str, depth: int) -> Meaning:
        """What a file or those beside it say a name means, a namespace where none defines it."""
        found = self.top(module, name, depth)
        if found is None or isinstance(found, Space):
            beside = self._places.beside(module, name)
            return self._things(beside, name) if beside else found
        return found

    def _hides(self, module: Module, scope: str, name: str, is_called: bool) -> bool:
        return (scope, name) in module.bound and not (is_called and module.rules.variables_apart)

    def _in_scope(
        self, module: Module, scope: str, name: str, depth: int, is_class: bool
    ) -> Meaning:
        if scope in module.spaces:
            return self._known(module, f"{scope}.{name}", depth)
        if not is_class:
            return self._local(module, scope, name, depth)
        if not module.rules.implicit:
            return None
        found = self.member(module.names[scope][-1], name, depth)
        # Modules and namespaces go on in other files.
        return self.top(module, f"{scope}.{name}", depth) if found is None else found

    def is_local(self, module: Module, owner: str, name: str) -> bool:
        """Whether a bare name that is called is a variable of an enclosing function."""
        scopes = self._scopes(module, owner)
        return any(
            not is_class and self._hides(module, scope, name, True) for scope, is_class in scopes
        )

    def _scopes(self, module: Module, owner: str) -> Iterator[tuple[str, bool]]:
        while owner:
            numbers = module.names.get(owner)
            yield owner, bool(numbers) and self._symbols.is_class((numbers or [0])[-1])
            owner = owner.rpartition(".")[0]

    def _class_around(self, module: Module, owner: str) -> int | None:
        for scope, is_class in self._scopes(module, owner):
            if is_class:
                return module.names[scope][-1]
            if scope not in module.names:  # members may stand in another file than their class
                found = self._known(module, scope, 0)
                if isinstance(found, Things) and self._symbols.is_class(found.numbers[-1]):
                    return found.numbers[-1]
        return None

    def _local(self, module: Module, scope: str, name: str, depth: int) -> Meaning:
        """The type of an annotated parameter, or of a local variable that got calls' results."""
        numbers = module.names.get(scope)
        written = self._heads.types(numbers[-1]).get(name) if numbers else None
        found: Meaning = None
        if written is not None:
            outer = scope.rpartition(".")[0]
            found = instance(self.meaning(module, outer, written, depth + 1))
        if found is None and (scope, name) in module.bound:
            found = self._agreed(module, name, module.bound[scope, name], depth)
        return found

    def _agreed(self, module: Module, name: str, given: Iterable[Given], depth: int) -> Meaning:
        """What calls gave the same name; None where they gave different things."""
        found: list[Meaning] = []
        for scope, callee in given:
            # What a name got from itself says nothing, nor does an open value.
            if callee and callee.partition(".")[0].rstrip("()[]") != name:
                made = self.result(self.meaning(module, scope, callee, depth + 1), depth + 1)
                if made is None or (found and made != found[0]):
                    return None
                found.append(made)
        return found[0] if found else None

    def _held(self, holder: Things, name: str, depth: int) -> Meaning:
        """What `self.name` got in any method of the class or its bases."""
        for number in holder.numbers:
            module = self._symbols.owners[number]
            if module is None or depth > MAX_DEPTH:
                continue
            given = module.held.get((self._symbols.names[number], name))
            if given is not None:
                return self._agreed(module, f"self.{name}", given, depth)
            for base in self.bases(number):
                found = self._held(base, name, depth + 1) if isinstance(base, Things) else None
                if found is not None:
                    return found
        return None

    def result(self, of: Meaning, depth: int = 0) -> Meaning:
        """What calling something gives: an instance of a class, what a function's head says."""
        if not isinstance(of, Things) or of.is_instance or not of.numbers:
            return of if of == OUTSIDE else None
        number = of.numbers[-1]
        if self._symbols.is_class(number):
            return instance(of)
        written = self._heads.types(number).get("->")
        module = self._symbols.owners[number]
        if written is None or module is None:
            return None
        outer = self._symbols.names[number].rpartition(".")[0]
        found = self.meaning(module, outer, written, depth + 1)
        return instance(found)


def _bare(segment: str) -> tuple[str, int]:
    """A segment's name, and how often what it names is called."""
    name = segment.rstrip("()[]")
    return name, segment.count("()")
