"""DescribeConfigs is encoded and decoded as by kafka-python's codec."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.admin import DescribeConfigsRequest, DescribeConfigsResponse

from kafka_shell.admin.configs.model import ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.configs.read import encode_request, read_response
from kafka_shell.base.units import ConfigType

VERSION = st.integers(1, 4)
NAME = st.text(max_size=200)
RESOURCE = st.builds(ConfigResource, st.sampled_from(ResourceType), NAME)


@given(
    VERSION,
    st.lists(RESOURCE, max_size=3),
    st.none() | st.lists(NAME, max_size=3),
    st.booleans(),
    st.booleans(),
)
def test_a_request_is_encoded_as_kafka_python_encodes_it(
    version: int,
    resources: list[ConfigResource],
    keys: list[str] | None,
    synonyms: bool,
    documentation: bool,
) -> None:
    theirs = DescribeConfigsRequest(
        resources=[
            DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=int(resource.type),
                resource_name=resource.name,
                configuration_keys=keys,
            )
            for resource in resources
        ],
        include_synonyms=synonyms,
        include_documentation=documentation and version >= 3,
    )
    ours = encode_request(version, resources, keys, synonyms=synonyms, documentation=documentation)
    assert ours == theirs.encode(version=version)


SYNONYM = st.tuples(NAME, st.none() | NAME, st.integers(0, 8))
CONFIG = st.tuples(
    NAME,
    st.none() | NAME,
    st.booleans(),
    st.integers(0, 12),
    st.booleans(),
    st.lists(SYNONYM, max_size=2),
    st.integers(0, 12),
    st.none() | NAME,
)
RESULT = st.tuples(st.integers(-1, 130), st.none() | NAME, RESOURCE, st.lists(CONFIG, max_size=3))


@given(VERSION, st.lists(RESULT, max_size=3).map(lambda rows: rows + rows))
def test_a_response_is_read_as_kafka_python_reads_it(version: int, results: list) -> None:
    body = _encoded(version, results)
    read = list(read_response(version, body))
    assert [(r, error, message) for r, error, message, _ in read] == [
        (resource, error, message or "") for error, message, resource, _ in results
    ]
    for (_, _, _, entries), (_, _, _, configs) in zip(read, results, strict=True):
        expected = sorted(configs, key=lambda config: config[0])
        assert [entry.name for entry in entries] == [config[0] for config in expected]
        for entry, config in zip(entries, expected, strict=True):
            _, value, read_only, source, sensitive, synonyms, kind, documentation = config
            assert entry.value == (None if sensitive else value)
            assert (entry.read_only, entry.sensitive) == (read_only, sensitive)
            assert entry.source is ConfigSource(source)
            assert [s.name for s in entry.synonyms] == [s[0] for s in synonyms]
            assert not sensitive or all(s.value is None for s in entry.synonyms)
            if version >= 3:
                assert entry.type is ConfigType(kind)
                assert entry.documentation == (documentation or "")


def _encoded(version: int, results: list) -> bytes:
    kind = DescribeConfigsResponse.DescribeConfigsResult
    row = kind.DescribeConfigsResourceResult
    return DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[
            kind(
                error_code=error,
                error_message=message,
                resource_type=int(resource.type),
                resource_name=resource.name,
                configs=[
                    row(
                        name=name,
                        value=value,
                        read_only=read_only,
                        config_source=source,
                        is_sensitive=sensitive,
                        synonyms=[
                            row.DescribeConfigsSynonym(name=n, value=v, source=s)
                            for n, v, s in synonyms
                        ],
                        config_type=type_,
                        documentation=about,
                    )
                    for name, value, read_only, source, sensitive, synonyms, type_, about in configs
                ],
            )
            for error, message, resource, configs in results
        ],
    ).encode(version=version)
