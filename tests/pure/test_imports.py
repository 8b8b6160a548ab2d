"""The layers of the program: which modules may import which, and no import cycles."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.places import PACKAGE as ROOT

# Values and text: they know no cluster, no terminal and no command.
VALUES = {"base", "wire.model", "admin.*.model", "audit.model"}

# A folder or module -> what it may import besides itself. `*` is any one name; of several entries
# the longest counts.
MAY_IMPORT: dict[str, set[str]] = {
    "base": set(),
    "admin.*.model": VALUES,
    "language": {"base"},
    "wire": {"base"},
    # A family may read what another one reads; its changes are its own.
    "admin": VALUES | {"admin", "wire"},
    # What a plan would do: it reads the cluster, and nothing below knows it.
    "advice": VALUES | {"admin", "wire"},
    "clients": VALUES | {"admin.client_configs", "wire"},
    # Remedies are changes, which are shown as commands.
    "audit": VALUES | {"admin", "wire", "settings", "output"},
    "view": VALUES | {"admin", "wire", "settings", "language"},
    "output": VALUES,
    "sandbox": VALUES | {"admin", "wire"},
    "config_file": VALUES | {"wire"},
    "connection_options": VALUES | {"wire", "config_file"},
    "settings": VALUES | {"admin", "wire", "config_file", "connection_options"},
    "context": VALUES | {"wire", "view", "settings"},
    "history": VALUES,
    "crash": VALUES | {"context"},
    "journal": VALUES | {"context", "language", "wire"},
    "identity": VALUES | {"wire", "config_file", "context", "settings"},
    # `theme` lists and previews what output draws with.
    "commands": VALUES
    | {"language", "admin", "wire", "view", "context", "settings", "connection_options", "output"}
    | {"journal", "history", "identity", "sandbox", "audit", "run.watch", "config_file"},
    "pasted": VALUES | {"commands", "context", "language", "admin", "wire"},
    "run": VALUES
    | {"language", "commands", "admin", "wire", "view", "context", "settings", "connection_options"}
    | {"output", "journal", "identity", "crash", "pasted", "advice"},
}
ANYTHING = {"app", "start", "__main__", "__init__", "submit"}
# The prompt reads the view, and asks no cluster itself.
MAY_NOT_IMPORT = {"shell": {"admin"}}
EXCEPT = {"shell": {"admin.*.model"}}

# Families of `admin` read one another; their changes are their own, but for these.
CHANGES_ELSEWHERE = {
    ("admin.client_configs.store", "admin.topics.change"),  # creates its topics on first use
    ("admin.partitions.throttles", "admin.configs.change"),  # throttles are configs (KIP-73)
    ("admin.cluster.decommission", "admin.configs.change"),  # so is a cordon (KIP-1066)
}
CLIENT = "admin.client"  # offers every family

# Imports for types only that go up, until their models are moved down.
FOR_TYPES = {
    ("connection_options", "language.command"), ("context", "audit.engine"),
    ("context", "sandbox.cluster"),
}  # fmt: skip

# Imports in functions, counted by name.
IN_FUNCTIONS = 260
# What the declarations of a family may import from the folders of families.
DECLARING = {"spec", "kinds", "rules", "model"}

# Libraries that belong to one place each.
LIBRARIES: dict[str, set[str]] = {
    "kafka": {"admin", "wire", "clients", "sandbox.demo"},
    "prompt_toolkit": {"shell"},
    "pygments": {"output", "shell"},
    "pyspark": {"audit"},
    "pyarrow": {"audit"},
    "pandas": {"audit"},
    "jinja2": {"audit"},
    "jgo": {"sandbox"},
    "fastavro": {"admin.schemas"},
    "google": {"admin.schemas"},
    "grpc_tools": {"admin.schemas"},
    "re2": {"base.regex"},
    "cramjam": {"admin.records"},
    "google_crc32c": {"admin.records"},
}


@cache
def modules() -> dict[str, Path]:
    """The program's modules by their name below kafka_shell."""
    return {_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


@cache
def imports(name: str) -> tuple[tuple[str, bool], ...]:
    """(module, at the head of the file) of each import; those for types are at the head, too."""
    path = modules()[name]
    package = ["kafka_shell", *path.relative_to(ROOT).parts[:-1]]
    found: list[tuple[str, bool]] = []
    for node, head in _walk(ast.parse(path.read_text()), True):
        if isinstance(node, ast.Import):
            found += [(alias.name, head) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [(f"{module}.{alias.name}", head) for alias in node.names]
    return tuple(found)


def _walk(node: ast.AST, head: bool) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        inner = head and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield child, head
        yield from _walk(child, inner)


def ours(name: str) -> set[str]:
    """The modules of the program that this one imports, wherever in the file."""
    found = set()
    for imported, _ in imports(name):
        program, _, rest = imported.partition(".")
        if program != "kafka_shell":
            continue
        while rest and rest not in modules():
            rest = rest.rpartition(".")[0]
        if rest:
            found.add(rest)
    return {target for target in found - {name} if (name, target) not in FOR_TYPES}


def covers(pattern: str, name: str) -> bool:
    """Whether a module is the one of the pattern, or below it."""
    wanted, parts = pattern.split("."), name.split(".")
    return len(parts) >= len(wanted) and all(
        want in ("*", part) for want, part in zip(wanted, parts, strict=False)
    )


def rule_of(name: str) -> str | None:
    matching = [pattern for pattern in MAY_IMPORT if covers(pattern, name)]
    return max(matching, key=lambda pattern: len(pattern.split(".")), default=None)


def test_a_module_imports_only_what_its_layer_may() -> None:
    wrong = []
    for name in modules():
        top = name.partition(".")[0]
        if top in ANYTHING:
            continue
        if top in MAY_NOT_IMPORT:
            wrong += [
                f"{name} imports {target}"
                for target in ours(name)
                if any(covers(each, target) for each in MAY_NOT_IMPORT[top])
                and not any(covers(each, target) for each in EXCEPT[top])
            ]
            continue
        rule = rule_of(name)
        if rule is None:
            wrong.append(f"{name}: MAY_IMPORT has no entry for it")
            continue
        allowed = MAY_IMPORT[rule]
        wrong += [
            f"{name} ({rule}) imports {target}"
            for target in sorted(ours(name))
            if not (covers(rule, target) and "*" not in rule)
            and not any(covers(each, target) for each in allowed)
        ]
    assert not wrong, "\n".join(["these imports go up:", *wrong])


def test_a_family_changes_only_its_own() -> None:
    """Families of `admin` read one another; only a family's own modules import its `change`."""
    wrong = []
    for name in modules():
        if not name.startswith("admin.") or name == CLIENT:
            continue
        family = name.split(".")[1]
        wrong += [
            f"{name} imports {target}"
            for target in sorted(ours(name))
            if covers("admin.*.change", target)
            and target.split(".")[1] != family
            and (name, target) not in CHANGES_ELSEWHERE
        ]
    assert not wrong, "\n".join(wrong)


def test_no_import_goes_round_in_a_circle() -> None:
    circles = [circle for circle in _components() if len(circle) > 1]
    assert not circles, "\n".join(" <-> ".join(sorted(circle)) for circle in circles)


def _components() -> list[set[str]]:
    """Tarjan's strongly connected components of the import graph."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for target in ours(name):
            if target not in number:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], number[target])
        if low[name] == number[name]:
            at = stack.index(name)
            found.append(set(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for name in modules():
        if name not in number:
            visit(name)
    return found


def test_modules_are_imported_by_name_only_from_above() -> None:
    """The rules above cannot see such imports: here a package imports its own modules, and `admin`
    what it exports, `advice` its questions, and `wire.messages` those of kafka-python."""
    found = {name for name, path in modules().items() if "import_module(" in path.read_text()}
    assert found == {"admin", "advice", "commands", "wire.messages"}


def test_few_imports_are_in_functions() -> None:
    """They are for what a module seldom needs and takes long to import."""
    inside = sum(not head for name in modules() for _, head in imports(name))
    assert inside <= IN_FUNCTIONS


def test_declarations_import_nothing_that_runs_a_command() -> None:
    wrong = [
        f"{name} imports {target}"
        for name in modules()
        if covers("commands.*.spec", name)
        for target in ours(name)
        if covers("commands.*", target) and target.split(".")[-1] not in DECLARING
    ]
    assert not wrong, "\n".join(wrong)


def test_steps_are_in_the_core() -> None:
    wrong = [
        name
        for name, path in modules().items()
        if not name.startswith("admin.")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and node.name == "send"
        and "validate_only" in [each.arg for each in node.args.kwonlyargs]
    ]
    assert wrong == ["base.plans"], "only the protocol of a step"


def test_a_library_is_imported_only_where_it_belongs() -> None:
    wrong = []
    for name in modules():
        for imported, _ in imports(name):
            homes = LIBRARIES.get(imported.split(".")[0])
            if homes is not None and not any(covers(home, name) for home in homes):
                wrong.append(f"{name} imports {imported}, which belongs to {sorted(homes)}")
    assert not wrong, "\n".join(wrong)
