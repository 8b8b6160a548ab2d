"""Who may import whom: the layers of the program, held by a test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent / "kafka_shell"
BASE = {"nouns", "values", "errors", "characters", "files", "private", "quoting"}

# Part of the program -> the parts it may import. A part is a folder or a module of kafka_shell.
MAY_IMPORT: dict[str, set[str]] = {
    "characters": set(),
    "errors": {"characters", "quoting"},
    "private": set(),
    "quoting": set(),
    "nouns": {"quoting"},
    "values": {"nouns", "errors"},
    "files": {"values", "errors"},
    "language": BASE,
    "client_configs": BASE,
    "clients": BASE | {"client_configs"},
    "admin": BASE | {"client_configs"},
    # Remedies are lines of this shell: they are quoted as the language reads them.
    "audit": BASE | {"admin", "settings", "client_configs", "language"},
    "metadata": BASE | {"admin", "settings"},
    "output": BASE,
    "config_file": BASE | {"admin"},
    "connection_options": BASE | {"admin", "config_file"},
    "settings": BASE | {"admin", "config_file", "connection_options"},
    "context": {"nouns", "admin", "metadata", "settings"},
    "history": BASE,
    "crash": BASE | {"context"},
    "takeback": BASE | {"language", "client_configs"},
    "journal": BASE | {"context", "language", "admin"},
    "identity": BASE | {"admin", "context", "settings"},
    "sending": BASE | {"context", "journal", "takeback"},
    "carry_out": BASE | {"context", "identity", "journal", "sending", "takeback", "admin"},
    # `theme` lists and previews what output draws with; `watch` and `source` run lines.
    "commands": BASE
    | {"language", "admin", "metadata", "context", "settings", "journal", "history"}
    | {"output", "watch", "script", "sandbox", "audit", "client_configs", "identity"},
    "sandbox": BASE | {"admin", "carry_out"},
    "watch": BASE | {"context", "output"},
    "redirect": BASE | {"context"},
    "dispatch": BASE
    | {"carry_out", "commands", "context", "crash", "identity", "language", "output", "settings"}
    | {"pasted_line", "redirect"},
    "pasted_line": BASE | {"commands", "context", "language", "admin"},
    "script": BASE | {"context", "dispatch", "journal", "language"},
    # The candidates are the prompt's own, and need no prompt_toolkit.
    "completion": BASE | {"commands", "language", "metadata", "context", "settings", "shell"},
}
ANYTHING = {"app", "__main__", "__init__"}
ANYTHING_BUT = {"shell": {"admin"}}

# Libraries that belong to one place each.
LIBRARIES: dict[str, set[str]] = {
    "kafka": {"admin", "clients", "sandbox/demo"},
    "prompt_toolkit": {"shell"},
    "pyspark": {"audit"},
    "pyarrow": {"audit"},
    "pandas": {"audit"},
    "jinja2": {"audit"},
    "jgo": {"sandbox"},
    "re2": {"language"},
}
# Modules that a one-shot imports at once must not pull these in at their head.
LAZY = {
    "kafka",
    "prompt_toolkit",
    "pyspark",
    "pyarrow",
    "jinja2",
    "yaml",
    "tqdm",
    "jgo",
    "platformdirs",
}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(module, at the head of the file) of each import that runs; TYPE_CHECKING's do not."""
    tree = ast.parse(path.read_text())
    package = ["kafka_shell", *path.relative_to(ROOT).parts[:-1]]
    for node, head in _walk(tree, True):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, head
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module, head
            for alias in node.names:
                yield f"{module}.{alias.name}", head


def _walk(node: ast.AST, head: bool) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        inner = head and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield child, head
        yield from _walk(child, inner)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    part = part_of(path)
    wrong = []
    for module, _ in imports(path):
        words = module.split(".")
        if words[0] != "kafka_shell" or len(words) < 2:
            continue
        target = words[1]
        if target == part or not ((ROOT / target).exists() or (ROOT / f"{target}.py").exists()):
            continue
        if part in ANYTHING:
            continue
        if part in ANYTHING_BUT:
            allowed = target not in ANYTHING_BUT[part]
        else:
            assert part in MAY_IMPORT, f"say in {__file__} what {part} may import"
            allowed = target in MAY_IMPORT[part]
        if not allowed:
            wrong.append(module)
    assert not wrong, f"{path.relative_to(ROOT)} ({part}) may not import {wrong}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_library_is_imported_only_where_it_belongs(path: Path) -> None:
    here = str(path.relative_to(ROOT).with_suffix(""))
    for module, _ in imports(path):
        homes = LIBRARIES.get(module.split(".")[0])
        if homes is not None:
            at_home = any(here == home or here.startswith((f"{home}/",)) for home in homes)
            assert at_home, f"{here} imports {module}, which belongs to {sorted(homes)}"


def test_a_one_shot_starts_without_the_heavy_libraries() -> None:
    """`list-topics` must pay neither for a prompt nor for Spark, and kafka only when needed."""
    import subprocess
    import sys

    code = (
        "import sys; import kafka_shell.app, kafka_shell.dispatch, kafka_shell.commands,"
        " kafka_shell.settings, kafka_shell.admin.topics;"
        f" print(sorted({LAZY!r} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]", "imported too early"
