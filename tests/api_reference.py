"""Generates docs/library-reference.md from the docstrings of the admin client."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from msgspec import Struct

from kafka_shell.admin.calls import ClusterPlan, Family
from kafka_shell.admin.client import Admin

_EXAMPLE = "Example:\n"
_HEAD = """# Library reference

Generated from the docstrings by `python -m tests.generated_docs`. Every example runs as a test on a
real Kafka, with `admin` as `Admin(bootstrap)` and the names of `kafka_shell.admin` imported.
"""


def families() -> list[type[Family]]:
    """The classes behind the attributes of Admin, in their order."""
    return list(_families_by_attribute().values())


def example_of(family: type[Family]) -> str:
    """The Python code under `Example:` in the docstring of a family."""
    return textwrap.dedent(_doc(family).partition(_EXAMPLE)[2]).strip()


def anchor(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def contents(titles: Iterable[str]) -> str:
    """A line with links to the sections of a page."""
    return "- " + " · ".join(f"[{title}](#{anchor(title)})" for title in titles)


def reference() -> str:
    """The text of the page."""
    sections = ["Admin", "A plan", *(f"admin.{name}" for name in _families_by_attribute())]
    classes = [*_class("Admin", Admin), *_class("A plan", ClusterPlan)]
    return "\n".join([_HEAD, f"{contents(sections)}\n", *classes, *_families()])


def _families() -> Iterator[str]:
    for attribute, family in _families_by_attribute().items():
        about = _doc(family).partition(_EXAMPLE)[0].strip()
        yield f"## admin.{attribute}\n\n{about}\n"
        yield f"```python\n{example_of(family)}\n```\n"
        yield from _members(family)


def _class(title: str, kind: type) -> Iterator[str]:
    yield f"## {title}\n\n{_doc(kind)}\n"
    yield from _members(kind)


def _members(kind: type) -> Iterator[str]:
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        function = getattr(member, "function", getattr(member, "__func__", member))
        if inspect.isfunction(function):
            first = ("self", "cls", "cluster: Cluster")
            parameters = [p for p in _signature(function) if p not in first]
            yield f"### {name}({', '.join(parameters)})\n\n{_doc(function)}\n"
        elif isinstance(member, property):
            yield f"### {name}\n\n{_doc(member)}\n"


def _signature(function: Callable[..., object]) -> list[str]:
    found = inspect.signature(function)
    parameters = [
        each if each.default is each.empty else each.replace(default=_Default(each.default))
        for each in found.parameters.values()
    ]
    text = str(found.replace(parameters=parameters))
    return text[1 : text.rindex(")")].replace("'", "").split(", ")


class _Default:
    """A default value, printed as it is written in the code."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        if isinstance(self._value, Struct):
            return f"{type(self._value).__name__}()"
        if isinstance(self._value, Enum):
            return str(self._value)
        if isinstance(self._value, str):
            return f'"{self._value}"'
        return self._value.__name__ if callable(self._value) else repr(self._value)


def _families_by_attribute() -> dict[str, type[Family]]:
    admin = Admin("localhost:9092")  # nothing is sent before the first call
    return {name: type(value) for name, value in vars(admin).items() if isinstance(value, Family)}


def _doc(thing: object) -> str:
    return inspect.getdoc(thing) or ""
