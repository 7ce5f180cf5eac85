"""The two formats of metrics: which is wanted, and how names, labels and numbers are written."""

from __future__ import annotations

import gc
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain

from server.metrics import exposition
from server.metrics.exposition import Form, Writer, label_of, labels_of, labels_text, wanted
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
            writer = Writer(form)
            lines = writer.lines(family, name, [labels_text(labels)], [value])
            page = writer.head(family) + lines + form.end
            [found] = parse(page.decode())
            [sample] = found.samples
            assert (sample.name, list(sample.labels.values())) == (name, labels)
            assert sample.value == float(value) or math.isnan(value)
            assert found.documentation == meaning
            assert found.type == kind.value


@pytest.mark.parametrize("form", Form)
def test_what_is_not_known_is_left_out(form):
    family = Family("a", Kind.GAUGE, "", "Meaning", ("b",))
    assert Writer(form).lines(family, "a", ["x", "y", "z"], [1, None, 0]) == (
        b'a{b="x"} 1.0\na{b="z"} 0.0\n'
    )


@pytest.mark.parametrize("form", Form)
def test_pages_are_the_same_whether_their_labels_are_known_or_not(form):
    family = Family("a_total", Kind.COUNTER, "", "Meaning", ("b", "c"))
    writer, pages = Writer(form), [("1", "2"), ("2", "3"), ("3",), ("1", "2", "3")]
    for number, page in enumerate(pages):
        writer.begin_page()
        labels = [labels_text((each, 'q"\n 0.0\n')) for each in page]
        values = [number + float(each) / 3 for each in page]
        lines = writer.lines(family, "a_total", labels, values)
        assert lines == Writer(form).lines(family, "a_total", labels, values)
        assert lines.count(b"\n") == len(page)


def test_a_writer_keeps_no_more_than_two_pages_have():
    family = Family("a", Kind.GAUGE, "", "Meaning", ("b",))
    writer = Writer(Form.TEXT)
    for number in range(100):
        writer.begin_page()
        writer.lines(family, "a", [str(number)], [1])
    kept = [each for each in gc.get_referents(writer.__dict__) if isinstance(each, dict)]
    by_name = [each["a"] for each in kept if isinstance(each.get("a"), dict)]
    assert sorted(text for each in by_name for text in each) == ["98", "99"]
    assert {place[1] for each in kept for place in each if type(place) is tuple} == {"98", "99"}


PAGES = st.lists(
    st.lists(
        st.tuples(st.sampled_from("xyz"), st.sampled_from([None, 0, False, 1, True, 2.5])),
        unique_by=lambda sample: sample[0],
    ),
    max_size=6,
)


@given(PAGES, st.sampled_from(Form))
def test_lines_of_the_page_before_are_used_only_where_nothing_has_changed(pages, form):
    family = Family("a", Kind.GAUGE, "", "Meaning", ("b",))
    writer = Writer(form)
    for page in pages:
        writer.begin_page()
        labels, values = [label for label, _ in page], [value for _, value in page]
        expected = Writer(form).lines(family, "a", labels, values)
        assert writer.lines(family, "a", labels, values) == expected


def test_the_lines_that_are_kept_are_limited(monkeypatch):
    """metrics-max-series may be set to millions."""
    monkeypatch.setattr(exposition, "MOST_KEPT", 2)
    family = Family("a", Kind.GAUGE, "", "Meaning", ("b",))
    writer = Writer(Form.TEXT)
    for _ in range(3):
        writer.begin_page()
        for label in "xyz":
            writer.lines(family, "a", [label], [1])
    kept = [each for each in gc.get_referents(writer.__dict__) if isinstance(each, dict)]
    places = [place for each in kept for place in each if type(place) is tuple]
    assert places == [("a", "x"), ("a", "y")] * 2


@given(st.binary(max_size=600), st.binary(max_size=600))
def test_names_stay_apart(one, other):
    assert (label_of(one) == label_of(other)) == (one == other)


@pytest.mark.parametrize("name", [b"\xff", b"a\0b", b"x" * 300])
def test_no_name_is_shown_as_another_one_is(name):
    """Prometheus would take only one of two samples with the same labels."""
    assert label_of(label_of(name).encode()) != label_of(name)
