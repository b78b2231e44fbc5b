"""Where Ruby's requires lead: relative paths, and paths below any `lib` or other load folder."""

from collections.abc import Mapping

from pipeline.index.languages.layout import Find, Layout, Rules, joined, words


def _finder(layout: Layout) -> Find:
    def find(module: str, path: str) -> tuple[str, ...]:
        file = module if module.endswith(".rb") else module + ".rb"
        if module.startswith("."):
            found = joined(path.rpartition("/")[0], file)
            return (found,) if found in layout.paths else ()
        paths = layout.ending(file)
        # The shortest way to it is the load path.
        return (min(paths, key=lambda p: (p.count("/"), p)),) if paths else ()

    return find


RULES: Mapping[str, Rules] = {
    "ruby": Rules(
        family="ruby",
        variables_apart=True,
        find=_finder,
        own=frozenset({"self"}),
        constructors=frozenset({"initialize"}),
        makers=frozenset({"new"}),
        builtins=words(
            "puts print p require require_relative load autoload raise include extend prepend "
            "attr_reader attr_writer attr_accessor private protected public module_function "
            "loop lambda proc format sprintf Integer Float String Array Hash freeze "
            "define_method alias_method describe it expect context let before after"
        ),
        common=words(
            "each map select reject find inject reduce first last push pop shift join split gsub "
            "sub match to_s to_i to_a to_h to_sym keys values fetch merge size length empty nil "
            "call new dup freeze is_a include any all none count sort sort_by min max sum zip "
            "flatten compact uniq delete key concat strip start_with end_with send"
        ),
    )
}
