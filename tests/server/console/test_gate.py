"""Who may speak with the console: addresses, names of hosts, other pages."""

from __future__ import annotations

import pytest

from server.config.parameters import Config
from server.console.gate import Gate, name_of, port_of
from server.http.messages import Request
from server.users.users import Users

HERE, THERE = "127.0.0.1:50000", "192.0.2.7:50000"


def asked(
    host: str = "localhost:9121",
    peer: str = HERE,
    local: str = "127.0.0.1:9121",
    is_tls: bool = False,
    method: str = "GET",
    path: str = "/console/",
    **headers: str,
) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(method, path, {}, {"host": host, **named}, b"", peer, local, is_tls)


class Asked:
    def __init__(self) -> None:
        self.config = Config()
        self.config.console = True
        self.users = Users()
        self.gate = Gate(self.config, self.users)

    def __call__(self, **what: object) -> str:
        """Why it is refused, or "": it is served."""
        refusal = self.gate.refusal(asked(**what))  # type: ignore[arg-type]
        return "" if refusal is None else f"{refusal.status} {refusal.body.decode()}"


@pytest.fixture
def ask() -> Asked:
    return Asked()


def test_without_the_parameter_there_is_no_console(ask):
    ask.config.console = False
    assert ask() == "404 not found\n"


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:9121", "LOCALHOST:9121", "127.0.0.1:9121", "[::1]:9121", "[::1]",
     "192.0.2.1:80", "127.0.0.1"],
)  # fmt: skip
def test_own_names(ask, host):
    assert ask(host=host) == ""


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:9121", "localhost.evil.example", "127.0.0.1.evil.example:1", "",
     "localhost:x", "evil.example:127.0.0.1", "[::1", "localhost:9121:1"],
)  # fmt: skip
def test_names_that_were_made_to_lead_here(ask, host):
    assert "console-hosts" in ask(host=host) or host == "[::1"


def test_a_name_that_is_configured(ask):
    ask.config.console_hosts = ["Penstock.example"]
    assert ask(host="penstock.example:9121") == ""
    assert ask(host="other.example").startswith("403")


def test_over_tls_a_certificate_speaks_for_the_name(ask):
    assert ask(host="penstock.example", is_tls=True) == ""


@pytest.mark.parametrize(
    ("peer", "local"),
    [(THERE, "192.0.2.1:9121"), (HERE, "192.0.2.1:9121"), (THERE, HERE), ("?", HERE),
     ("[2001:db8::1]:5", "[2001:db8::2]:9121"), ("[::ffff:192.0.2.7]:5", "[::ffff:192.0.2.1]:1")],
)  # fmt: skip
def test_other_machines_are_told_which_parameter_lets_them_in(ask, peer, local):
    assert "console-allow-remote" in ask(peer=peer, local=local, host="192.0.2.1")
    ask.config.console_allow_remote = True
    assert ask(peer=peer, local=local, host="192.0.2.1") == ""


@pytest.mark.parametrize("peer", ["[::1]:5000", "127.8.9.1:1", "[::ffff:127.0.0.1]:1"])
def test_loopback_has_many_addresses(ask, peer):
    assert ask(peer=peer) == ""


def test_other_machines_need_passwords_and_tls(ask):
    far = {"peer": THERE, "local": "192.0.2.1:9121", "host": "192.0.2.1"}
    assert ask(**far, is_tls=True).startswith("403")
    ask.users.set_default_password(b"secret")
    assert ask(**far).startswith("403")
    assert ask(**far, is_tls=True) == ""
    ask.users.accept(ask.users.proposed(b"bob", [b"on", b"nopass"]))
    assert ask(**far, is_tls=True).startswith("403")
    ask.users.accept(ask.users.proposed(b"bob", [b"off"]))
    assert ask(**far, is_tls=True) == ""


@pytest.mark.parametrize("origin", ["http://localhost:9121", "HTTP://LOCALHOST:9121"])
def test_the_own_page_may_ask(ask, origin):
    assert ask(method="POST", origin=origin) == ""


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://localhost", "http://localhost:9122",
     "http://127.0.0.1:9121", "http://evil@localhost:9121", "localhost:9121"],
)  # fmt: skip
def test_another_page_may_not(ask, origin):
    assert "another page" in ask(method="POST", origin=origin)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_browsers_say_that_another_page_asks(ask, site):
    assert "another page" in ask(method="POST", sec_fetch_site=site)
    assert "another page" in ask(path="/console/api/session", sec_fetch_site=site)
    assert "another page" in ask(sec_fetch_site=site, sec_fetch_mode="no-cors")


def test_a_link_on_another_page_leads_to_the_page_but_not_to_the_api(ask):
    link = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert ask(**link) == ""
    assert "another page" in ask(**link, path="/console/api/session")
    assert "another page" in ask(**link, method="POST")


@pytest.mark.parametrize(
    ("host", "name", "port"),
    [("a:1", "a", "1"), ("a", "a", ""), ("[::1]:1", "[::1]", "1"), ("[::1]", "[::1]", ""),
     ("a:\u0663", "a", ""), ("a:x", "a:x", "")],
)  # fmt: skip
def test_names_and_ports(host, name, port):
    assert (name_of(host), port_of(host)) == (name, port)
