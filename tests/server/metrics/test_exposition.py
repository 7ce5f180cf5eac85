"""The two formats of metrics: which is wanted, and how names, labels and numbers are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain
from prometheus_client.samples import Sample

from server.metrics.exposition import Form, label_of, labels_of, labels_text, wanted, written
from server.metrics.family import Family, Kind

PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form.TEXT),
        ("*/*", Form.TEXT),
        ("text/plain", Form.TEXT),
        ("text/html,application/xhtml+xml", Form.TEXT),
        (PROMETHEUS, Form.OPEN_METRICS),
        ("application/openmetrics-text", Form.OPEN_METRICS),
        ("Application/OpenMetrics-Text; Version=1.0.0; q=0.1", Form.OPEN_METRICS),
        ("application/openmetrics-text;version=2.0.0", Form.TEXT),
        ("application/openmetrics-text;q=0", Form.TEXT),
        (";;,,=", Form.TEXT),
    ],
)
def test_who_names_open_metrics_gets_it(accept, form):
    assert wanted(accept) is form


@given(st.lists(st.binary(max_size=300), max_size=3), st.floats() | st.integers())
def test_prometheus_clients_parsers_read_whatever_is_written(names, value):
    labels = [label_of(name) for name in names]
    keys = tuple(f"label_{at}" for at in range(len(labels)))
    assert list(labels_of(keys, labels_text(labels)).values()) == labels
    for form, parse in ((Form.TEXT, plain), (Form.OPEN_METRICS, open_metrics)):
        for kind, name in ((Kind.GAUGE, "a"), (Kind.COUNTER, "a_total")):
            if kind is Kind.COUNTER and not value >= 0:
                continue
            meaning = 'What "it" \\ is\nfor all'
            family = Family(name, kind, "", meaning, keys)
            samples = [Sample(name, dict(zip(keys, labels, strict=True)), value)]
            page = written(family, samples, form, True) + form.end
            [found] = parse(page.decode())
            [sample] = found.samples
            assert (sample.name, list(sample.labels.values())) == (name, labels)
            assert sample.value == float(value) or math.isnan(value)
            assert found.documentation == meaning
            assert found.type == kind.value


@pytest.mark.parametrize("form", Form)
def test_a_family_may_come_in_parts(form):
    family = Family("a_total", Kind.COUNTER, "", "Two\nlines", ("b",))
    parts = [[Sample("a_total", {"b": "1"}, 1)], [Sample("a_total", {"b": "2"}, 2)]]
    whole = written(family, parts[0] + parts[1], form, True)
    assert written(family, parts[0], form, True) + written(family, parts[1], form, False) == whole


@given(st.binary(max_size=600), st.binary(max_size=600))
def test_names_stay_apart(one, other):
    assert (label_of(one) == label_of(other)) == (one == other)
