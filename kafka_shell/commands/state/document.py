"""A YAML or JSON document whose values know their place, for errors with file, line and column."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from kafka_shell.errors import ShellError, UsageError, did_you_mean
from kafka_shell.files import bad_file, read_text
from kafka_shell.units import shorten

_MAX_SIZE = 64 << 20
_MERGE, _NULL, _BOOL = (f"tag:yaml.org,2002:{name}" for name in ("merge", "null", "bool"))
_TRUE = ("true", "yes", "on", "y")


Mapping = dict[str, tuple[Any, Any]]  # key -> (node of the key, node of the value)
Mappings = dict[int, Mapping | None]  # by the identity of the node; None while it is being read


class Place:
    """A value of a document. `mappings` are the mappings whose merge keys are read already."""

    def __init__(self, file: str, node: Any, mappings: Mappings) -> None:
        self.file = file
        self._node = node
        self._mappings = mappings

    def __str__(self) -> str:
        mark = self._node.start_mark
        return f"{self.file}:{mark.line + 1}:{mark.column + 1}"

    def error(self, what: str, hint: str = "") -> ShellError:
        """The error that something is wrong here."""
        mark = self._node.start_mark
        return bad_file(self.file, what, hint=hint, line=mark.line + 1, column=mark.column + 1)

    @property
    def is_null(self) -> bool:
        """Whether nothing is written here."""
        return bool(self._node.tag == _NULL)

    def pairs(self, what: str) -> Iterator[tuple[Place, Place]]:
        """The keys and values of a mapping, with those that its merge keys add."""
        if self.is_null:
            return
        for key, value in self._merged(what).values():
            yield self._at(key), self._at(value)

    def fields(self, what: str, known: Collection[str]) -> dict[str, Place]:
        """The values of a mapping by key. An unknown key is an error with the near miss."""
        found = {}
        for key, value in self.pairs(what):
            name = key.text("a field name")
            if name not in known:
                otherwise = f"Fields: {', '.join(known)}."
                hint = did_you_mean(name, known, otherwise)
                raise key.error(f"unknown field {shorten(name)} of {what}", hint)
            found[name] = value
        return found

    def items(self, what: str) -> list[Place]:
        """The values of a list."""
        if self.is_null:
            return []
        if not self._is("sequence"):
            raise self.error(f"{what} must be a list")
        return [self._at(node) for node in self._node.value]

    @property
    def is_list(self) -> bool:
        """Whether this is a list."""
        return self._is("sequence")

    def text(self, what: str) -> str:
        """A string, number or boolean, as it is written."""
        if not self._is("scalar") or self.is_null:
            raise self.error(f"{what} must be a value, not {self._description()}")
        text = str(self._node.value)
        if self._node.tag == _BOOL:
            return "true" if text.lower() in _TRUE else "false"
        return text

    def integer(self, what: str, least: int, most: int) -> int:
        """A whole number."""
        text = self.text(what)
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise self.error(f"{what} must be an integer from {least} to {most}, got {text[:60]!r}")
        return int(text)

    def boolean(self, what: str) -> bool:
        """True or false."""
        if self._node.tag != _BOOL:
            raise self.error(f"{what} must be true or false")
        return self.text(what) == "true"

    def _at(self, node: Any) -> Place:
        return Place(self.file, node, self._mappings)

    def _merged(self, what: str) -> Mapping:
        """What the mapping itself has, then what it merges (`<<`)."""
        if not self._is("mapping"):
            raise self.error(f"{what} must be a mapping")
        known = self._mappings.get(id(self._node), {})
        if known is None:
            raise self.error("a mapping is merged into itself")
        if known:
            return known
        self._mappings[id(self._node)] = None
        own: Mapping = {}
        merges: list[Any] = []
        for key, value in self._node.value:
            if key.tag == _MERGE:
                merges += value.value if value.id == "sequence" else [value]
                continue
            name = self._at(key).text("a key")
            if name in own:
                first = self._at(own[name][0])
                raise self._at(key).error(f"{shorten(name)} is set twice; first at {first}")
            own[name] = (key, value)
        for each in merges:
            for name, pair in self._at(each)._merged(what).items():
                own.setdefault(name, pair)
        self._mappings[id(self._node)] = own
        return own

    def _is(self, kind: str) -> bool:
        return bool(self._node.id == kind)

    def _description(self) -> str:
        if self.is_null:
            return "nothing"
        return {"mapping": "a mapping", "sequence": "a list"}.get(self._node.id, "a value")


def read_document(path: Path) -> Place | None:
    """The only document of a YAML or JSON file; None if it is empty."""
    import yaml

    file = str(path)
    text = read_text(path, largest=_MAX_SIZE)
    if path.suffix.lower() == ".json":
        text = text.replace("\t", " ")  # YAML forbids tabs; JSON has them only between values
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise bad_file(file, f"not valid YAML: {error.problem}", line=line, column=column) from None
    except (yaml.YAMLError, ValueError) as error:
        raise bad_file(file, f"not valid YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise bad_file(file, "not valid YAML: nested too deeply") from None
    finally:
        loader.dispose()
    return None if node is None else Place(file, node, {})


def at_place(place: Place, error: ShellError) -> ShellError:
    """An error of a value, with its place in the file."""
    hint = "" if isinstance(error, UsageError) and "Syntax" in error.hint else error.hint
    return place.error(error.message, hint)
