"""The files of the page: kinds, tags, and no path that leads out of the folder."""

from __future__ import annotations

import pytest

from server.console.static_files import FOLDER, StaticFiles
from server.http.messages import Request


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "static"
    (folder / "views").mkdir(parents=True)
    (folder / "index.html").write_text("<title>x</title>")
    (folder / "views" / "keys.js").write_text("export {}")
    (folder / "notes.md").write_text("no kind of the page's")
    (tmp_path / "secret.html").write_text("secret")
    return StaticFiles(folder)


def asked(**headers: str) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request("GET", "", {}, named, b"", "", "", False)


def test_the_page_itself(files):
    answer = files.answer("", asked())
    assert (answer.status, answer.body) == (200, b"<title>x</title>")
    assert answer.kind == "text/html; charset=utf-8"
    assert dict(answer.headers)["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in dict(answer.headers)["content-security-policy"]


def test_a_module_in_a_folder(files):
    answer = files.answer("views/keys.js", asked())
    assert (answer.status, answer.kind) == (200, "text/javascript; charset=utf-8")


def test_what_has_not_changed_is_not_sent_again(files):
    tag = dict(files.answer("", asked()).headers)["etag"]
    again = files.answer("", asked(if_none_match=f'W/"x", {tag}'))
    assert (again.status, again.body) == (304, b"")
    assert files.answer("", asked(if_none_match='"x"')).status == 200


@pytest.mark.parametrize(
    "path",
    ["../secret.html", "..", "views/../../secret.html", "%2e%2e/secret.html", "..%2fsecret.html",
     "/etc/passwd", "//etc/passwd", "..\\secret.html", "views\\keys.js", "index.html\0", "\0",
     "views", "views/", "index.html/", ".", "notes.md", "index.htm", "static/index.html"],
)  # fmt: skip
def test_no_other_path_has_a_file(files, path):
    assert files.answer(path, asked()).status == 404


def test_a_folder_that_is_missing_has_no_files(tmp_path):
    assert StaticFiles(tmp_path / "none").answer("", asked()).status == 404


def test_the_folder_lies_beside_the_module():
    assert FOLDER.parent.name == "console"
