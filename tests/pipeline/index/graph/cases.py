"""Small repositories, one per rule, and the edges that must be in their graphs.

An edge is written `source -> target confidence`; `!` before it says that it must not be there.
"""

from typing import Any

Case = dict[str, Any]

CASES: dict[str, Case] = {
    "python: a name of the same file": {
        "files": {"a.py": "def f():\n    g()\n\ndef g():\n    pass\n"},
        "invokes": ["a.py:f -> a.py:g 1.0"],
    },
    "python: imports through a package that re-exports": {
        "files": {
            "src/p/__init__.py": "from .core import *\nfrom . import deep\n",
            "src/p/core.py": "from .low import low as lower\n__all__ = ['lower']\n",
            "src/p/low.py": "def low(): pass\n",
            "src/p/deep/__init__.py": "from ..low import low\n",
            "use.py": "import p\nfrom p import deep as d\n\ndef f():\n    p.lower()\n    d.low()\n",
        },
        "invokes": ["use.py:f -> src/p/low.py:low 1.0"],
        "imports": ["use.py -> src/p/__init__.py 1.0", "use.py -> src/p/deep/__init__.py 1.0"],
    },
    "python: dotted modules without an __init__": {
        "files": {
            "ns/a/b.py": "def f(): pass\nclass C:\n    def m(self): pass\n",
            "use.py": "import ns.a.b\n\ndef g():\n    ns.a.b.f()\n    ns.a.b.C().m()\n",
        },
        "invokes": [
            "use.py:g -> ns/a/b.py:f 1.0",
            "use.py:g -> ns/a/b.py:C 1.0",
            "use.py:g -> ns/a/b.py:C.m 1.0",
        ],
        "imports": ["use.py -> ns/a/b.py 1.0"],
    },
    "python: self, cls and super through bases of another file": {
        "files": {
            "base.py": "class B:\n    def __init__(self): pass\n    def m(self): pass\n",
            "a.py": (
                "from base import B\n\nclass A(B):\n    def __init__(self):\n"
                "        super().__init__()\n        self.m()\n\n    @classmethod\n"
                "    def make(cls):\n        return cls()\n\n    def m(self):\n"
                "        super().m()\n        self.n()\n\n    def n(self): pass\n"
            ),
        },
        "invokes": [
            "a.py:A -> base.py:B 1.0",
            "a.py:A -> a.py:A.m 1.0",
            "a.py:A.make -> a.py:A 1.0",
            "a.py:A.m -> base.py:B.m 1.0",
            "a.py:A.m -> a.py:A.n 1.0",
        ],
        "inherits": ["a.py:A -> base.py:B 1.0"],
    },
    "python: types of locals, attributes, parameters and results": {
        "files": {
            "k.py": "class K:\n    def m(self): pass\n\nclass L:\n    def m(self): pass\n",
            "a.py": (
                "from typing import Optional\nfrom k import K, L\n\ndef local():\n    x = K()\n"
                "    x.m()\n\ndef given(k: Optional[K], other: 'L'):\n    k.m()\n\n"
                "def made() -> L: ...\n\ndef gives():\n    made().m()\n\nclass H:\n"
                "    def __init__(self):\n        self.k = K()\n\n    def f(self):\n"
                "        self.k.m()\n\ndef entered():\n    with L() as it:\n        it.m()\n"
            ),
        },
        "invokes": [
            "a.py:local -> k.py:K.m 1.0",
            "! a.py:local -> k.py:L.m 0.3",
            "a.py:given -> k.py:K.m 1.0",
            "a.py:gives -> k.py:L.m 1.0",
            "a.py:H.f -> k.py:K.m 1.0",
            "a.py:entered -> k.py:L.m 1.0",
        ],
    },
    "python: a name that one unit has, names of builtins, of the outside and of variables": {
        "files": {
            "a.py": (
                "import os\nfrom m import Z\n\ndef f(x, func):\n    x.unusual()\n    x.append(1)\n"
                "    print(x)\n    os.remove(x)\n    func()\n    Z.remove()\n"
            ),
            "b.py": (
                "class C:\n    def unusual(self): pass\n    def append(self, x): pass\n"
                "    def remove(self): pass\n\ndef print(): pass\n\ndef func(): pass\n"
            ),
        },
        "invokes": [
            "a.py:f -> b.py:C.unusual 0.6",
            "a.py:f -> b.py:C.append 0.3",
            "! a.py:f -> b.py:print",
            "! a.py:f -> b.py:func",
            "! a.py:f -> b.py:C.remove",
        ],
    },
    "python: overrides of a method that is called on an object": {
        "files": {
            "a.py": (
                "class A:\n    def f(self):\n        self.m()\n\n    def m(self): pass\n\n"
                "class B(A):\n    def m(self):\n        super().m()\n\n"
                "class C(B):\n    def m(self): pass\n"
            ),
        },
        "invokes": [
            "a.py:A.f -> a.py:A.m 1.0",
            "a.py:A.f -> a.py:B.m 0.3",
            "a.py:A.f -> a.py:C.m 0.3",
            "a.py:B.m -> a.py:A.m 1.0",
            "! a.py:B.m -> a.py:C.m",
        ],
    },
    "python: tests use code, code does not use tests": {
        "files": {
            "a.py": "def f(x):\n    x.helper()\n",
            "tests/test_a.py": (
                "from a import f\n\nclass T:\n    def helper(self): pass\n\n"
                "def test_f():\n    f(T())\n"
            ),
        },
        "invokes": [
            "tests/test_a.py:test_f -> a.py:f 1.0",
            "! a.py:f -> tests/test_a.py:T.helper",
        ],
    },
    "python: the standard library is not a file of the same name": {
        "files": {
            "p/__init__.py": "",
            "p/types.py": "def new(): pass\n",
            "p/a.py": "import types\n\ndef f():\n    types.new()\n",
        },
        "invokes": ["! p/a.py:f -> p/types.py:new"],
        "imports": ["! p/a.py -> p/types.py"],
    },
    "python: decorators and what is defined twice": {
        "files": {
            "a.py": (
                "def deco(f): return f\n\n@deco\ndef f(): pass\n\ndef f():\n    pass\n\n"
                "def g():\n    f()\n"
            )
        },
        "invokes": ["a.py -> a.py:deco 1.0", "a.py:g -> a.py:f#2 1.0", "! a.py:g -> a.py:f 1.0"],
    },
    "javascript: workspaces, index files, CommonJS and default exports": {
        "files": {
            "packages/a/package.json": '{"name": "@x/a", "main": "dist/index.js"}',
            "packages/a/src/index.ts": (
                "export * from './lib';\nexport { default as D } from './d.js'\n"
            ),
            "packages/a/src/lib.ts": (
                "export function go() { return help() }\nfunction help() {}\n"
                "export class K extends Base { m() { this.n(); super.o() } n() {} }\n"
                "class Base { o() {} }\n"
            ),
            "packages/a/src/d.ts": "export default class Dee { constructor() { this.z() } z() {} }",
            "packages/b/main.js": (
                "const a = require('@x/a')\nconst { go: run } = require('@x/a')\n"
                "import { D } from '@x/a'\nfunction f() { run(); a.go(); new D() }\n"
            ),
        },
        "invokes": [
            "packages/a/src/lib.ts:go -> packages/a/src/lib.ts:help 1.0",
            "packages/a/src/lib.ts:K.m -> packages/a/src/lib.ts:K.n 1.0",
            "packages/a/src/lib.ts:K.m -> packages/a/src/lib.ts:Base.o 1.0",
            "packages/a/src/d.ts:Dee -> packages/a/src/d.ts:Dee.z 1.0",
            "packages/b/main.js:f -> packages/a/src/lib.ts:go 1.0",
            "packages/b/main.js:f -> packages/a/src/d.ts:Dee 1.0",
        ],
        "imports": ["packages/b/main.js -> packages/a/src/index.ts 1.0"],
    },
    "typescript: paths of tsconfig.json, with comments": {
        "files": {
            "tsconfig.json": (
                '{ // c\n "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"],} } }\n'
            ),
            "src/a.ts": "export function f() {}\n",
            "src/b.ts": "import { f } from '@/a'\nexport const g = () => { f() }\n",
        },
        "invokes": ["src/b.ts:g -> src/a.ts:f 1.0"],
    },
    "go: packages by the module's path, methods in another file": {
        "files": {
            "go.mod": "module example.com/m\n",
            "a/a.go": "package a\ntype S struct{}\nfunc New() *S { return &S{} }\n",
            "a/b.go": "package a\nfunc (s *S) F() { s.G(); h() }\nfunc (s *S) G() {}\nfunc h() {}",
            "main.go": 'package main\nimport "example.com/m/a"\nfunc main() { a.New().F() }\n',
        },
        "invokes": [
            "a/b.go:S.F -> a/b.go:S.G 1.0",
            "a/b.go:S.F -> a/b.go:h 1.0",
            "a/a.go:New -> a/a.go:S 1.0",
            "main.go:main -> a/a.go:New 1.0",
            "main.go:main -> a/b.go:S.F 1.0",
        ],
        "imports": ["main.go -> a/a.go 1.0"],
    },
    "rust: crate, super, self, re-exports, the crate's own name": {
        "files": {
            "Cargo.toml": '[package]\nname = "my-crate"\n',
            "src/lib.rs": "mod a;\npub mod b;\npub use a::S;\n",
            "src/a.rs": (
                "pub struct S;\nimpl S {\n  pub fn make() -> S { S {} }\n"
                "  fn g(&self) { self.h(); crate::b::f(); super::b::f(); }\n  fn h(&self) {}\n}\n"
            ),
            "src/b.rs": "use crate::a::S;\npub fn f() { S::make().g(); }\n",
            "tests/t.rs": "use my_crate::S;\nfn t() { S::make(); }\n",
        },
        "invokes": [
            "src/a.rs:S.g -> src/a.rs:S.h 1.0",
            "src/a.rs:S.g -> src/b.rs:f 1.0",
            "src/b.rs:f -> src/a.rs:S.make 1.0",
            "src/b.rs:f -> src/a.rs:S.g 1.0",
            "tests/t.rs:t -> src/a.rs:S.make 1.0",
        ],
    },
    "java: packages, static imports, inherited and constructing calls": {
        "files": {
            "src/main/java/p/q/A.java": (
                "package p.q;\nimport p.r.B;\nimport static p.r.B.st;\n"
                "public class A extends B { A() { f(); } void f() { st(); inh(); new C(); } }\n"
            ),
            "src/main/java/p/q/C.java": "package p.q; class C { C() {} }\n",
            "src/main/java/p/r/B.java": (
                "package p.r; public class B { static void st() {} void inh() {} }\n"
            ),
        },
        "invokes": [
            "src/main/java/p/q/A.java:A -> src/main/java/p/q/A.java:A.f 1.0",
            "src/main/java/p/q/A.java:A.f -> src/main/java/p/r/B.java:B.st 1.0",
            "src/main/java/p/q/A.java:A.f -> src/main/java/p/r/B.java:B.inh 1.0",
            "src/main/java/p/q/A.java:A.f -> src/main/java/p/q/C.java:C 1.0",
        ],
        "inherits": ["src/main/java/p/q/A.java:A -> src/main/java/p/r/B.java:B 1.0"],
    },
    "ruby: require_relative, load folders, modules over several files": {
        "files": {
            "lib/m/a.rb": (
                "require_relative 'b'\nmodule M\n  class A < B\n    def initialize; go(); end\n"
                "    def go; inh(); B.new.k; end\n  end\nend\n"
            ),
            "lib/m/b.rb": "module M\n  class B\n    def inh; end\n    def k; end\n  end\nend\n",
            "bin/x.rb": "require 'm/a'\nM::A.new.go\n",
        },
        "invokes": [
            "lib/m/a.rb:M.A -> lib/m/a.rb:M.A.go 1.0",
            "lib/m/a.rb:M.A.go -> lib/m/b.rb:M.B.inh 1.0",
            "lib/m/a.rb:M.A.go -> lib/m/b.rb:M.B.k 1.0",
            "bin/x.rb -> lib/m/a.rb:M.A.go 1.0",
        ],
        "inherits": ["lib/m/a.rb:M.A -> lib/m/b.rb:M.B 1.0"],
    },
    "php: namespaces as folders, parent, typed parameters": {
        "files": {
            "src/N/B.php": (
                "<?php namespace App\\N; class B { function __construct() {}\n"
                "static function make(): self { return new self(); } function q() {} }\n"
            ),
            "src/M/A.php": (
                "<?php namespace App\\M; use App\\N\\B; class A extends B {\n"
                "function f(B $b) { parent::__construct(); B::make(); $b->q(); new C(); } }\n"
            ),
            "src/M/C.php": "<?php namespace App\\M; class C {}\n",
        },
        "invokes": [
            "src/M/A.php:A.f -> src/N/B.php:B 1.0",
            "src/M/A.php:A.f -> src/N/B.php:B.make 1.0",
            "src/M/A.php:A.f -> src/N/B.php:B.q 1.0",
            "src/M/A.php:A.f -> src/M/C.php:C 1.0",
        ],
        "inherits": ["src/M/A.php:A -> src/N/B.php:B 1.0"],
    },
    "c++: includes, members outside their class": {
        "files": {
            "inc/x/y.h": "class K { public: void f(); void h(); };\n",
            "src/a.cpp": '#include "x/y.h"\nvoid K::f() { h(); this->h(); g(2); }\nvoid K::h() {}',
            "src/g.c": "int g(int a) { return a; }\n",
            "src/u.cpp": "#include <x/y.h>\nvoid t(K& k) { k.f(); }\n",
        },
        "invokes": [
            "src/a.cpp:K.f -> src/a.cpp:K.h 1.0",
            "src/a.cpp:K.f -> src/g.c:g 0.6",
            "src/u.cpp:t -> src/a.cpp:K.f 1.0",
        ],
        "imports": ["src/a.cpp -> inc/x/y.h 1.0", "src/u.cpp -> inc/x/y.h 1.0"],
    },
    "go: type arguments in calls and literals": {
        "files": {
            "go.mod": "module example.com/m\n",
            "p/p.go": "package p\ntype T[K any] struct{}\nfunc F[K any](k K, n int) {}\n",
            "a.go": (
                'package a\nimport "example.com/m/p"\nfunc one[K any](k K) {}\n'
                "type S[K any] struct{}\nfunc f() {\n  one[int](1)\n  p.F[string](x, 2)\n"
                "  _ = S[int]{}\n  _ = p.T[int]{}\n}\n"
                "func g(one []func(int)) { one[0](1) }\n"
            ),
        },
        "invokes": [
            "a.go:f -> a.go:one 1.0",
            "a.go:f -> p/p.go:F 1.0",
            "a.go:f -> a.go:S 1.0",
            "a.go:f -> p/p.go:T 1.0",
            "! a.go:g -> a.go:one",
        ],
    },
    "javascript: private methods": {
        "files": {
            "a.js": "class A { #m() {} n() { this.#m(); other?.#k() } #k() {} }\nfunction m() {}\n",
        },
        "invokes": ["a.js:A.n -> a.js:A.m 1.0", "a.js:A.n -> a.js:A.k 0.6", "! a.js:A.n -> a.js:m"],
    },
    "typescript: methods and functions that an interface promises": {
        "files": {
            "a.ts": (
                "interface I { m(x: number): void; p: () => void; n: number }\n"
                "class C implements I {\n  n = 1;\n  m(x: string): void;\n  m(x: any) {}\n"
                "  p = () => { this.m(1) }\n}\n"
                "function f(i: I) { i.m(1); i.p(); }\n"
            ),
        },
        "invokes": [
            "a.ts:f -> a.ts:I.m 1.0",
            "a.ts:f -> a.ts:C.m 0.3",
            "a.ts:f -> a.ts:I.p 1.0",
            "a.ts:f -> a.ts:C.p 0.3",
            "a.ts:C.p -> a.ts:C.m 1.0",
        ],
        "inherits": ["a.ts:C -> a.ts:I 1.0"],
    },
    "java: constructors of the base, objects and interfaces by name": {
        "files": {
            "A.java": (
                "class B { B(int x) {} void k() {} }\ninterface I { default void d() {} }\n"
                "class A extends B implements I {\n  A() { super(1); }\n  void m() {}\n"
                "  void k() { A.super.k(); }\n  public void d() { I.super.d(); }\n"
                "  class In { void m() { A.this.m(); } }\n}\n"
            ),
        },
        "invokes": [
            "A.java:A -> A.java:B 1.0",
            "A.java:A.k -> A.java:B.k 1.0",
            "! A.java:A.k -> A.java:A.k",
            "A.java:A.d -> A.java:I.d 1.0",
            "! A.java:A.d -> A.java:A.d",
            "A.java:A.In.m -> A.java:A.m 1.0",
            "! A.java:A.In.m -> A.java:A.In.m",
        ],
    },
    "rust: traits are bases of the types that have them": {
        "files": {
            "src/lib.rs": (
                "pub trait T { fn d(&self) { self.r(); } fn r(&self); }\n"
                "pub struct S<K> { k: K }\nimpl<K> S<K> { pub fn new() -> S<K> { S { k } } }\n"
                "impl<K> T for S<K> { fn r(&self) {} }\n"
                "pub struct Debug;\nimpl std::fmt::Debug for S<u8> {}\n"
                "impl Z { fn r#async(&self) { self.r#async() } }\n"
                "pub struct Z;\nimpl crate::T for Z { fn r(&self) { self.d() } }\n"
                "pub fn f() { S::new().d() }\n"
            ),
        },
        "invokes": [
            "src/lib.rs:f -> src/lib.rs:T.d 1.0",
            "src/lib.rs:T.d -> src/lib.rs:T.r 1.0",
            "src/lib.rs:T.d -> src/lib.rs:S.r 0.3",
            "src/lib.rs:Z.r -> src/lib.rs:T.d 1.0",
            "src/lib.rs:Z.r#async -> src/lib.rs:Z.r#async 1.0",
        ],
        "inherits": [
            "! src/lib.rs:S -> src/lib.rs:Debug",
            "src/lib.rs:S -> src/lib.rs:T 1.0",
            "src/lib.rs:Z -> src/lib.rs:T 1.0",
        ],
    },
    "c++: namespaces, over several files and in one another": {
        "files": {
            "a.h": "namespace n { void f(); namespace in { void g() {} } }\nvoid f() {}\n",
            "b.h": "namespace n { void h() {} class K { public: K() {} void m(); }; }\n",
            "m.cpp": (
                '#include "a.h"\n#include "b.h"\nnamespace n { void f() { h(); in::g(); } }\n'
                "void t() { n::f(); n::h(); n::in::g(); f(); }\n"
            ),
        },
        "invokes": [
            "m.cpp:n.f -> b.h:n.h 1.0",
            "m.cpp:n.f -> a.h:n.in.g 1.0",
            "m.cpp:t -> m.cpp:n.f 1.0",
            "m.cpp:t -> b.h:n.h 1.0",
            "m.cpp:t -> a.h:n.in.g 1.0",
            "m.cpp:t -> a.h:f 1.0",
            "! m.cpp:t -> a.h:n.f",
        ],
    },
    "typescript: namespaces and objects that hold functions": {
        "files": {
            "n.ts": (
                "export namespace N { export function f() { g() } function g() {} }\n"
                "export const o = { a() {}, b: () => { o.a() } }\nfunction a() {}\n"
            ),
            "u.ts": "import { N, o as p } from './n'\nfunction t() { N.f(); p.b(); p.a() }\n",
            "v.js": "function t() {\n  const o = { a() {} }\n  o.a()\n}\nfunction a() {}\n",
        },
        "invokes": [
            "n.ts:N.f -> n.ts:N.g 1.0",
            "n.ts:o.b -> n.ts:o.a 1.0",
            "! n.ts:o.b -> n.ts:a",
            "u.ts:t -> n.ts:N.f 1.0",
            "u.ts:t -> n.ts:o.b 1.0",
            "u.ts:t -> n.ts:o.a 1.0",
            "v.js:t -> v.js:t.o.a 1.0",
            "! v.js:t -> v.js:a",
        ],
    },
    "rust: modules inside a file": {
        "files": {
            "src/lib.rs": (
                "mod inner {\n  pub fn f() { g(); super::g() }\n  fn g() {}\n"
                "  pub mod deep { pub fn z() {} }\n}\n"
                "use inner::deep;\nfn g() {}\nfn t() { inner::f(); inner::deep::z(); deep::z() }\n"
            ),
        },
        "invokes": [
            "src/lib.rs:t -> src/lib.rs:inner.f 1.0",
            "src/lib.rs:t -> src/lib.rs:inner.deep.z 1.0",
            "src/lib.rs:inner.f -> src/lib.rs:inner.g 1.0",
        ],
    },
}
