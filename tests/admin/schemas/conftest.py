"""A real schema registry."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.schema_registry import Registry, running_registry


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Apicurio Registry, empty at first. Tests register schemas of their own subjects."""
    with running_registry(tmp_path_factory.mktemp("registry")) as registry:
        yield registry
