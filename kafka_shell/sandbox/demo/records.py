"""The records of the demo data, and the committed offsets of its groups.

Apart from timestamps, records are the same at every run: random values are seeded by topic name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.json import encode

from kafka_shell.admin.groups.model import Reset
from kafka_shell.admin.groups.steps import CommitOffsets
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure
from kafka_shell.sandbox.demo.company import GROUPS, STORE, DemoGroup
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig

# What the records of the demo company contain, and how often they are written.

Record = tuple[str | None, Any]  # key, value: None is a tombstone, bytes are sent unchanged
Make = Callable[[Random, int], Record]


class Feed(Struct, frozen=True):
    """The records of a topic: how many, and the age of the first and last in days."""

    topic: str
    count: int
    make: Make
    since: float = 1.5
    until: float = 0.0
    gzip: bool = False  # compressed by the producer


# -- contents --------------------------------------------------------------------------------------


def _order(random: Random, number: int) -> Record:
    key = f"o-{1000 + number}"
    items = random.randint(1, 5)
    return key, {
        "order": key,
        "customer": _customer(random),
        "items": items,
        "total": _money(random, 8 * items, 60 * items),
        "currency": "EUR",
    }


def _order_event(status: str) -> Make:
    def make(random: Random, number: int) -> Record:
        key = f"o-{random.randint(1000, 1399)}"
        return key, {"order": key, "status": status, "clerk": random.choice("ABCD")}

    return make


def _payment(random: Random, number: int) -> Record:
    key = f"p-{5000 + number}"
    return key, {
        "payment": key,
        "order": f"o-{random.randint(1000, 1399)}",
        "amount": _money(random, 8, 240),
        "currency": "EUR",
        "method": random.choice(("card", "card", "paypal", "invoice")),
    }


def _entry(random: Random, number: int) -> Record:
    account = f"acc-{random.randint(1, 40):03}"
    return account, {"account": account, "entry": number, "amount": _money(random, -90, 240)}


def _score(random: Random, number: int) -> Record:
    return f"p-{5000 + number}", {"score": round(random.random(), 4), "model": "v7"}


def _parcel(random: Random, number: int) -> Record:
    key = f"PK{random.randint(70_000, 70_299)}"
    return key, {
        "parcel": key,
        "status": random.choice(("accepted", "sorted", "out-for-delivery", "delivered", "lost")),
        "depot": random.choice(_DEPOTS),
        "grams": random.randint(80, 18_000),
    }


def _ping(random: Random, number: int) -> Record:
    van = f"van-{random.randint(1, 24):02}"
    at = (round(random.uniform(47.3, 54.8), 5), round(random.uniform(6.1, 14.9), 5))
    return van, {"van": van, "lat": at[0], "lon": at[1], "kmh": random.randint(0, 110)}


def _label(random: Random, number: int) -> Record:
    return f"PK{70_000 + number}", {"pdf": random.randbytes(1500).hex()}


def _route(random: Random, number: int) -> Record:
    depots = random.sample(_DEPOTS, 2)
    return "-".join(depots), {"from": depots[0], "to": depots[1], "minutes": 60 + number}


def _stock(random: Random, number: int) -> Record:
    sku = _sku(random)
    return sku, {"sku": sku, "depot": random.choice(_DEPOTS), "on_hand": random.randint(0, 500)}


def _movement(random: Random, number: int) -> Record:
    sku = _sku(random)
    return sku, {"sku": sku, "delta": random.choice((-3, -2, -1, -1, -1, 12, 48))}


def _profile(random: Random, number: int) -> Record:
    key = _customer(random)
    if random.random() < 0.06:
        return key, None  # forgotten on request
    name = random.choice(("Ada", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hana"))
    return key, {"customer": key, "name": name, "tier": random.choice(("basic", "plus"))}


def _address(random: Random, number: int) -> Record:
    key = _customer(random)
    return key, {"customer": key, "city": random.choice(_DEPOTS), "zip": random.randint(10, 99)}


def _ticket(random: Random, number: int) -> Record:
    return f"t-{number}", {"customer": _customer(random), "subject": "Where is my parcel?"}


def _click(random: Random, number: int) -> Record:
    return None, {
        "session": f"{random.getrandbits(48):012x}",
        "page": random.choice(("/", "/search", "/cart", "/checkout", f"/p/{_sku(random)}")),
        "agent": random.choice(("Mozilla/5.0 (X11; Linux)", "Mozilla/5.0 (iPhone)", "curl/8.5")),
        "ms": random.randint(12, 900),
    }


def _search(random: Random, number: int) -> Record:
    return None, {
        "q": random.choice(("lamp", "desk", "mug", "sofa", "")),
        "hits": random.randint(0, 90),
    }


def _cart(random: Random, number: int) -> Record:
    key = f"{random.getrandbits(16):04x}"
    return key, {"skus": [_sku(random) for _ in range(random.randint(0, 4))]}


def _invoice(random: Random, number: int) -> Record:
    key = f"INV-{20_000 + number}"
    return key, {"invoice": key, "customer": _customer(random), "total": _money(random, 9, 900)}


def _revenue(random: Random, number: int) -> Record:
    return f"day-{number:03}", {"orders": random.randint(80, 420), "eur": _money(random, 4e3, 3e4)}


def _broken(random: Random, number: int) -> Record:
    return None, b'{"order": "o-' + str(random.randint(1000, 1399)).encode() + b'", "total": 1'


def _connector(random: Random, number: int) -> Record:
    return f"connector-{('jdbc-orders', 's3-clicks')[number % 2]}", {"tasks.max": "2"}


def _aggregate(random: Random, number: int) -> Record:
    return _customer(random), {"orders": random.randint(1, 40), "eur": _money(random, 10, 4000)}


def _customer(random: Random) -> str:
    return f"c-{random.randint(1, 120):04}"


def _sku(random: Random) -> str:
    return f"SKU-{random.randint(100, 179)}"


def _money(random: Random, low: float, high: float) -> str:
    return f"{random.uniform(low, high):.2f}"


_DEPOTS = ("Aachen", "Bremen", "Dresden", "Kassel", "Ulm")

FEEDS = (
    Feed("orders.placed", 400, _order),
    Feed("orders.shipped", 250, _order_event("shipped")),
    Feed("orders.cancelled", 30, _order_event("cancelled")),
    Feed("orders.returns", 20, _order_event("returned"), since=20),
    Feed("orders.placed.dlq", 7, _broken, since=12, until=3),
    Feed("payments.authorized", 350, _payment),
    Feed("payments.captured", 300, _payment, gzip=True),
    Feed("payments.refunds", 25, _payment, since=40),
    Feed("payments.ledger", 300, _entry, since=6),
    Feed("payments.fraud-scores", 150, _score),
    Feed("payments.captured.dlq", 3, _broken),
    Feed("shipping.parcels", 400, _parcel),
    Feed("shipping.labels", 12, _label, gzip=True),
    Feed("shipping.routes", 20, _route, since=6),
    Feed("shipping.gps", 500, _ping, since=0.1),
    Feed("inventory.stock", 200, _stock),
    Feed("inventory.movements", 300, _movement, gzip=True),
    Feed("customers.profile", 150, _profile, since=30),
    Feed("customers.addresses", 80, _address, since=30),
    Feed("customers.support-tickets", 25, _ticket, since=160, until=95),
    Feed("web.clickstream", 900, _click, since=60),
    Feed("web.searches", 200, _search),
    Feed("web.carts", 100, _cart),
    Feed("web.sessions", 80, _click, since=0.2),
    Feed("billing.invoices", 120, _invoice, since=200, gzip=True),
    Feed("analytics.revenue-daily", 60, _revenue, since=60, gzip=True),
    Feed("tmp.backfill", 150, _movement, since=0.5, until=0.4),
    Feed("tmp.replay", 60, _order, since=5, until=4),
    Feed("tmp.anna-test", 3, _search, since=400, until=390),
    Feed("connect-configs", 6, _connector, since=90, until=30),
    Feed(f"{STORE}-changelog", 90, _aggregate),
)


End = int
Ends = Mapping[str, Mapping[int, End]]
_SEED = "kafka.sh"
_DAY_S = 86_400.0
_PRODUCE_S = 30.0


# -- producing -------------------------------------------------------------------------------------


def produce(connection: ConnectionConfig, topics: Sequence[NewTopic]) -> dict[str, dict[int, End]]:
    """Produce the records of these empty topics and return the end offset of each partition.

    Raises ShellError with the topics whose records could not be produced.
    """
    ends = {new.name: dict.fromkeys(range(new.partitions or 0), 0) for new in topics}
    for gzip in (False, True):
        feeds = [feed for feed in FEEDS if feed.topic in ends and feed.gzip is gzip]
        if feeds:
            _produce(connection, feeds, "gzip" if gzip else None, ends)
    return ends


def _client(connection: ConnectionConfig) -> dict[str, Any]:
    """Return the connection options for kafka-python clients."""
    options: dict[str, Any] = {
        "bootstrap_servers": [str(address) for address in connection.bootstrap],
        "security_protocol": connection.security_protocol,
    }
    if connection.tls.ca_file:
        options["ssl_cafile"] = connection.tls.ca_file
    if connection.sasl is not None:
        password = connection.sasl.password
        options |= {
            "sasl_mechanism": connection.sasl.mechanism,
            "sasl_plain_username": connection.sasl.username,
            "sasl_plain_password": password.reveal() if password else "",
        }
    return options


def _produce(
    connection: ConnectionConfig,
    feeds: Sequence[Feed],
    compression: str | None,
    ends: dict[str, dict[int, End]],
) -> None:
    from kafka import KafkaProducer
    from kafka.errors import KafkaError

    producer = KafkaProducer(
        **_client(connection),
        client_id="demo",
        compression_type=compression,
        linger_ms=5,
        batch_size=1 << 17,
        max_block_ms=_PRODUCE_S * 1000,
    )
    try:
        # The first record of a topic waits for its metadata, so metadata is fetched in parallel.
        with ThreadPoolExecutor(len(feeds)) as pool:
            list(pool.map(producer.partitions_for, [feed.topic for feed in feeds]))
        sent = [
            (feed.topic, producer.send(feed.topic, **record))
            for feed in feeds
            for record in _records(feed, len(ends[feed.topic]))
        ]
        producer.flush(timeout=_PRODUCE_S)
    except KafkaError as error:
        raise _failed(
            "records", {"the records": Failure(type(error).__name__, str(error))}
        ) from None
    finally:
        with suppress(KafkaError):  # what is left cannot be written
            producer.close(timeout=1)
    lost: dict[str, Failure] = {}
    for topic, future in sent:
        if future.succeeded():
            end = ends[topic]
            end[future.value.partition] = max(end[future.value.partition], future.value.offset + 1)
        else:
            reason = "no response" if future.exception is None else str(future.exception)
            lost[f"topic {topic}"] = Failure("NOT_PRODUCED", reason)
    if lost:
        raise _failed("records", lost)


def _records(feed: Feed, partitions: int) -> Iterator[dict[str, Any]]:
    """Yield the records of a feed as arguments of `send`, oldest first."""
    random = Random(f"{_SEED} {feed.topic}")
    now = time.time()
    step = (feed.since - feed.until) * _DAY_S / feed.count
    for number in range(feed.count):
        key, value = feed.make(random, number)
        age = feed.since * _DAY_S - number * step
        yield {
            "key": None if key is None else key.encode(),
            "value": value if value is None or isinstance(value, bytes) else encode(value),
            # Without a key the partitioner chooses a random partition without a seed.
            "partition": random.randrange(partitions) if key is None else None,
            "timestamp_ms": int((now - age) * 1000),
        }


# -- committing ------------------------------------------------------------------------------------


def commit(cluster: Cluster, ends: Ends) -> None:
    """Commit the offsets of all groups in new topics without joining the groups.

    Raises ShellError with the failures.
    """
    resets = ((group, tuple(_resets(readings, ends))) for group, readings in GROUPS.items())
    step = CommitOffsets(tuple((group, some) for group, some in resets if some))
    failures = step.send(cluster, validate_only=False).failures if step.groups else {}
    failed = {f"group {change.resource.name}": why for change, why in failures.items()}
    if failed:
        raise _failed("offsets", failed)


def _resets(readings: Iterable[DemoGroup], ends: Ends) -> Iterator[Reset]:
    for reading in readings:
        for partition, end in ends.get(reading.topic, {}).items():
            if not reading.partitions or partition in reading.partitions:
                where = TopicPartition(reading.topic, partition)
                yield Reset(where, None, int(end * reading.share))


def _failed(what: str, failed: Mapping[str, Failure]) -> ShellError:
    reasons = "; ".join(f"{name}: {why}" for name, why in failed.items())
    return ShellError(f"cannot create the {what} of the demo data: {reasons}", code="demo-data")
