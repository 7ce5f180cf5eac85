"""The page of metrics: its names, its formats, its steps, who shares it, and its limits."""

from __future__ import annotations

import pytest

from server.metrics import page as pages
from server.metrics.exposition import Form
from server.metrics.page import Page
from tests.server.metrics.names import wanted_names
from tests.server.metrics.scraping import Asked, families, of, pages_of, samples, scraped


@pytest.fixture
def busy(make_server):
    """A server on which there is something of all that a primary has."""
    server = make_server(
        metrics_consumers=True,
        metrics_keys=["counter", "missing", "db1=other"],
        metrics_key_groups=["s*", "*"],
        slowlog_log_slower_than=0,
        latency_monitor_threshold=1,
    )
    server.send_line("SET counter 5.5")
    server.send_line("GET nothing")
    server.send_line("EXPIRE counter 1000")
    for ms in range(1, 4):
        server.send_line(f"XADD s {ms}-0 f v")
    server.send_line("XADD s IDMP p i * f v")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g c COUNT 2 STREAMS s >")
    server.send_line("HGET s f")
    server.state.latency_events.add_if_long(b"command", 5_000_000, 1_700_000_000)
    server.state.loop_lag.note(0.25)
    server.state.persistence.children.total_forks = 1
    return server


@pytest.mark.parametrize("form", Form)
def test_each_name_of_the_list_is_there_with_its_labels(busy, form):
    """But for those that are there only at times: test_sometimes.py has them."""
    found = samples(busy, form)
    labels = {name: {key for key, _ in labels} for name, labels in found}
    for name, expected, when in wanted_names():
        if not when:
            assert name in labels, name
            assert labels[name] == set(expected), name


def test_each_name_of_the_list_is_documented():
    documented = {family.name: set(family.labels) for family in pages.families()}
    for name, labels, _ in wanted_names():
        family = name
        for end in ("_bucket", "_sum", "_count"):
            if name.endswith(end) and name not in documented:
                family = name.removesuffix(end)
        assert family in documented, name
        assert set(labels) <= documented[family], name


@pytest.mark.parametrize("form", Form)
def test_all_that_is_shown_is_documented(busy, form):
    documented = {family.name.removesuffix("_total") for family in pages.families()}
    for family in families(scraped(busy, form), form).values():
        assert family.name.removesuffix("_total") in documented
        assert family.documentation


@pytest.mark.parametrize("form", Form)
def test_no_sample_is_there_twice(busy, form):
    lines = [line for line in scraped(busy, form).split("\n") if line and not line.startswith("#")]
    names = [line.rpartition(" ")[0] for line in lines]
    assert len(names) == len(set(names))


def test_both_formats_tell_the_same(busy):
    """But for what changes while it is read, and the sums of a summary of percents."""
    plain, other = samples(busy), samples(busy, Form.OPEN_METRICS)
    summary = "redis_latency_percentiles_usec_"
    assert {name for name, _ in plain if not name.startswith(summary)} == {
        name for name, _ in other
    }
    for name in ("redis_db_keys", "redis_stream_length", "redis_commands_total"):
        assert of(busy, name) == of(busy, name, Form.OPEN_METRICS)


def test_open_metrics_ends_with_its_end(busy):
    assert scraped(busy, Form.OPEN_METRICS).endswith("\n# EOF\n")
    assert "# EOF" not in scraped(busy)


class TestValues:
    def test_figures_of_streams(self, busy):
        busy.pass_time(1500)
        busy.state.events.clock.now_ms = busy.now_ms
        stream, group = ("db0", "s"), ("db0", "g", "s")
        assert of(busy, "redis_stream_length")[stream] == 4
        assert of(busy, "redis_stream_first_entry_id")[stream] == 1
        assert of(busy, "redis_stream_groups")[stream] == 1
        assert of(busy, "redis_stream_idmp_entries_added_total")[stream] == 1
        assert of(busy, "redis_stream_group_lag")[group] == 2
        assert of(busy, "redis_stream_group_messages_pending")[group] == 2
        assert of(busy, "penstock_stream_group_oldest_pending_seconds")[group] == 1.5
        assert of(busy, "penstock_stream_group_idle_consumers")[group] == 0
        consumer = ("c", "db0", "g", "s")
        assert of(busy, "redis_stream_group_consumer_idle_seconds")[consumer] == 1.5
        busy.pass_time(60_000)
        busy.state.events.clock.now_ms = busy.now_ms
        assert of(busy, "penstock_stream_group_idle_consumers")[group] == 1

    def test_redeliveries_and_dead_letters_are_counted(self, busy):
        busy.send_line("XGROUP CFGSET s g MAXDELIVERIES 2 DEADLETTER dead MKSTREAM")
        busy.send_line("XAUTOCLAIM s g d 0 0")
        busy.send_line("XAUTOCLAIM s g d 0 0")
        group = ("db0", "g", "s")
        assert of(busy, "penstock_stream_group_redeliveries_total")[group] == 2
        assert of(busy, "penstock_stream_group_dead_letters_total")[group] == 2

    def test_what_is_not_known_has_no_sample(self, make_server):
        """An exporter shows a lag that is null as 0."""
        server = make_server(slowlog_log_slower_than=-1)
        for ms in range(1, 6):
            server.send_line(f"XADD s {ms}-0 f v")
        server.send_line("XDEL s 4-0")
        server.send_line("XGROUP CREATE s g 2-0")
        assert server.send_line("XINFO GROUPS s")[0][-1] is None
        assert of(server, "redis_stream_group_lag") == {}
        assert of(server, "redis_stream_group_entries_read") == {}
        assert of(server, "penstock_stream_group_oldest_pending_seconds") == {}
        assert of(server, "redis_rdb_last_bgsave_duration_sec") == {}
        assert of(server, "redis_slowlog_last_id") == {}
        assert of(server, "redis_db_avg_ttl_seconds") == {}
        server.send_line("XTRIM s MAXLEN 0")
        assert of(server, "redis_stream_first_entry_id") == {}
        assert of(server, "redis_stream_length") == {("db0", "s"): 0}

    def test_figures_of_commands(self, busy):
        assert of(busy, "redis_commands_total")["xadd"] == 4
        assert of(busy, "redis_commands_failed_calls_total")["hget"] == 1
        assert of(busy, "redis_errors_total") == {"WRONGTYPE": 1}
        buckets = of(busy, "redis_commands_latencies_usec_bucket")
        assert buckets["xadd", "+Inf"] == 4
        assert of(busy, "redis_commands_latencies_usec_count")["xadd"] == 4
        assert {percent for _, percent in of(busy, "redis_latency_percentiles_usec")} == {
            "50", "99", "99.9",
        }  # fmt: skip

    def test_figures_of_keys(self, busy):
        assert of(busy, "redis_key_size") == {("db0", "counter"): 3}
        assert of(busy, "redis_key_value") == {("db0", "counter"): 5.5}
        assert of(busy, "redis_key_group_count") == {("db0", "s*"): 1, ("db0", "*"): 1}
        assert of(busy, "redis_db_keys")["db0"] == 2
        assert of(busy, "redis_db_keys_expiring")["db0"] == 1

    def test_blocked_clients_by_what_they_wait_for(self, busy):
        busy.client().send_line("BLPOP list 0")
        busy.client().send_line("XREAD BLOCK 0 STREAMS s $")
        busy.client().send_line("XREADGROUP GROUP g d BLOCK 0 MATCH nothing* >")
        busy.client().send_line("WAIT 1 0")
        counts = of(busy, "penstock_blocked_clients")
        assert {name: count for name, count in counts.items() if count} == {
            "list": 1, "stream": 2, "replicas": 1,
        }  # fmt: skip
        assert of(busy, "redis_blocked_clients") == {(): 4}

    def test_the_parts_of_the_memory_are_all_of_it(self, busy):
        found = samples(busy)
        parts = [value for (name, _), value in found.items() if name == "penstock_memory_bytes"]
        assert len(parts) == 7
        assert sum(parts) == found["redis_memory_used_bytes", ()]

    def test_the_lag_of_the_loop(self, busy):
        assert of(busy, "penstock_loop_lag_seconds_sum") == {(): 0.25}
        assert of(busy, "penstock_loop_lag_peak_seconds") == {(): 0.25}


class TestNamesOfStreams:
    @pytest.mark.parametrize("form", Form)
    def test_names_with_quotes_lines_and_backslashes_come_through(self, server, form):
        names = ['a"b', "a\\b", "a\nb", "a\\nb", "ä€😀", " ", "{", ""]
        for name in names:
            server.send("XADD", name, "1-0", "f", "v")
        assert {stream for _, stream in of(server, "redis_stream_length", form)} == set(names)

    @pytest.mark.parametrize("form", Form)
    def test_names_that_are_no_text_stay_apart(self, server, form):
        """Prometheus ends a page at a NUL, and shows what is no UTF-8 as the same mark."""
        for name in (b"a\xff", b"a\xfe", b"a\0", b"a\r", b"a\x80\x81"):
            server.send("XADD", name, "1-0", "f", "v")
        shown = [stream for _, stream in of(server, "redis_stream_length", form)]
        assert len(set(shown)) == 5
        assert all(name.startswith("a\N{REPLACEMENT CHARACTER}") for name in shown)
        assert not any(mark in scraped(server, form) for mark in "\0\r")

    def test_an_endless_name_is_cut(self, server):
        server.send("XADD", b"x" * 10_000, "1-0", "f", "v")
        server.send("XADD", b"x" * 10_001, "1-0", "f", "v")
        shown = [stream for _, stream in of(server, "redis_stream_length")]
        assert len(set(shown)) == 2
        assert all(len(name) < 220 for name in shown)

    def test_names_of_groups_and_consumers_too(self, busy):
        busy.send("XGROUP", "CREATECONSUMER", "s", "g", b'\xff"\n')
        consumers = {name for name, *_ in of(busy, "redis_stream_group_consumer_idle_seconds")}
        assert len(consumers) == 2
        assert any(name.startswith('\N{REPLACEMENT CHARACTER}"\n#') for name in consumers)


class TestLimits:
    def test_only_streams_of_the_patterns_are_shown(self, make_server):
        server = make_server(metrics_streams=["jobs:*", "mail"])
        for name in ("jobs:a", "jobs:b", "mail", "other"):
            server.send_line(f"XADD {name} 1-0 f v")
        shown = {stream for _, stream in of(server, "redis_stream_length")}
        assert shown == {"jobs:a", "jobs:b", "mail"}
        server.send("CONFIG", "SET", "metrics-streams", "")
        assert of(server, "redis_stream_length") == {}
        assert server.send_line("CONFIG GET metrics-streams") == [b"metrics-streams", b""]

    def test_consumers_are_shown_on_demand(self, busy):
        assert of(busy, "redis_stream_group_consumer_messages_pending")
        busy.send_line("CONFIG SET metrics-consumers no")
        assert of(busy, "redis_stream_group_consumer_messages_pending") == {}
        assert of(busy, "redis_stream_group_consumers") == {("db0", "g", "s"): 1}

    def test_series_are_bounded_and_what_is_left_out_is_counted(self, server):
        for number in range(50):
            server.send_line(f"XADD s:{number} 1-0 f v")
        assert of(server, "penstock_metrics_streams_left_out") == {(): 0}
        server.send_line("CONFIG SET metrics-max-series 200")
        shown = [labels for name, labels in samples(server) if "_stream_" in name]
        assert 0 < len(shown) <= 200
        streams = set(shown)
        assert of(server, "penstock_metrics_streams_left_out") == {(): 50 - len(streams)}
        assert "redis_up 1.0\n" in scraped(server), "all else is there"

    def test_a_stream_with_too_many_groups_leaves_the_room_to_others(self, server):
        for number in range(30):
            server.send_line(f"XGROUP CREATE wide g:{number} 0 MKSTREAM")
        server.send_line("XADD s 1-0 f v")
        server.send_line("CONFIG SET metrics-max-series 200")
        assert set(of(server, "redis_stream_length")) == {("db0", "s")}
        assert of(server, "penstock_metrics_streams_left_out") == {(): 1}

    def test_the_same_streams_are_shown_each_time(self, server):
        server.send_line("CONFIG SET metrics-max-series 200")
        for number in range(50):
            server.send_line(f"XADD s:{number} 1-0 f v")
        first = set(of(server, "redis_stream_length"))
        for number in range(50, 80):
            server.send_line(f"XADD s:{number} 1-0 f v")
        assert set(of(server, "redis_stream_length")) == first

    def test_while_data_are_loaded_streams_are_left_alone(self, busy):
        busy.state.restrictions.set_phase(loading=True)
        text = scraped(busy)
        assert "redis_stream_length" not in text
        assert "redis_loading_dump_file 1.0\n" in text


class TestSteps:
    @pytest.fixture
    def many(self, server):
        for number in range(300):
            server.send_line(f"XADD s:{number} 1-0 f v")
        return server

    def test_a_page_is_made_in_steps(self, many):
        asked = Asked()
        pages_of(many, step_s=pages.SLICE_S).begin(Form.TEXT, asked)
        text = asked.finish()
        assert asked.steps > 100, "each look at the clock ends a step"
        assert text.count("\nredis_stream_length{") == 300
        families(text)

    def test_groups_and_consumers_take_steps_too(self, make_server, monkeypatch):
        """A stream with many of them was one step."""
        monkeypatch.setattr(pages, "PIECE", 1)
        server = make_server(metrics_consumers=True)
        for number in range(20):
            server.send_line(f"XGROUP CREATE s g:{number} 0 MKSTREAM")
            server.send_line(f"XGROUP CREATECONSUMER s g:{number} c")
        many = Asked()
        pages_of(server, step_s=pages.SLICE_S).begin(Form.TEXT, many)
        many.step()
        while "redis_target_scrape" not in many.text.decode():
            many.step()
        before = many.steps
        while "redis_stream_length" not in many.text.decode():
            many.step()
            server.send_line(f"XGROUP DESTROY s g:{many.steps - before}")
        assert many.steps - before > 30
        families(many.finish())

    def test_keys_and_streams_may_change_meanwhile(self, many):
        asked = Asked()
        pages_of(many, step_s=pages.SLICE_S).begin(Form.OPEN_METRICS, asked)
        number = 300
        while not asked.is_done:
            asked.step()
            many.send_line(f"XADD s:{number} 1-0 f v")
            many.send_line(f"DEL s:{number - 300}")
            number += 1
        families(asked.text.decode(), Form.OPEN_METRICS)

    def test_who_asks_meanwhile_gets_the_same_page(self, many):
        made = pages_of(many, step_s=pages.SLICE_S)
        one, other = Asked(), Asked()
        made.begin(Form.TEXT, one)
        for _ in range(5):
            one.step()
        made.begin(Form.TEXT, other)
        assert other.finish() == one.finish()
        assert of(many, "redis_exporter_scrapes_total") == {(): 1}, "counted by pages of its own"

    def test_many_who_ask_have_one_step_made_in_a_turn(self, many, monkeypatch):
        """Each had one made: a hundred scrapes at a time held clients up for their sum."""
        made, steps = pages_of(many, step_s=pages.SLICE_S), []
        go_on = Page.go_on

        def counted(page):
            steps.append(page)
            go_on(page)

        monkeypatch.setattr(Page, "go_on", counted)
        everybody = [Asked() for _ in range(20)]
        for each in everybody:
            made.begin(Form.TEXT, each)
        for turn in range(1, 60):
            for each in everybody[turn % 3 :]:  # now and then some take nothing
                each.step()
            assert len(steps) <= turn
        assert len(steps) > 50
        assert len({each.finish() for each in everybody}) == 1

    def test_the_next_one_gets_a_new_page(self, many):
        made = pages_of(many)
        one, other = Asked(), Asked()
        made.begin(Form.TEXT, one)
        one.finish()
        many.send_line("XADD new 1-0 f v")
        made.begin(Form.TEXT, other)
        assert 'stream="new"' in other.finish()
        assert "redis_exporter_scrapes_total 2.0\n" in other.text.decode()
        assert "redis_exporter_scrape_duration_seconds_count 1.0\n" in other.text.decode()

    def test_nobody_gets_a_page_that_was_left(self, many):
        """Its figures would be of the time when it was begun."""
        made = pages_of(many, step_s=pages.SLICE_S)
        one, other = Asked(), Asked()
        made.begin(Form.TEXT, one)
        one.step()
        one.body.gone()
        many.send_line("XADD new 1-0 f v")
        made.begin(Form.TEXT, other)
        assert 'stream="new"' in other.finish()

    def test_a_page_that_fails_is_no_whole_page_for_anybody(self, many, monkeypatch):
        made = pages_of(many, step_s=pages.SLICE_S)
        one, other = Asked(), Asked()
        made.begin(Form.TEXT, one)
        made.begin(Form.TEXT, other)
        one.step()

        def fails(_page, _form):
            raise ZeroDivisionError
            yield b""

        monkeypatch.setattr(Page, "_of_keys", fails)
        with pytest.raises(ZeroDivisionError):
            one.finish()
        with pytest.raises(RuntimeError):
            other.finish()
        monkeypatch.undo()
        third = Asked()
        made.begin(Form.TEXT, third)
        text = third.finish()
        assert 'redis_exporter_last_scrape_error{err=""} 1.0\n' in text
        assert "redis_target_scrape_request_errors_total 1.0\n" in text


def test_small_steps_are_sent_together(make_server):
    """Each write costs the server as much as many lines."""
    server = make_server()
    for number in range(200):
        server.send_line(f"XGROUP CREATE s:{number} g 0 MKSTREAM")
    peer = Asked()
    pages_of(server, step_s=pages.SLICE_S).begin(Form.TEXT, peer)
    sizes = []
    while not peer.is_done:
        before = len(peer.text)
        peer.step()
        sizes.append(len(peer.text) - before)
    sent = [size for size in sizes if size]
    assert len(sent) > 3
    assert min(sent[:-1]) >= pages.PIECE
    assert max(sent) < 2 * pages.PIECE
    assert len(sizes) > 2 * len(sent)
