"""Traces that go through a queue: a job carries its trace in its fields (docs/tracing.md).

    producer                      stream                         worker
    span "XADD mails"     ->      traceparent 00-<trace>-..  ->  span "process mails", of that trace

The fields ``traceparent`` and ``tracestate`` are those of W3C Trace Context. It needs
opentelemetry-api alone, and does nothing as long as no exporter is set up. Attributes have the
names that redis-py gives its own metrics.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import redis
from opentelemetry import propagate, trace
from opentelemetry.propagators.textmap import Getter
from opentelemetry.trace import SpanKind

from penstock.queues.outcomes import Rejected, Retry, reason_of
from penstock.queues.words import QueueWords
from penstock.queues.worker_words import JobWords

Result = TypeVar("Result")

STREAM, GROUP = "redis.client.stream.name", "redis.client.consumer_group"
OPERATION = "db.operation.name"
MESSAGE = "messaging.message.id"

_tracer = trace.get_tracer("penstock.queues")


@contextmanager
def traced(queue: QueueWords[Any], fields: Mapping[Any, Any]) -> Iterator[dict[Any, Any]]:
    """A span for adding a job; the block is given *fields* with the trace in them.

    with traced(queue, {"to": "ann"}) as fields:
        queue.enqueue(fields)
    """
    attributes = _attributes(queue, "XADD")
    with _tracer.start_as_current_span(
        f"XADD {_text(queue.name)}", kind=SpanKind.PRODUCER, attributes=attributes
    ):
        yield carrying(fields)


def carrying(fields: Mapping[Any, Any]) -> dict[Any, Any]:
    """*fields* with the trace of the present span, if there is one. For any XADD."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return {**fields, **carrier}


def tracing(function: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """A worker's *function*, each call of it in a span of its job's trace.

    Worker(queue, tracing(send)).run()

    A job that fails has the exception in its span; Retry and Rejected are no errors of the program,
    and are events. If *function* returns an awaitable, the span ends when that is done.
    """
    if inspect.iscoroutinefunction(function):

        async def call_async(job: Any) -> Any:
            with _processing(job):
                return await function(job)

        return call_async  # type: ignore[return-value]  # Result is an awaitable then

    def call(job: Any) -> Result:
        with ExitStack() as span:
            span.enter_context(_processing(job))
            result = function(job)
            if not inspect.isawaitable(result):
                return result
            rest = span.pop_all()
        return _Traced(result, rest)  # type: ignore[return-value]  # Result is an awaitable

    return call


class _Traced(Coroutine[Any, Any, Any]):
    """An awaitable that a function has returned, whose span ends with it, or by close()."""

    def __init__(self, result: Awaitable[Any], span: ExitStack) -> None:
        self._result = result
        self._span = span
        self._steps = self._run()

    async def _run(self) -> Any:
        with self._span:
            return await self._result

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._steps.__await__()

    def send(self, value: Any) -> Any:
        return self._steps.send(value)

    def throw(self, *error: Any) -> Any:
        return self._steps.throw(*error)

    def close(self) -> None:
        """Nobody is going to await it."""
        self._steps.close()
        with self._span:
            if inspect.iscoroutine(self._result):
                self._result.close()


@contextmanager
def _processing(job: JobWords[Any]) -> Iterator[None]:
    queue: QueueWords[Any] = job.queue
    of_job = {GROUP: _text(queue.group), MESSAGE: _text(job.id)}
    attributes = {**_attributes(queue, "XREADGROUP"), **of_job}
    with _tracer.start_as_current_span(
        f"process {_text(queue.name)}",
        context=propagate.extract(job.fields, getter=_FIELDS),
        kind=SpanKind.CONSUMER,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except (Retry, Rejected) as told:
            span.add_event(type(told).__name__.lower(), {"reason": reason_of(told)})
            raise
        except Exception as error:
            span.record_exception(error)
            span.set_status(trace.Status(trace.StatusCode.ERROR, str(error)))
            span.set_attribute("error.type", type(error).__qualname__)
            raise


def _attributes(queue: QueueWords[Any], operation: str) -> dict[str, str | int]:
    found: dict[str, str | int] = {
        "db.system": "redis",
        "redis.client.library": f"redis-py:v{redis.__version__}",
        OPERATION: operation,
        STREAM: _text(queue.name),
    }
    where = queue.client.connection_pool.connection_kwargs
    if "host" in where:
        found["server.address"] = where["host"]
        found["server.port"] = int(where.get("port", 6379))
    found["db.namespace"] = str(where.get("db", 0))
    return found


class _Fields(Getter[Mapping[Any, Any]]):
    """Reads a trace out of fields, whether the client has decoded them or not."""

    def get(self, carrier: Mapping[Any, Any], key: str) -> list[str] | None:
        value = carrier.get(key, carrier.get(key.encode()))
        return None if value is None else [_text(value)]

    def keys(self, carrier: Mapping[Any, Any]) -> list[str]:
        return [_text(name) for name in carrier]


_FIELDS = _Fields()


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
