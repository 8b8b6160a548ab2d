"""All commands of the program, found by the words that name them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import overload

from kafka_shell.language.command import Command


class Registry(Sequence[Command]):
    """Commands in the order of help. Looking one up imports its module and no other.

    `index` has the words of each module: the names and the short forms of its commands. `load`
    imports a module and returns its commands. Iterating imports all modules.
    """

    def __init__(
        self, index: Mapping[str, Sequence[str]], load: Callable[[str], Sequence[Command]]
    ) -> None:
        self._index, self._load = index, load
        self._modules = {word: module for module, words in index.items() for word in words}
        self._first = {word.split()[0]: module for word, module in self._modules.items()}
        self._commands: tuple[Command, ...] = ()
        self.most_words = max((word.count(" ") + 1 for word in self._modules), default=1)

    def named(self, name: str) -> Command | None:
        """The command with this name."""
        return next((each for each in self._module_of(name) if each.name == name), None)

    def with_flag(self, word: str) -> Command | None:
        """The command whose flag spelling this is: `--list-topics`."""
        flag = word.startswith("--") and "-" in word[2:]  # --broker is an option
        found = self.named(word[2:]) if flag else None
        return found if found is not None and found.verb_noun else None

    def line_of_short(self, word: str) -> str | None:
        """The full line of a short form."""
        shorts = (short for command in self._module_of(word) for short in command.shorts)
        return next((short.line for short in shorts if short.word == word), None)

    def has_first(self, word: str) -> bool:
        """Whether the name or the short form of a command begins with this word."""
        return word in self._first

    def with_first(self, word: str) -> Command | None:
        """A command whose name or short form begins with this word: the last, if several do."""
        commands = self._load(self._first[word]) if word in self._first else ()
        for command in reversed(commands):
            if any(each.split()[0] == word for each in words_of_command(command)):
                return command
        return None

    def continues(self, begun: str) -> bool:
        """Whether a command's name begins with these words and has more."""
        return any(word.startswith(begun) and word != begun for word in self._modules)

    def _module_of(self, word: str) -> Sequence[Command]:
        return self._load(self._modules[word]) if word in self._modules else ()

    def _all(self) -> tuple[Command, ...]:
        if not self._commands:
            self._commands = tuple(each for module in self._index for each in self._load(module))
        return self._commands

    def __iter__(self) -> Iterator[Command]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Command: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Command]: ...
    def __getitem__(self, index: int | slice) -> Command | Sequence[Command]:
        return self._all()[index]


def words_of_command(command: Command) -> tuple[str, ...]:
    """The command's name and its short forms."""
    return (command.name, *(short.word for short in command.shorts))
