"""Client properties with sources of passwords."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.settings import Settings, load


def loaded(tmp_path: Path, text: str, mode: int = 0o600) -> Settings:
    file = tmp_path / "config.toml"
    file.write_text(f'[profiles.dev]\nbootstrap = "kafka.example.com:9093"\n{text}')
    file.chmod(mode)
    return load({"profile": "dev"}, {}, file)


SASL = '"security.protocol" = "SASL_SSL"\n"sasl.mechanism" = "PLAIN"\nusername = "al"\n'


def password(found: Settings) -> str:
    sasl = found.connection.sasl
    assert sasl is not None
    assert sasl.source is not None
    return sasl.source.read(sasl.username).reveal()
