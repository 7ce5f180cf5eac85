"""What a replica says, and how it takes the answers."""

import pytest

from server.config.parameters import Config
from server.parts.replication.handshake import Continue, Copy, Handshake, LinkFailed

ID = "0123456789abcdef0123456789abcdef01234567"


def config(**parameters: object) -> Config:
    made = Config()
    for name, value in parameters.items():
        setattr(made, name, value)
    return made


def begun(**parameters: object) -> Handshake:
    return Handshake(config(**parameters), ID, 41, takes_over=False)


def said(handshake: Handshake) -> list[list[bytes]]:
    """All that is said to a primary that is content with everything."""
    words = [handshake.next()]
    while handshake.take(b"+OK") and len(words) < 10:
        words.append(handshake.next())
        if words[-1][0] == b"PSYNC":
            break
    return words


def to_psync(handshake: Handshake) -> Handshake:
    said(handshake)
    return handshake


def test_it_introduces_itself_and_asks_for_the_byte_behind_its_last():
    assert said(begun()) == [
        [b"PING"],
        [b"REPLCONF", b"listening-port", b"6379"],
        b"REPLCONF capa eof capa psync2 capa rdb-12 capa rdb-13 capa rdb-14 capa penstock".split(),
        [b"PSYNC", ID.encode(), b"42"],
    ]


def test_it_logs_in_and_announces_what_it_is_told_to():
    words = said(
        begun(
            masteruser="repl",
            masterauth="secret",
            replica_announce_ip="10.0.0.7",
            replica_announce_port=7000,
        )
    )
    assert words[1] == [b"AUTH", b"repl", b"secret"]
    assert words[2] == [b"REPLCONF", b"listening-port", b"7000"]
    assert words[3] == [b"REPLCONF", b"ip-address", b"10.0.0.7"]


def test_a_password_alone_is_the_default_users():
    assert said(begun(masterauth="secret"))[1] == [b"AUTH", b"secret"]


def test_a_replica_behind_tls_tells_its_tls_port():
    words = said(begun(tls_replication=True, tls_port=6380))
    assert words[1] == [b"REPLCONF", b"listening-port", b"6380"]


def test_failover_is_asked_for_with_psync():
    handshake = Handshake(config(), ID, 41, takes_over=True)
    assert said(handshake)[-1] == [b"PSYNC", ID.encode(), b"42", b"FAILOVER"]


def test_a_primary_that_asks_for_a_password_gets_it():
    handshake = begun(masterauth="secret")
    handshake.next()
    assert handshake.take(b"-NOAUTH Authentication required.")
    assert handshake.next()[0] == b"AUTH"


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([b"-LOADING data"], "Error reply to PING"),
        ([b"+PONG", b"-WRONGPASS no"], "Unable to AUTH"),
    ],
)
def test_an_error_that_matters_ends_the_link(answers: list[bytes], why: str):
    handshake = begun(masterauth="secret")
    *before, last = answers
    for answer in before:
        handshake.next()
        handshake.take(answer)
    handshake.next()
    with pytest.raises(LinkFailed, match=why):
        handshake.take(last)


def test_an_option_that_an_old_primary_does_not_know_is_done_without():
    handshake = begun()
    handshake.next()
    handshake.take(b"+PONG")
    handshake.next()
    assert handshake.take(b"-ERR Unrecognized REPLCONF option: listening-port")


def test_empty_lines_are_signs_of_life():
    handshake = to_psync(begun())
    assert not handshake.take(b"")
    assert handshake.outcome is None


def test_a_copy_has_an_id_and_an_offset():
    handshake = to_psync(begun())
    assert not handshake.take(b"+FULLRESYNC " + ID.encode() + b" 1234")
    assert handshake.outcome == Copy(ID, 1234)


@pytest.mark.parametrize(("line", "name"), [(b"+CONTINUE", ""), (b"+CONTINUE " + ID.encode(), ID)])
def test_a_history_goes_on_perhaps_under_another_name(line: bytes, name: str):
    handshake = to_psync(begun())
    handshake.take(line)
    assert handshake.outcome == Continue(name)


@pytest.mark.parametrize(
    "line",
    [
        b"+FULLRESYNC",
        b"+FULLRESYNC short 5",
        b"+FULLRESYNC " + ID.encode() + b" -5",
        b"+FULLRESYNC " + ID.encode() + b" 99999999999999999999",
        b"+FULLRESYNC " + ID.encode() + b" 5 6",
        b"+CONTINUE short",
        b"-NOMASTERLINK Can't SYNC while not connected with my master",
        b"-ERR unknown command",
        b"\xff\xfe",
    ],
)
def test_any_other_answer_to_psync_ends_the_link(line: bytes):
    with pytest.raises(LinkFailed):
        to_psync(begun()).take(line)
