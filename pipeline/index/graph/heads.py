"""The types that heads of functions name."""

from pipeline.index.graph.symbols import Symbols


class Heads:
    """Types by the rules of each language; remembers what it read."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._types: dict[int, dict[str, str]] = {}

    def types(self, number: int) -> dict[str, str]:
        """The types that a signature names, by parameter, "->" for its result."""
        if number not in self._types:
            found: dict[str, str] = {}
            definition, module = self._symbols.definitions[number], self._symbols.owners[number]
            if definition is not None and module is not None and definition.kind == "function":
                rules, text = module.rules, definition.signature
                found = {m["name"]: m["type"] for m in rules.parameter.finditer(text)}
                result = rules.result.search(text)
                if result:
                    found["->"] = result["type"]
            self._types[number] = found
        return self._types[number]
