"""A parameter or a variable hides what has its name outside; a second value unsettles the first."""

import pytest

from tests.pipeline.index.graph.test_graph import graph, written

# By language: a file's name, its frame, and bodies of `f` in which `run` is a name of its own.
# In languages where a called function is never hidden, `f` calls a member of `run` instead.
JAVASCRIPT = (
    "function f(run) { run() }",
    "function f({run}) { run() }",
    "function f({run = 1}) { run() }",
    "function f({a: run}) { run() }",
    "function f([run]) { run() }",
    "function f(run = 1) { run() }",
    "function f(...run) { run() }",
    "function f() { const run = g(); run() }",
    "function f() { for (const run of g()) { run() } }",
    "function f() { try { } catch (run) { run() } }",
    "function f() { g().map(run => run()) }",
    "function f() { g().map((a, run) => { run() }) }",
)
FORMS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "python": (
        "a.py",
        "def run(): pass\n\ndef g():\n    run()\n\n{}\n",
        (
            "def f(run): run()",
            "def f(a, /, *, run=1): run()",
            "def f(*run): run()",
            "def f(**run): run()",
            "def f():\n    run = g\n    run()",
            "def f():\n    run: int = g\n    run()",
            "def f():\n    a, (run, *b) = g()\n    run()",
            "def f():\n    for run in g(): run()",
            "async def f():\n    async for run in g(): run()",
            "def f():\n    with g() as run: run()",
            "def f():\n    try: pass\n    except g as run: run()",
            "def f():\n    return [run() for run in g()]",
            "def f():\n    return lambda run: run()",
            "def f():\n    if (run := g): run()",
            "def f(a):\n    match a:\n        case [run]: run()",
            "def f(a):\n    match a:\n        case [*run]: run()",
            "def f(run):\n    def inner(): run()\n    return inner",
        ),
    ),
    "python 2": (
        "a.py",
        "def run(): print 'x'\n\ndef g():\n    run()\n\n{}\n",
        (
            "def f(run): run()",
            "def f(run=1): run()",
            "def f(*run): run()",
            "def f():\n    run = g()\n    run()",
            "def f():\n    a, run = g()\n    run()",
            "def f():\n    for run in g(): run()",
        ),
    ),
    "javascript": ("a.js", "function run() {{}}\nfunction g() {{ run() }}\n{}\n", JAVASCRIPT),
    "typescript": (
        "a.ts",
        "function run() {{}}\nfunction g() {{ run() }}\n{}\n",
        (
            *JAVASCRIPT,
            "function f(run: any) { run() }",
            "function f(run?: any) { run() }",
            "function f({run}: any) { run() }",
        ),
    ),
    "go": (
        "a.go",
        "package p\nfunc run() {{}}\nfunc g() {{ run() }}\n{}\n",
        (
            "func f(run func()) { run() }",
            "func f(run ...func()) { run() }",
            "func f() { run := g; run() }",
            "func f() { var run = g; run() }",
            "func f() { for _, run := range g() { run() } }",
            "func f(a any) { switch run := a.(type) { default: run() } }",
            "func (run *T) f() { run() }\ntype T struct {}\nfunc f(run int) { run() }",
        ),
    ),
    "rust": (
        "src/lib.rs",
        "fn run() {{}}\nfn g() {{ run() }}\n{}\n",
        (
            "fn f(run: F) { run() }",
            "fn f(mut run: F) { run() }",
            "fn f((run, a): F) { run() }",
            "fn f() { let run = g(); run() }",
            "fn f() { for run in g() { run() } }",
            "fn f() { if let Some(run) = g() { run() } }",
            "fn f() { g().map(|run| run()) }",
            "fn f(a: A) { match a { A { run } => run() } }",
            "fn f(a: A) { match a { A { b: run } => run() } }",
        ),
    ),
    "java": (
        "a.java",
        "class run {{ static void go() {{}} }}\nclass A {{ void g() {{ run.go(); }}\n{} }}\n",
        (
            "void f(B run) { run.go(); }",
            "void f(B... run) { run.go(); }",
            "void f() { B run = x(); run.go(); }",
            "void f() { for (B run : x()) { run.go(); } }",
            "void f() { try { } catch (E run) { run.go(); } }",
            "void f() { try (B run = x()) { run.go(); } }",
            "void f() { x(run -> run.go()); }",
            "void f() { x((a, run) -> run.go()); }",
        ),
    ),
    "c": (
        "a.c",
        "void run() {{}}\nvoid g() {{ run(); }}\n{}\n",
        (
            "void f(F run) { run(); }",
            "void f(F *run) { run(); }",
            "void f(int (*run)(int)) { run(1); }",
            "void f() { F run; run(); }",
            "void f() { F run = x; run(); }",
            "void f() { F *run = x; run(); }",
        ),
    ),
    "c++": (
        "a.cpp",
        "void run() {{}}\nvoid g() {{ run(); }}\n{}\n",
        (
            "void f(const F& run) { run(); }",
            "void f(F run = 1) { run(); }",
            "void f() { for (auto run : x) { run(); } }",
            "void f() { auto [a, run] = x; run(); }",
            "void f() { x([](F run) { run(); }); }",
        ),
    ),
    "ruby": (
        "a.rb",
        "module Run\n  def self.go; end\nend\ndef run; Run; end\ndef g; run.go; run(); end\n{}\n",
        (
            "def f(run); run.go; end",
            "def f(run = 1); run.go; end",
            "def f(run:); run.go; end",
            "def f(*run); run.go; end",
            "def f(**run); run.go; end",
            "def f(&run); run.go; end",
            "def f; run = x; run.go; end",
            "def f; a, run = x; run.go; end",
            "def f; x.each { |run| run.go }; end",
        ),
    ),
    "php": (
        "a.php",
        "<?php\nclass run {{ static function go() {{}} }}\n"
        "function g() {{ run::go(); }}\nfunction h() {{}}\n{}\n",
        ("function f($run) { $run->go(); }", "function f() { $run = x(); $run->go(); }"),
    ),
}
EACH = [(name, form) for name, (_, _, forms) in FORMS.items() for form in forms]


@pytest.mark.parametrize(("language", "form"), EACH)
def test_a_name_of_its_own_hides_the_one_outside(language: str, form: str) -> None:
    """No sure edge from where the name is a parameter or a variable; one from where it is not."""
    path, frame, _ = FORMS[language]
    found = written(list(graph({path: frame.format(form)}).edges(["invokes"])))
    sure = [edge for edge in found if edge.endswith(" 1.0") and f"{path}:run" in edge]
    assert [edge for edge in sure if ":g -> " in edge or ".g -> " in edge]
    assert not [edge for edge in sure if ":f" in edge or ".f -> " in edge], sure


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.java", "class A { int run() { return 1; } void f() { int run = run(); } }"),
        ("a.rb", "def run; end\ndef f; run = run(); end\n"),
        ("a.php", "<?php function run() {} function f() { $run = run(); }"),
    ],
)
def test_where_variables_live_apart_a_called_function_is_not_hidden(path: str, text: str) -> None:
    """Java, Ruby and PHP tell `run()` from a variable of that name."""
    found = written(list(graph({path: text}).edges(["invokes"])))
    assert [edge for edge in found if "f -> " in edge and edge.endswith("run 1.0")]


@pytest.mark.parametrize(
    "form",
    [
        "def f():\n    global run\n    run = g\n    run()",
        "def f():\n    from b import run\n    run()",
        "def f():\n    g(run)\n    run()",
        "class C:\n    run = 1\n    def f(self): run()",
    ],
)
def test_what_is_no_variable_hides_nothing(form: str) -> None:
    """`global`, an import inside a function, a use, and a class's field leave the name alone."""
    files = {"a.py": f"def run(): pass\n\ndef g(x): pass\n\n{form}\n", "b.py": "def run(): pass\n"}
    found = written(list(graph(files).edges(["invokes"])))
    assert [edge for edge in found if ".f -> " in edge or ":f -> " in edge if ":run 1.0" in edge]


def test_a_function_that_a_variable_holds_calls_itself() -> None:
    """The variable stands around its function, it does not hide it inside."""
    for text in ("const f = () => f()", "const f = function () { f() }"):
        found = written(list(graph({"a.js": text}).edges(["invokes"])))
        assert found == {"a.js:f -> a.js:f 1.0"}


def test_a_required_name_inside_a_function_is_followed() -> None:
    """`const run = require(…)` inside a function is an import, not a variable."""
    text = (
        "function f() { const { run } = require('./b'); const c = require('./b'); run(); c.go() }"
    )
    files = {"a.js": text, "b.js": "exports.run = () => 1\nexports.go = () => 2\n"}
    found = written(list(graph(files).edges(["invokes"])))
    assert {"a.js:f -> b.js:run 1.0", "a.js:f -> b.js:go 1.0"} <= {
        edge.replace("exports.", "") for edge in found
    }


TWO = "class A:\n    def m(self): pass\n\nclass B:\n    def m(self): pass\n\n"


@pytest.mark.parametrize(
    ("form", "confidences"),
    [
        ("def f():\n    x = A()\n    x.m()", {"A.m": "1.0"}),
        ("def f():\n    x = None\n    x = A()\n    x.m()", {"A.m": "1.0"}),
        ("def f():\n    x = A()\n    x = A()\n    x.m()", {"A.m": "1.0"}),
        ("def f(x: A):\n    x = y\n    x.m()", {"A.m": "1.0"}),
        ("def f():\n    x = A()\n    x = B()\n    x.m()", {"A.m": "0.3", "B.m": "0.3"}),
        ("def f(y):\n    x = A()\n    x = y\n    x.m()", {"A.m": "0.3", "B.m": "0.3"}),
        ("def f(y):\n    x = A()\n    for x in y: x.m()", {"A.m": "0.3", "B.m": "0.3"}),
        ("x = A()\nx = B()\ndef f(): x.m()", {"A.m": "0.3", "B.m": "0.3"}),
    ],
)
def test_a_second_value_unsettles_the_first(form: str, confidences: dict[str, str]) -> None:
    """A variable that may hold either keeps both; `None` and the same again unsettle nothing."""
    found = written(list(graph({"a.py": f"{TWO}{form}\n"}).edges(["invokes"])))
    kept = {edge for edge in found if edge.startswith("a.py:f -> ") and ".m " in edge}
    assert kept == {f"a.py:f -> a.py:{name} {sure}" for name, sure in confidences.items()}


def test_an_attribute_that_gets_two_things_keeps_both() -> None:
    """`self.x` belongs to the class: what any method gives it counts."""
    for second, expected in (("B()", "0.3"), ("y", "0.3"), ("None", "1.0"), ("A()", "1.0")):
        text = (
            f"{TWO}class H:\n    def a(self):\n        self.x = A()\n\n    def b(self, y):\n"
            f"        self.x = {second}\n\n    def f(self):\n        self.x.m()\n"
        )
        found = written(list(graph({"a.py": text}).edges(["invokes"])))
        assert f"a.py:H.f -> a.py:A.m {expected}" in found
