"""Counts pure lines of Python: lines without blanks, comments and docstrings."""

from __future__ import annotations

import ast
import io
import tokenize

THIN = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT}
THIN.add(tokenize.ENDMARKER)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


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


def pure(text: str) -> int:
    """The number of lines that have code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in THIN:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings(ast.parse(text)))
