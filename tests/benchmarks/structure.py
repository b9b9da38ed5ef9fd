"""Prints figures of the code's structure: lines, imports, long functions, names of measures.

    python tests/benchmarks/structure.py [--modules]

Pure lines are lines without blanks, comments and docstrings. The modules that `run` reaches are
those that `pipelines.cli.run` imports, its functions' own imports too, in any number of steps.
With `--modules` it prints these.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("pipelines", "transforms", "gates", "schemas", "wordlists", "prompts")
START = "pipelines.cli.run"
LAB = ("pipelines.lab.", "pipelines.cli.lab.", "transforms.lab.")
MEASURES = {
    "bias score": ("bias_score", "BiasS"),
    "coverage": ("coverage", "Coverage"),
    "stereotypes": ("stereotype", "Stereotype"),
}
LONG, COMPLEX = 50, 12
THIN = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT}
THIN.add(tokenize.ENDMARKER)
Function = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = ast.Module | ast.ClassDef | Function


def docstrings(tree: ast.AST) -> set[int]:
    """The numbers of the lines of all docstrings."""
    out: set[int] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, DOCUMENTED):
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                out.update(range(first.lineno, (first.end_lineno or 0) + 1))
    return out


def pure(text: str, tree: ast.AST) -> set[int]:
    """The numbers of the lines that have code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in THIN:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines - docstrings(tree)


def imports(tree: ast.AST, modules: set[str]) -> list[tuple[str, bool]]:
    """Own modules that a module imports, and whether a function does so; not those for types."""
    out: list[tuple[str, bool]] = []

    def visit(node: ast.AST, inner: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            names: list[str] = []
            if isinstance(child, ast.Import):
                names = [alias.name for alias in child.names]
            elif isinstance(child, ast.ImportFrom):
                names = [f"{child.module}.{alias.name}" for alias in child.names]
            for name in names:
                if name.startswith("evenflow."):
                    own = name.removeprefix("evenflow.")
                    while own and own not in modules:
                        own = own.rpartition(".")[0]
                    if own:
                        out.append((own, inner))
            visit(child, inner or isinstance(child, Function))

    visit(tree, False)
    return out


def tangled() -> list[str]:
    """The functions that are more complex than COMPLEX, as ruff counts (C901, McCabe 1976)."""
    limit = f"lint.mccabe.max-complexity={COMPLEX}"
    ruff = Path(sys.executable).with_name("ruff")
    options = ("--isolated", "--select", "C901", "--config", limit, "--output-format", "concise")
    run = subprocess.run(
        [ruff, "check", "--exit-zero", *options, *TOPS], cwd=ROOT, capture_output=True, text=True
    )
    return [line for line in run.stdout.splitlines() if "C901" in line]


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected parts of more than one module (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    out: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                out.append(sorted(part))

    for node in graph:
        if node not in index:
            visit(node)
    return out


def main() -> None:
    sys.setrecursionlimit(10_000)
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for top in TOPS
        for path in sorted((ROOT / top).rglob("*.py"))
    }
    all_lines = doc_lines = 0
    pure_lines: Counter[str] = Counter()
    graph: dict[str, set[str]] = defaultdict(set)
    eager: dict[str, set[str]] = defaultdict(set)
    lazy, classes = 0, defaultdict(set)
    long, complex_ = [], tangled()
    naming: dict[str, set[str]] = defaultdict(set)
    for module, path in files.items():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        own = pure(text, tree)
        all_lines += text.count("\n")
        doc_lines += len(docstrings(tree))
        pure_lines["lab" if f"{module}.".startswith(LAB) else "gate"] += len(own)
        for other, inner in imports(tree, set(files)):
            graph[module].add(other)
            lazy += inner
            if not inner:
                eager[module].add(other)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(module)
            elif isinstance(node, Function):
                length = len(own & set(range(node.lineno, (node.end_lineno or 0) + 1)))
                long += [f"{module}.{node.name} ({length})"] if length > LONG else []
        for measure, words in MEASURES.items():
            room = measure.replace(" ", "_")
            if (
                room not in module
                and not f"{module}.".startswith(LAB)
                and any(map(text.count, words))
            ):
                naming[measure].add(module)
    reached, queue = set(), [START]
    while queue:
        module = queue.pop()
        if module not in reached:
            reached.add(module)
            queue += graph[module]
    several = sorted(name for name, homes in classes.items() if len(homes) > 1)
    print(f"modules                       {len(files)}")
    print(f"lines; docstrings             {all_lines}; {doc_lines / all_lines:.0%}")
    wings = f"{pure_lines['gate']}; {pure_lines['lab']}"
    print(f"pure lines: all; gate; lab    {pure_lines.total()}; {wings}")
    for measure, found in naming.items():
        print(f"files that name {measure:13} {len(found)}")
    print(f"modules that run reaches      {len(reached)}")
    print(f"imports in functions          {lazy}")
    print(f"circles                       {len(circles(eager))}")
    print(f"class names with two homes    {len(several)}")
    print(f"functions over {LONG} lines       {len(long)}")
    print(f"functions more complex than {COMPLEX} {len(complex_)}")
    if "--modules" in sys.argv:
        for name, rows in (
            ("circles", [" ".join(part) for part in circles(eager)]),
            ("several homes", several),
            ("long", sorted(long)),
            ("complex", complex_),
            *((f"names {measure}", sorted(found)) for measure, found in naming.items()),
            ("reached", sorted(reached)),
        ):
            print(f"\n{name}\n  " + "\n  ".join(rows))


if __name__ == "__main__":
    main()
