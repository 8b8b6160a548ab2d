"""Tables of dynamic client configs and of client registrations."""

from __future__ import annotations

from kafka_shell.admin.client_configs.model import ClientConfig, ClientRegistration
from kafka_shell.base.units import ConfigType
from kafka_shell.output.humanize import format_raw, local_time
from kafka_shell.output.tables import Column

_USER = Column("USER", lambda row: row.entity.user, role="name")
_CLIENT_ID = Column("CLIENT-ID", lambda row: row.entity.client_id)

COLUMNS: dict[type, tuple[Column, ...]] = {
    ClientConfig: (
        _USER,
        _CLIENT_ID,
        Column("KEY", lambda config: config.key, role="key"),
        Column("VALUE", lambda c: format_raw(c.key, ConfigType.UNKNOWN, c.value), role="override"),
    ),
    ClientRegistration: (
        _USER,
        _CLIENT_ID,
        Column("SOFTWARE", lambda r: r.software_name),
        Column("VERSION", lambda r: r.software_version),
        Column("SUPPORTED", lambda r: ", ".join(r.supported), overflow="wrap"),
        Column("REGISTERED", lambda r: local_time(r.at)),
    ),
}
