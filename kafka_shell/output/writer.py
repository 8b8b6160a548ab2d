"""Print the value that a command returns, in the selected output format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from time import monotonic
from typing import Any, TextIO

from kafka_shell.base.command_results import Document, Listing, NoRows, StreamedOutput
from kafka_shell.base.outcome import Outcome
from kafka_shell.base.plans import Plan
from kafka_shell.base.results import Parts, Results
from kafka_shell.output.columns import columns_of
from kafka_shell.output.data import ENCODERS, EncodingOptions
from kafka_shell.output.styled_stream import StyledStream
from kafka_shell.output.tables import NO_RENDERERS, Page, Renderers, draw_table, lay_out
from kafka_shell.output.text import Text, hang, text
from kafka_shell.output.theme import Depth, Theme, depth_of

SCREENFUL = 40  # the first rows of a stream determine its column widths
NAMED = 20  # resources with the same failure
PATIENCE = 0.2  # seconds to wait for further rows before the first are printed


class Writer:
    """Prints values to `out` and failures to `err`. `format`: table, json, yaml or csv.

    `color` is for `out`; `color_err` for `err` (default: as `out`). `width` is that of the
    terminal, or None to never cut or wrap lines. `before` is called before each write to `out` (to
    hide a progress bar), `before_err` before each to `err`. `renderers` have the tables and pages
    of models. Of changes, `quiet` prints only errors, and in a script no undo commands, which the
    journal has. Every method raises PipeClosed when the reader of `out` is closed; the caller then
    ends the command quietly.
    """

    def __init__(
        self,
        out: TextIO,
        err: TextIO,
        format: str = "table",
        theme: Theme | None = None,
        color: bool = False,
        width: int | None = None,
        *,
        color_err: bool | None = None,
        depth: Depth | None = None,
        before: Callable[[], None] | None = None,
        before_err: Callable[[], None] | None = None,
        safe_csv: bool = False,
        verbose: bool = False,
        quiet: bool = False,
        in_script: bool = False,
        renderers: Renderers = NO_RENDERERS,
    ) -> None:
        self.format = format
        self.renderers = renderers
        self.safe_csv = safe_csv
        self.verbose = verbose
        self.quiet = quiet
        self.in_script = in_script
        color_err = color if color_err is None else color_err
        if depth is None:
            depth = depth_of(os.environ)
        self.out = StyledStream(
            out, theme=theme, depth=depth if color else 0, width=width, before=before
        )
        self.err = StyledStream(
            err, theme=theme, depth=depth if color_err else 0, width=width, before=before_err
        )

    def write(self, value: object) -> None:
        """Print a value: text as is, a page for a model, a table for several, Results, an Outcome.

        Rows of an iterator are printed as they arrive. Strings are printed as is in every format.
        """
        if value is None:
            return
        # The changes are made: their failures are reported even if nobody reads the rest.
        self.out.may_close |= isinstance(value, Outcome)
        if isinstance(value, NoRows):
            self.err.lines(hang(text(value.note, "hint"), self.err.width, 2))
            value = ()
        if isinstance(value, Document):
            from kafka_shell.output.errors import grouped_failure_lines

            self._text(value.text, value.language)
            self.err.lines(
                grouped_failure_lines(value.failures, self.err.width, place=self.err.place)
            )
        elif isinstance(value, StreamedOutput):
            self._pieces(value)
        elif isinstance(value, str):
            self._text(value)
        elif isinstance(value, Outcome) and value.streams:
            self._draw_outcome(value)
        elif self.format == "table":
            self._draw(value)
        else:
            self._encode(value)

    def _text(self, characters: str, language: str = "") -> None:
        if characters:
            self.out.raw(characters if characters.endswith("\n") else f"{characters}\n", language)

    def _pieces(self, pieces: StreamedOutput) -> None:
        for piece in pieces:
            if isinstance(piece, bytes):
                self.out.binary(piece)
            elif isinstance(piece, str):
                self.out.raw(piece, pieces.language)
            else:
                self.out.lines(piece)  # type: ignore[arg-type]
        self._failures(pieces)

    def _encode(self, value: object) -> None:
        options = EncodingOptions(
            self.out.unicode, self.out.terminal, self.safe_csv, self.renderers
        )
        pieces = ENCODERS[self.format](value, options)
        language = "" if self.format == "csv" else self.format
        for piece in pieces if isinstance(value, Iterator) else ("".join(pieces),):
            self.out.raw(piece, language)
        if isinstance(value, Results | Parts):
            self._failures(value)
        elif isinstance(value, Outcome):
            from kafka_shell.output.outcomes import draw_problems

            draw_problems(value, self.err)

    def _draw(self, value: object) -> None:
        if isinstance(value, Plan):
            self.draw_plan(value, (), stream=self.out)
        elif isinstance(value, Outcome):
            self._draw_outcome(value)
        elif isinstance(value, Listing):
            self._listing(value)
        elif isinstance(value, Results):
            self._several(list(value.flat()))
            self._failures(value)
        elif isinstance(value, tuple | list | set | frozenset):
            self._several(list(value))
        elif isinstance(value, Parts):
            self._stream(self._opened(value))
        elif isinstance(value, Iterator):
            self._stream(value)
        else:
            self._one(value)

    def draw_plan(
        self, plan: Plan, undo: Sequence[str] | None, *, stream: StyledStream | None = None
    ) -> None:
        """Print a plan to `err`, or to `stream`; `undo` are the commands that will undo it.

        If nobody is asked (`undo` is None), the outcome tells what was changed, and only the
        remarks are printed, except with --verbose. A long plan is shortened, but a dry run (a
        `stream`) only on a terminal.
        """
        from kafka_shell.output import outcomes

        short = stream is None or stream.terminal
        stream = stream or self.err
        if undo is None and not self.verbose:
            stream.lines(outcomes.refused_lines(plan, stream.width, stream.place))
            if not self.quiet:
                for about in plan.advice.about:
                    stream.lines(hang(text(about, "heading"), stream.width, 2))
                stream.lines(outcomes.unchanged_lines(plan.unchanged))
                stream.lines(outcomes.remark_lines(plan, stream.width, notes=False))
            return
        limit = outcomes.LONG if short and not self.verbose else None
        stream.lines(
            outcomes.plan_lines(
                plan, undo or (), self.renderers, limit=limit, room=stream.width,
                place=stream.place, verbose=self.verbose,
            )
        )  # fmt: skip

    def _draw_outcome(self, outcome: Outcome) -> None:
        """Print done changes and the fresh state to `out`; failures and the undo commands to `err`.

        The undo commands are not repeated if the question already showed them. Failures found while
        planning were shown with the plan and are only counted. For a dry run, the plan is printed
        to `out`, failures and the verdict of the brokers to `err`.
        """
        from kafka_shell.output import outcomes

        if outcome.dry_run:
            stream = self.out
            stream.lines(
                outcomes.plan_lines(
                    outcome.plan, (), self.renderers,
                    limit=outcomes.LONG if stream.terminal and not self.verbose else None,
                    room=stream.width, refused=False, verbose=self.verbose,
                )
            )  # fmt: skip
            self.err.lines(outcomes.problem_lines(outcome, self.err.width, self.err.place))
            planned = (item.change for item in outcome.changes if item.status == "planned")
            stream.lines(outcomes.undo_lines(outcome.undo, outcomes.lost_by(planned)))
            self.err.line(outcomes.verdict_of(outcome))
            return
        if not self.quiet:
            (self.err if outcome.streams else self.out).lines(
                outcomes.done_lines(outcome, verbose=self.verbose)
            )
        self.err.lines(outcomes.problem_lines(outcome, self.err.width, self.err.place))
        if not outcome.undo_shown and not self.quiet and not self.in_script:
            self.err.lines(outcomes.undo_of_outcome(outcome))
        if not self.quiet or outcome.plan.bookkeeping.made():
            self.write(outcome.fresh)
        secrets = outcome.plan.bookkeeping.secrets
        if secrets and any(item.status in ("done", "unknown") for item in outcome.changes):
            self.write(secrets)
        if not self.quiet:
            self.err.lines(outcomes.next_lines(outcome))

    def _listing(self, listing: Listing) -> None:
        if listing.long:
            self._table(listing.rows)
        else:
            self.out.words(listing.field_values())

    def _failures(self, results: Results[Any, Any] | Parts[Any, Any] | StreamedOutput) -> None:
        from kafka_shell.output.errors import grouped_failure_lines

        listed = (
            "" if isinstance(results, StreamedOutput) else "for the full list, use --output json"
        )
        self.err.lines(
            grouped_failure_lines(
                results.failures, self.err.width, most=NAMED, listed=listed, place=self.err.place
            )
        )

    def _opened(self, parts: Parts[Any, Any]) -> Iterator[object]:
        for part in parts:
            yield from part.flat()
            self._failures(part)

    def _one(self, value: object) -> None:
        if isinstance(value, Mapping):
            self._table([value])
        elif isinstance(value, bool | int | float):
            self.out.line(text(str(value)))
        else:
            self._several([value])

    def _several(self, values: Sequence[object]) -> None:
        """Print values: pages separated by blank lines, or one table per type of model."""
        for number, (kind, run) in enumerate(groupby(values, type)):
            if number and kind is not str:
                self.out.line(Text())
            self._run(kind, list(run))

    def _run(self, kind: type, values: Sequence[object]) -> None:
        if kind is str:
            self.out.lines(text(str(value)) for value in values)
        elif sequence := self.renderers.sequence(kind):
            self.out.lines(sequence(values, self.out.width))
        elif page := self.renderers.page(kind):
            self.out.lines(self._pages(page, values))
        elif issubclass(kind, Results | Outcome | Plan | Listing):
            for value in values:
                self._draw(value)
        else:
            self._table(values)

    def _pages(self, page: Page, values: Iterable[object]) -> Iterator[Text]:
        for number, value in enumerate(values):
            if number:
                yield Text()
            yield from page(value, self.out.width)

    def _table(self, rows: Sequence[object]) -> None:
        if rows:
            columns = columns_of(rows[0], self.renderers)
            keep = isinstance(rows[0], Mapping)  # of a query: what was asked for is shown
            self.out.lines(draw_table(columns, rows, width=self.out.width, keep_empty=keep))

    def _stream(self, values: Iterator[object]) -> None:
        for number, (kind, run) in enumerate(groupby(values, type)):
            if number and kind is not str:
                self.out.line(Text())
            if self.renderers.sequence(kind):
                self._streamed_groups(kind, run)
            elif kind is str or self.renderers.page(kind) or issubclass(kind, Results):
                self._streamed_pages(kind, run)
            else:
                self._streamed_table(run)

    def _streamed_pages(self, kind: type, values: Iterable[object]) -> None:
        for number, value in enumerate(values):
            if number and self.renderers.page(kind):
                self.out.line(Text())
            self._run(kind, [value])

    def _streamed_groups(self, kind: type, values: Iterable[object]) -> None:
        """Configs: one table per resource, printed when complete."""
        for number, (resource, run) in enumerate(groupby(values, _resource)):
            if number:
                self.out.line(Text())
            if resource is not None:
                self.out.line(text(str(resource), "heading"))
            self._run(kind, list(run))

    def _streamed_table(self, values: Iterator[object]) -> None:
        """Column widths come from the first rows; empty columns are kept for later rows."""
        first, complete = _soon(values)
        if complete:
            self._table(first)
            return
        layout = lay_out(
            columns_of(first[0], self.renderers), first, width=self.out.width, keep_empty=True
        )
        self.out.lines(chain(layout.heading(), *(layout.row(row) for row in first)))
        for row in values:
            self.out.lines(layout.row(row))
        self.out.lines(layout.footer(self.out.width))


def _resource(entry: object) -> object:
    return getattr(entry, "resource", None)


def _soon(values: Iterator[object]) -> tuple[list[object], bool]:
    """The rows that arrive within PATIENCE, at most a screenful; and whether these are all."""
    until = monotonic() + PATIENCE
    rows: list[object] = []
    for value in values:
        rows.append(value)
        if len(rows) == SCREENFUL or monotonic() > until:
            return rows, False
    return rows, True
