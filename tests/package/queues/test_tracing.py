"""Traces through a queue: what a job carries, and what spans say of it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest
import redis
import redis.asyncio
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from penstock.queues import Queue, Rejected, Retry, Worker
from penstock.queues import asyncio as queues_asyncio
from penstock.queues import tracing as module
from penstock.queues.outcomes import NotRunError
from penstock.queues.tracing import carrying, traced, tracing
from penstock.testing import PenstockServer
from penstock.top.trace import trace_of


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What was recorded. The provider of the process stays unset: it can be set only once."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(module, "_tracer", provider.get_tracer("test"))
    yield exporter
    provider.shutdown()


@pytest.fixture(params=[True, False], ids=["text", "bytes"])
def queue(request: pytest.FixtureRequest, server: PenstockServer) -> Iterator[Queue]:
    with server.client(decode_responses=request.param) as client:
        queue = Queue(client, "mails", max_deliveries=2, backoff_ms=(0,))
        queue.declare()
        yield queue


def add(queue: Queue) -> None:
    with traced(queue, {"to": "ann"}) as fields:
        queue.enqueue(fields)


def by_name(spans: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in spans.get_finished_spans() if span.name == name]
    return found


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    assert span.attributes is not None
    return span.attributes


def test_producer_and_worker_are_in_one_trace(queue: Queue, spans: InMemorySpanExporter) -> None:
    add(queue)
    done: list[Any] = []
    assert Worker(queue, tracing(done.append)).drain() == 1
    assert len(done) == 1
    added, process = by_name(spans, "XADD mails"), by_name(spans, "process mails")
    assert (added.kind, process.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert added.context is not None
    assert process.parent is not None
    assert process.parent.span_id == added.context.span_id
    assert process.context is not None
    assert process.context.trace_id == added.context.trace_id


def test_the_attributes_are_those_of_redis_py(queue: Queue, spans: InMemorySpanExporter) -> None:
    """As redis.observability.attributes has them, where it is installed."""
    names = pytest.importorskip("redis.observability.attributes")
    add(queue)
    Worker(queue, tracing(lambda job: None)).drain()
    found = attributes(by_name(spans, "process mails"))
    expected = names.AttributeBuilder.build_base_attributes(db_namespace=0)
    expected |= names.AttributeBuilder.build_operation_attributes("XREADGROUP")
    expected |= {names.REDIS_CLIENT_STREAM_NAME: "mails"}
    expected |= {names.REDIS_CLIENT_CONSUMER_GROUP: "workers"}
    assert expected.items() <= found.items()
    assert set(found) - set(expected) <= {
        "messaging.message.id", names.SERVER_ADDRESS, names.SERVER_PORT,
    }  # fmt: skip


def test_where_the_server_is(server: PenstockServer, spans: InMemorySpanExporter) -> None:
    with redis.Redis(host=server.host, port=server.port) as client:
        queue = Queue(client, "mails")
        add(queue)
    found = attributes(by_name(spans, "XADD mails"))
    assert (found["server.address"], found["server.port"]) == (server.host, server.port)


def test_each_attempt_is_a_span_and_a_failure_is_an_error(
    queue: Queue, spans: InMemorySpanExporter
) -> None:
    def fail(job: Any) -> None:
        raise ConnectionError("away")

    add(queue)
    worker = Worker(queue, tracing(fail))
    assert worker.drain() + worker.drain() == 2
    attempts = [span for span in spans.get_finished_spans() if span.name == "process mails"]
    assert len(attempts) == 2
    for attempt in attempts:
        assert attempt.status.status_code is StatusCode.ERROR
        assert attributes(attempt)["error.type"] == "ConnectionError"
        assert [event.name for event in attempt.events] == ["exception"]
    dead: Any = queue.client.xrange("mails:dead")
    fields = {_bytes(name): _bytes(value) for name, value in dead[0][1].items()}
    found, context = trace_of(fields), attempts[0].context
    assert found is not None
    assert context is not None
    assert int(found.trace_id, 16) == context.trace_id


@pytest.mark.parametrize("told", [Retry(5, "later"), Rejected("no good")])
def test_what_a_function_says_on_purpose_is_no_error(
    told: Exception, queue: Queue, spans: InMemorySpanExporter
) -> None:
    def tell(job: Any) -> None:
        raise told

    add(queue)
    Worker(queue, tracing(tell)).drain()
    process = by_name(spans, "process mails")
    assert process.status.status_code is StatusCode.UNSET
    (event,) = process.events
    assert event.name == type(told).__name__.lower()
    assert event.attributes == {"reason": str(told)}


def test_a_job_without_a_trace_begins_one(queue: Queue, spans: InMemorySpanExporter) -> None:
    queue.enqueue({"to": "bob"})
    queue.enqueue({"to": "cem", "traceparent": "nonsense"})
    Worker(queue, tracing(lambda job: None)).drain()
    found = spans.get_finished_spans()
    assert [span.parent for span in found] == [None, None]


def test_nothing_is_carried_where_nothing_is_traced() -> None:
    assert carrying({"to": "ann"}) == {"to": "ann"}


def test_what_is_not_sampled_is_carried_as_not_sampled() -> None:
    context = trace.SpanContext(1, 2, is_remote=False, trace_flags=trace.TraceFlags(0))
    with trace.use_span(trace.NonRecordingSpan(context)):
        fields = carrying({"to": "ann"})
    assert fields["traceparent"] == f"00-{1:032x}-{2:016x}-00"


class Sender:
    """What a worker may be given besides a coroutine function: an object whose call is awaited."""

    def __init__(self) -> None:
        self.current: list[trace.SpanContext] = []

    async def __call__(self, job: Any) -> None:
        await asyncio.sleep(0)
        self.current.append(trace.get_current_span().get_span_context())
        if not job.fields.get("to"):
            raise ConnectionError("away")


@pytest.mark.asyncio
@pytest.mark.parametrize("wrapped", ["a coroutine function", "a function", "an object"])
async def test_a_worker_of_asyncio(
    wrapped: str, server: PenstockServer, spans: InMemorySpanExporter
) -> None:
    """Once, the span of an object ended before it was awaited."""
    sender = Sender()

    async def send(job: Any) -> None:
        await sender(job)

    def call(function: Any, job: Any) -> Any:
        return function(job)

    functions: dict[str, Any] = {
        "a coroutine function": send, "a function": partial(call, send), "an object": sender,
    }  # fmt: skip
    async with server.async_client(decode_responses=True) as client:
        queue = queues_asyncio.Queue(client, "mails")
        await queue.declare()
        with traced(queue, {"to": "ann"}) as fields:
            await queue.enqueue(fields)
        await queue.enqueue({"to": ""})
        assert await queues_asyncio.Worker(queue, tracing(functions[wrapped])).drain() == 2
    process, failed = (s for s in spans.get_finished_spans() if s.name == "process mails")
    assert process.parent is not None
    assert sender.current == [process.context, failed.context]
    assert [event.name for event in process.events] == []
    assert [event.name for event in failed.events] == ["exception"]


def test_what_returns_a_coroutine_is_for_the_worker_of_asyncio(
    queue: Queue, spans: InMemorySpanExporter
) -> None:
    """Once, Python warned of a coroutine that nobody awaited, and the span never ended."""
    add(queue)
    with pytest.raises(NotRunError):
        Worker(queue, tracing(Sender())).drain()
    gc.collect()
    assert by_name(spans, "process mails").end_time is not None


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else value.encode()
