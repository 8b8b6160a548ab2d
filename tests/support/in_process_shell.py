"""The shell in this process: runs a line and returns its output."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_shell import settings
from kafka_shell.context import ClusterSession, Context, Paths, Report, Resources
from kafka_shell.run.dispatch import run_text


@dataclass
class Answer:
    """What one line answered."""

    line: str
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def __str__(self) -> str:
        return f"{self.line}\n-> {self.status}\n{self.out}\n{self.err}"


@dataclass
class Shell:
    """Runs lines against one cluster, in this process."""

    home: Path
    bootstrap: str
    resources: Resources = field(default_factory=Resources)
    answers: list[str] = field(default_factory=list)
    report: Report = lambda task, done, total: None
    asked: list[str] = field(default_factory=list)  # the questions so far

    def __call__(self, line: str, *, answer: str | None = None) -> Answer:
        paths = Paths.of({"KAFKA_SH_HOME": str(self.home)})
        found = settings.load({"broker": self.bootstrap}, {}, paths.config_file)
        out, err = io.StringIO(), io.StringIO()

        def ask(question: str, secret: bool = False) -> str:
            self.asked.append(question)
            return answer or ""

        context = Context(
            ClusterSession(found),
            paths,
            out,
            err,
            environ={},
            ask=None if answer is None else ask,
            resources=self.resources,
            report=self.report,
        )
        try:
            status = run_text(line, context)
        finally:
            context.close()
        assert "Traceback" not in err.getvalue(), err.getvalue()
        return Answer(line, int(status), out.getvalue(), err.getvalue())

    def ok(self, line: str) -> Answer:
        """A line that must end well."""
        run = self(line)
        assert run.status == 0, str(run)
        return run

    def profile(self, name: str, bootstrap: str, **more: str) -> None:
        """Add a profile to config.toml."""
        file = Paths.of({"KAFKA_SH_HOME": str(self.home)}).config_file
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"[profiles.{name}]", f'bootstrap = "{bootstrap}"']
        lines += [f'"{key}" = {json.dumps(value)}' for key, value in more.items()]
        with file.open("a") as text:
            text.write("\n".join(lines) + "\n")
