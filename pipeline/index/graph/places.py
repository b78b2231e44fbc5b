"""Which files a module is, and which are seen from a file without an import."""

from collections.abc import Mapping

from pipeline.index.graph.symbols import Module
from pipeline.index.languages.layout import Find, Layout, Rules


class Places:
    """The rules of all languages over the files of one commit; remembers what it found."""

    def __init__(
        self, modules: Mapping[str, Module], layout: Layout, rules: Mapping[str, Rules]
    ) -> None:
        self._modules = modules
        by_rules = {id(rule): rule for rule in rules.values()}
        self._find: dict[int, Find] = {key: rule.find(layout) for key, rule in by_rules.items()}
        self._around = {key: rule.around(layout) for key, rule in by_rules.items()}
        self._beside: dict[tuple[int, str], list[Module]] = {}
        self._files: dict[tuple[int, str, str], tuple[str, ...]] = {}

    def files(self, module: Module, written: str) -> tuple[str, ...]:
        """The parsed files that a module stands for, as written in this one."""
        key = (id(module.rules), written, module.path)
        if key not in self._files:
            found = self._find[id(module.rules)](written, module.path)
            self._files[key] = tuple(path for path in found if path in self._modules)
        return self._files[key]

    def beside(self, module: Module, name: str) -> Module | None:
        """The file seen without an import that defines a name."""
        key = (id(module.rules), module.path)
        if key not in self._beside:
            paths = self._around[key[0]](module.path)
            self._beside[key] = [self._modules[path] for path in paths if path in self._modules]
        return next((each for each in self._beside[key] if name in each.names), None)
