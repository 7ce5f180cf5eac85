"""XADD with IDMP and IDMPAUTO, XCFGSET, XIDMPRECORD: what is logged, replayed, kept, forgotten."""

from __future__ import annotations

from typing import Any

from storage import types
from storage.payload import dump, restore
from storage.stream import producers as stream_producers

NOW = 1_700_000_000_000
TRACKED = (b"pids-tracked", b"iids-tracked", b"iids-added", b"iids-duplicates")


def tracked(server: Any, key: str = "s") -> tuple[int, ...]:
    """Producers, ids of them, how many were ever added, and how many came again."""
    reply = server.send("XINFO", "STREAM", key)
    facts = dict(zip(reply[::2], reply[1::2], strict=True))
    return tuple(facts[name] for name in TRACKED)


def replay(server: Any, *lines: bytes) -> None:
    call = server.dispatcher.replaying.begin()
    for line in lines:
        assert call(line.split()) == "", line


def stream(server: Any, key: bytes = b"s") -> Any:
    return server.state.databases[0].peek(key)


class TestXadd:
    def test_the_id_and_the_producer_are_logged(self, server: Any) -> None:
        server.send_line("XADD s IDMP p a * f v")
        server.send_line("XADD s NOMKSTREAM IDMPAUTO p * f v")
        assert server.logged() == [
            b"XADD s IDMP p a %d-0 f v" % NOW,
            b"XADD s NOMKSTREAM IDMPAUTO p %d-1 f v" % NOW,
        ]

    def test_a_trim_by_estimate_is_logged_as_exact_with_the_producer(self, server: Any) -> None:
        server.send_line("XADD s IDMP p a MAXLEN ~ 5 * f v")
        assert server.logged() == [b"XADD s IDMP p a MAXLEN = 1 %d-0 f v" % NOW]

    def test_14858_a_repeated_entry_is_a_change_and_is_logged(self, server: Any) -> None:
        server.send_line("XADD s IDMP p a * f v")
        server.logged()
        changes = server.state.events.changes
        assert server.send_line("XADD s IDMP p a * f v") == b"%d-0" % NOW
        assert server.logged() == [b"XADD s IDMP p a * f v"]
        assert server.state.events.changes == changes + 1
        assert tracked(server) == (1, 1, 1, 1)

    def test_what_was_logged_gives_the_same_when_it_is_replayed(self, server: Any) -> None:
        for line in ("IDMP p a * f v", "IDMP p a * f v", "IDMPAUTO p * f v", "IDMPAUTO p * f v"):
            server.send_line("XADD s " + line)
        logged = server.logged()
        before = stream(server)
        server.send_line("DEL s")
        replay(server, *logged)
        assert dump(stream(server)) == dump(before)
        assert tracked(server) == (1, 2, 2, 2)

    def test_a_repeated_entry_is_none_when_replayed_even_if_its_id_is_not_known(
        self, server: Any
    ) -> None:
        replay(server, b"XADD s IDMP p a 5-1 f v")
        server.now_ms += 1_000_000
        replay(server, b"XADD s IDMP p a * f v", b"XADD s IDMP p other * f v")
        replay(server, b"XADD new IDMP p a * f v")
        assert server.send_line("XLEN s") == 1
        assert server.send_line("EXISTS new") == 0
        assert tracked(server) == (0, 0, 1, 2)

    def test_a_new_entry_is_new_when_replayed_even_if_its_name_is_known(self, server: Any) -> None:
        replay(server, b"XADD s IDMP p a 5-1 f v", b"XADD s IDMP p a 6-1 f v")
        assert server.send_line("XLEN s") == 2
        assert stream(server).producers.find(b"p", b"a", 0).encode() == b"6-1"

    def test_in_a_transaction_each_entry_is_known_to_the_next(self, server: Any) -> None:
        """NATS had no duplicates in batches before 2.12.1."""
        for _ in range(2):
            server.send_line("MULTI")
            for name in "aba":
                server.send_line(f"XADD s IDMP p {name} * f v")
            assert server.send_line("EXEC") == [b"%d-%d" % (NOW, seq) for seq in (0, 1, 0)]
        assert server.send_line("XLEN s") == 2

    def test_an_entry_that_cannot_be_added_is_not_known(self, server: Any) -> None:
        server.send_line("XADD s 18446744073709551615-18446744073709551615 f v")
        assert b"exhausted" in server.send_line("XADD s IDMP p a * f v").encode()
        assert tracked(server) == (0, 0, 0, 0)

    def test_an_id_is_forgotten_when_its_time_is_over(self, server: Any) -> None:
        server.send_line("XADD s IDMP p a * f v")
        server.now_ms += 99_999
        assert server.send_line("XADD s IDMP p a * f v") == b"%d-0" % NOW
        server.now_ms += 1
        assert server.send_line("XADD s IDMP p a * f v") == b"%d-0" % (NOW + 100_000)
        assert tracked(server) == (1, 1, 2, 1)

    def test_a_stream_of_an_older_form_has_the_server_s_limits(self, server: Any) -> None:
        server.send_line("CONFIG SET stream-idmp-maxsize 1")
        for name in ("a", "b"):
            server.send_line(f"XADD s IDMP p {name} * f v")
        assert tracked(server) == (1, 1, 2, 0)


class TestKept:
    def test_14869_what_was_loaded_is_forgotten_in_time(self, server: Any) -> None:
        server.send_line("XADD s IDMP p a * f v")
        loaded = restore(dump(stream(server)))
        assert loaded.producers.tracked == 1
        stream_producers.expire_due(NOW + 101_000)
        assert loaded.producers.tracked == 0

    def test_14869_the_same_of_what_was_copied_renamed_and_restored(self, server: Any) -> None:
        server.send_line("XADD s IDMP p a * f v")
        server.send_line("COPY s copied")
        server.send("RESTORE", "restored", 0, server.send_line("DUMP s"))
        server.send_line("RENAME s renamed")
        server.now_ms += 101_000
        stream_producers.expire_due(server.now_ms)
        for key in (b"copied", b"restored", b"renamed"):
            assert stream(server, key).producers.tracked == 0

    def test_14794_commands_make_the_same_producers(self, server: Any) -> None:
        for line in ("IDMP p a * f v", "IDMP p b * f v", "IDMPAUTO q * f v"):
            server.send_line("XADD s " + line)
        server.send_line("XCFGSET t IDMP-DURATION 5")
        before = stream(server).producers.sorted_producers()
        commands = list(types.of(stream(server)).commands(b"s", stream(server)))
        server.send_line("DEL s")
        call = server.dispatcher.replaying.begin()
        assert [call(list(words)) for words in commands] == [""] * len(commands)
        assert stream(server).producers.sorted_producers() == before

    def test_14794_limits_of_a_stream_are_among_its_commands(self, server: Any) -> None:
        server.send_line("XADD s 1-1 f v")
        server.send_line("XCFGSET s IDMP-DURATION 5")
        commands = list(types.of(stream(server)).commands(b"s", stream(server)))
        assert [b"XCFGSET", b"s", b"IDMP-DURATION", b"5", b"IDMP-MAXSIZE", b"100"] in commands

    def test_14897_a_name_whose_entry_is_gone_is_in_no_command(self, server: Any) -> None:
        """XIDMPRECORD would refuse it, and the log could not be loaded."""
        for name in ("a", "b"):
            server.send_line(f"XADD s IDMP p {name} * f v")
        server.send_line(f"XDEL s {NOW}-0")
        commands = list(types.of(stream(server)).commands(b"s", stream(server)))
        names = [words[3] for words in commands if words[0] == b"XIDMPRECORD"]
        assert names == [b"b"]

    def test_a_stream_without_producers_makes_no_new_words(self, server: Any) -> None:
        server.send_line("XADD s 1-1 f v")
        commands = list(types.of(stream(server)).commands(b"s", stream(server)))
        assert {words[0] for words in commands} == {b"XADD", b"XSETID"}


class TestXcfgset:
    def test_a_change_is_logged_and_the_same_values_are_not(self, server: Any) -> None:
        server.send_line("XADD s 1-1 f v")
        server.logged()
        server.send_line("XCFGSET s IDMP-DURATION 100")
        server.send_line("XCFGSET s IDMP-DURATION 99")
        server.send_line("XCFGSET s IDMP-DURATION 99 IDMP-MAXSIZE 100")
        assert server.logged() == [b"XCFGSET s IDMP-DURATION 99"]

    def test_the_same_values_do_not_make_the_stream_larger(self, server: Any) -> None:
        server.send_line("XADD s 1-1 f v")
        server.send_line("XCFGSET s IDMP-DURATION 100 IDMP-MAXSIZE 100")
        assert stream(server).producers is None


class TestXidmprecord:
    def test_what_is_new_is_logged_and_the_same_again_is_not(self, server: Any) -> None:
        server.send_line("XADD s 1-1 f v")
        server.logged()
        for _ in range(2):
            assert server.send_line("XIDMPRECORD s p a 1-1") == b"OK"
        assert server.logged() == [b"XIDMPRECORD s p a 1-1"]
