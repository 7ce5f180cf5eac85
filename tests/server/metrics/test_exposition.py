"""The two formats of metrics: which is wanted, and how names, labels and numbers are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain

from server.metrics.exposition import Form, head, label_of, labels_text, number, wanted, with_label
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


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (True, "1"), (2**63, str(2**63)), (0.5, "0.5"), (1e-7, "1e-07"), (1e22, "1e+22"),
     (math.inf, "+Inf"), (-math.inf, "-Inf"), (math.nan, "NaN")],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


@given(st.lists(st.binary(max_size=300), max_size=3), st.floats() | st.integers())
def test_prometheus_clients_parsers_read_whatever_is_written(names, value):
    labels = [label_of(name) for name in names]
    keys = [f"label_{at}" for at in range(len(labels))]
    for form, parse in ((Form.TEXT, plain), (Form.OPEN_METRICS, open_metrics)):
        for kind, name in ((Kind.GAUGE, "a"), (Kind.COUNTER, "a_total")):
            if kind is Kind.COUNTER and not value >= 0:
                continue
            text = labels_text(keys, labels)
            line = f"{name}{text} {number(value)}\n"
            meaning = 'What "it" \\ is\nfor all'
            page = head(Family(name, kind, "", meaning), form) + line + form.end.decode()
            [family] = parse(page)
            [sample] = family.samples
            assert (sample.name, list(sample.labels.values())) == (name, labels)
            assert sample.value == float(value) or math.isnan(value)
            assert family.documentation == meaning
            assert family.type == kind.value


@given(st.binary(max_size=600), st.binary(max_size=600))
def test_names_stay_apart(one, other):
    assert (label_of(one) == label_of(other)) == (one == other)


def test_a_label_more():
    labels = labels_text(("a",), ("x",))
    assert with_label(labels, "b", 'y"') == '{a="x",b="y\\""}'
    assert labels_text((), ()) == ""
