"""redis.conf: what its lines do, and how CONFIG REWRITE rewrites them."""

import pytest

from server import commands as _commands  # noqa: F401  (fills the table)
from server.config.parameters import Config
from server.config.redis_conf import BadLine, lines_of, numbered, read_lines, rewritten


def read(text):
    config = Config()
    read_lines(config, numbered(text, "redis.conf"))
    return config


def rewrite(text, **changes):
    config = read(text)
    for name, value in changes.items():
        setattr(config, name, value)
    return rewritten(config, text)


# ---------------------------------------------------------------------- reading


def test_comments_and_blank_lines_are_ignored():
    assert read("# port 1\n\n   \t\n  # port 2\nport 7000\n").port == 7000


def test_names_ignore_case_and_may_be_aliases():
    config = read("PORT 7000\nlist-max-ziplist-size -3\n")
    assert (config.port, config.list_max_listpack_size) == (7000, -3)


def test_values_are_quoted_as_in_redis_cli():
    assert read(r'requirepass "p\x61ss \"word\""').requirepass == 'pass "word"'
    assert read("requirepass 'a b'").requirepass == "a b"


def test_bytes_that_are_no_utf8_are_kept(tmp_path):
    path = tmp_path / "redis.conf"
    path.write_bytes(b"requirepass \xff\xfe\n")
    config = Config()
    read_lines(config, lines_of(path))
    assert config.requirepass.encode("utf-8", "surrogateescape") == b"\xff\xfe"


def test_save_lines_add_up_until_an_empty_one():
    assert read("save 900 1\nsave 300 10 60 10000").save == [(900, 1), (300, 10), (60, 10000)]
    assert read('save 900 1\nsave ""\nsave 60 5').save == [(60, 5)]


def test_output_limits_have_a_line_for_each_class():
    config = read("client-output-buffer-limit normal 1mb 1kb 5\n"
                  "client-output-buffer-limit replica 2 1 0")  # fmt: skip
    assert config.client_output_buffer_limit["normal"] == (1024**2, 1024, 5)
    assert config.client_output_buffer_limit["slave"] == (2, 1, 0)


def test_the_last_bind_line_counts():
    assert read("bind 10.0.0.1\nbind 127.0.0.1 -::1").bind == ["127.0.0.1", "-::1"]


def test_an_included_file_takes_the_place_of_its_line(tmp_path):
    (tmp_path / "other.conf").write_text("port 2\ntimeout 2\n")
    config = read(f"port 1\ninclude {tmp_path}/other.conf\ntimeout 3\n")
    assert (config.port, config.timeout) == (2, 3)


def test_includes_may_have_wildcards_that_match_nothing(tmp_path):
    (tmp_path / "a.conf").write_text("port 1\n")
    (tmp_path / "b.conf").write_text("port 2\n")
    assert read(f"include {tmp_path}/*.conf\ninclude {tmp_path}/*.none").port == 2


def test_a_file_that_includes_itself_is_refused(tmp_path):
    path = tmp_path / "loop.conf"
    path.write_text(f"include {path}\n")
    with pytest.raises(BadLine, match="too deeply"):
        read(f"include {path}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nosuch 1", "redis.conf, line 2: 'nosuch 1': bad directive or wrong number of arguments"),
        ("port", "redis.conf, line 2: 'port': wrong number of arguments"),
        ("port 1 2", "redis.conf, line 2: 'port 1 2': wrong number of arguments"),
        ("port abc", "redis.conf, line 2: 'port abc': argument couldn't be parsed into an integer"),
        ("port 70000",
         "redis.conf, line 2: 'port 70000': argument must be between 0 and 65535 inclusive"),
        ("unixsocketperm 9",
         "redis.conf, line 2: 'unixsocketperm 9': argument couldn't be parsed as an octal number"),
        ('requirepass "x', "redis.conf, line 2: unbalanced quotes"),
        ("rename-command NOSUCH x",
         "redis.conf, line 2: 'rename-command NOSUCH x': No such command in rename-command"),
        ("rename-command GET set",
         "redis.conf, line 2: 'rename-command GET set': Target command name already exists"),
        ("rename-command GET",
         "redis.conf, line 2: 'rename-command GET': bad directive or wrong number of arguments"),
        ("loadmodule x.so", "redis.conf, line 2: 'loadmodule x.so': there are no modules"),
        ("cluster-enabled yes",
         "redis.conf, line 2: 'cluster-enabled yes': this server is no cluster node"),
        ("include /no/such/file",
         "Fatal error, can't open config file '/no/such/file': No such file or directory"),
    ],
)  # fmt: skip
def test_a_bad_line_is_reported_with_its_number(line, message):
    with pytest.raises(BadLine) as raised:
        read(f"timeout 1\n{line}\n")
    assert str(raised.value) == message


def test_lua_replicate_commands_is_ignored():
    assert read("lua-replicate-commands yes\nport 1").port == 1


def test_parameters_without_effect_are_listed():
    config = read("port 1\nio-threads 4\nslave-lazy-flush yes\nrepl-disable-tcp-nodelay yes")
    assert config.without_effect == ["repl-disable-tcp-nodelay", "io-threads"]


def test_a_parameter_without_effect_is_not_listed_if_it_has_its_default():
    assert read("io-threads 1\nslave-priority 100\nlazyfree-lazy-expire no").without_effect == []


def test_a_bare_save_means_no_save_points():
    assert read("save 900 1\nsave").save == []


@pytest.mark.parametrize(
    "line", ["save", "bind", "client-output-buffer-limit", "latency-tracking-info-percentiles"]
)
def test_a_parameter_with_any_number_of_values_may_have_none(line):
    read(line)


def test_replicaof_no_one_means_no_primary():
    config = read("replicaof no one\nslaveof NO ONE")
    assert config.replicaof == ""


@pytest.mark.parametrize(
    ("line", "why"),
    [("replicaof 10.0.0.1", "wrong number of arguments"),
     ("replicaof 10.0.0.1 6379 6380", "wrong number of arguments"),
     ("replicaof 10.0.0.1 70000", "Invalid master port")],
)  # fmt: skip
def test_replicaof_needs_an_address_and_a_port(line, why):
    with pytest.raises(BadLine, match=why):
        read(line)


def test_the_default_user_line_that_redis_writes_is_accepted():
    assert read("user default on nopass sanitize-payload ~* &* +@all").requirepass == ""
    digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"  # of "secret"
    config = read(f'requirepass "secret"\nuser default on #{digest} ~* &* +@all')
    assert config.requirepass == "secret"


# ---------------------------------------------------------------------- rewriting


def test_comments_order_and_includes_are_kept():
    text = "# first\ntimeout 1\n\ninclude other-*.conf\n# last\n"
    assert rewrite(text, timeout=2) == text.replace("timeout 1", "timeout 2")


def test_aliases_are_rewritten_as_the_present_names():
    assert rewrite("list-max-ziplist-size -3\n") == "list-max-listpack-size -3\n"


def test_a_line_whose_value_is_the_default_again_is_kept():
    assert rewrite("timeout 1\n", timeout=0) == "timeout 0\n"


def test_new_parameters_are_added_at_the_end_under_a_heading():
    once = rewrite("port 1\n", timeout=5)
    assert once == "port 1\n\n# Generated by CONFIG REWRITE\ntimeout 5\n"
    assert rewrite(once, hz=20) == once + "hz 20\n"


def test_fewer_save_points_need_fewer_lines_and_none_needs_one():
    text = "save 900 1\nsave 300 10\n# end\n"
    assert rewrite(text, save=[(60, 1)]) == "save 60 1\n# end\n"
    assert rewrite(text, save=[]) == 'save ""\n# end\n'


def test_sizes_are_written_in_the_greatest_unit():
    assert rewrite("maxmemory 1\n", maxmemory=10 * 1024**2) == "maxmemory 10mb\n"
    assert rewrite("maxmemory 1\n", maxmemory=1500) == "maxmemory 1500\n"


def test_the_default_user_line_is_removed_since_the_password_may_have_changed():
    text = "user default on nopass ~* &* +@all\n# end\n"
    assert rewrite(text, requirepass="new") == (
        '# end\n\n# Generated by CONFIG REWRITE\nrequirepass "new"\n'
    )


def test_replicaof_no_one_is_removed_since_redis_would_refuse_it():
    assert rewrite("replicaof no one\ntimeout 1\n") == "timeout 1\n"


def test_parameters_without_effect_are_rewritten_like_the_others():
    assert rewrite("server_cpulist 0-7\n", io_threads=4) == (
        'server-cpulist "0-7"\n\n# Generated by CONFIG REWRITE\nio-threads 4\n'
    )


def test_blank_lines_do_not_pile_up():
    assert rewrite("# a\n\n\n\n# b\n\n\n") == "# a\n\n# b\n"


def test_a_rewritten_file_gives_the_same_values():
    """Every parameter that does not have its default is written, and read again."""
    config = read('save 60 5\nrequirepass "a \\"\\xff"\nbind 127.0.0.1\nunixsocketperm 700\n'
                  "client-output-buffer-limit pubsub 1gb 1kb 7\nio-threads 4\n"
                  "shutdown-on-sigint now force\noom-score-adj-values 0 1 2\nappendfsync always\n"
                  'latency-tracking-info-percentiles ""\nprotected-mode no\n')  # fmt: skip
    again = read(rewritten(config, ""))
    assert {row.name: config.value(row) for row in config} == {
        row.name: again.value(row) for row in again
    }


def test_policies_of_streams_have_a_line_each_and_add_up():
    text = "stream-policy logs:* retain-age 7d\nstream-policy a RETAIN-LENGTH 5 b COMPACT id\n"
    config = read(text)
    assert config.stream_policy == [
        ("logs:*", "retain-age", "7d"), ("a", "RETAIN-LENGTH", "5"), ("b", "COMPACT", "id"),
    ]  # fmt: skip
    assert read(text + 'stream-policy ""\nstream-policy c COMPACT x').stream_policy == [
        ("c", "COMPACT", "x")
    ]


def test_policies_of_streams_are_written_as_they_were_given():
    text = "stream-policy logs:* RETAIN-AGE 7d\n# end\nstream-policy a RETAIN-LENGTH 5\n"
    assert rewrite(text) == text
    one = rewrite(text, stream_policy=[('quote"d', "COMPACT", "\xe9")])
    assert one == 'stream-policy "quote\\"d" COMPACT "\\xc3\\xa9"\n# end\n'
    assert read(one).stream_policy == [('quote"d', "COMPACT", "\xe9")]
    assert rewrite(text, stream_policy=[]) == "# end\n"


@pytest.mark.parametrize(
    "line", ["logs:*", "RETAIN-AGE 5", "a RETAIN-AGE", "a RETAIN-AGE 5x", "a RETAIN-LENGTH -1"]
)
def test_a_policy_that_means_nothing_ends_the_start(line):
    with pytest.raises(BadLine):
        read(f"stream-policy {line}")
