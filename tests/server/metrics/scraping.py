"""Asks for the page of metrics without sockets, and reads it as prometheus_client does."""

from __future__ import annotations

import itertools
from typing import Any

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain

from server.http.messages import Exchange
from server.metrics.exposition import Form
from server.metrics.page import Pages


class Asked(Exchange):
    """Who asks: takes one piece at each step, as long as the page has any."""

    def __init__(self):
        self.body: Any = None
        self.text = b""
        self.is_done = False
        self.steps = 0

    def respond(self, response):
        raise AssertionError(response)

    def begin(self, body, kind, headers=()):
        self.body = body
        self.kind = kind

    def wake(self):
        pass

    def step(self):
        """Take one piece."""
        piece = self.body.more()
        self.steps += 1
        if piece is None:
            self.is_done = True
            self.body.gone()
        else:
            self.text += piece

    def finish(self):
        while not self.is_done:
            self.step()
        return self.text.decode()


class Clock:
    """Passes by itself: each look at it is *step_s* later."""

    def __init__(self, step_s=0.0):
        self._looks = itertools.count()
        self._step_s = step_s

    def __call__(self):
        return next(self._looks) * self._step_s


def pages_of(server, step_s=0.0):
    return Pages(server.state, Clock(step_s))


def scraped(server, form=Form.TEXT):
    """The text of a page."""
    asked = Asked()
    pages_of(server).begin(form, asked)
    return asked.finish()


def families(text, form=Form.TEXT):
    """What prometheus_client finds in it, by name; a family that is there twice is an error."""
    found = {}
    for family in (open_metrics if form is Form.OPEN_METRICS else plain)(text):
        assert family.name not in found, family.name
        found[family.name] = family
    return found


def samples(server, form=Form.TEXT):
    """All samples: (name, labels) -> value."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families(scraped(server, form), form).values()
        for sample in family.samples
    }


def of(server, name, form=Form.TEXT):
    """The samples of one name, by the values of their labels (one: by that alone)."""
    found = {}
    for (each, labels), value in samples(server, form).items():
        if each == name:
            values = tuple(value for _, value in labels)
            found[values[0] if len(values) == 1 else values] = value
    return found
