"""Ten thousand streams: the table shows them at once, and holds few rows in the document."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.console.browsing import Console

MANY = 10_000
MS_FOR_ALL = 60_000  # the server goes through them in slices, beside whatever else runs
FEW = 80  # rows in the document, however many there are
PROBE = "document.querySelectorAll('.vspace .vrow').length"
# The longest time in which the page did not answer, as a row of timers notes it.
LONGEST = """() => {
  window.longest = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last);
    last = now;
  }, 10);
}"""


def test_ten_thousand_streams_are_scrolled_and_filtered_with_few_rows(console: Console):
    pipe = console.redis.pipeline(transaction=False)
    for number in range(MANY):
        pipe.xadd(f"s:{number:05}", {"n": 1})
    pipe.execute()
    console.go("streams")
    expect(console.page.locator(".vspace .vrow").first).to_be_visible()
    expect(console.page.locator(".summary")).to_contain_text(
        "10,000 streams · 0 in trouble",
        timeout=MS_FOR_ALL,
    )
    assert console.page.evaluate(PROBE) < FEW
    console.page.evaluate(LONGEST)
    console.page.keyboard.press("End")
    expect(console.page.get_by_role("link", name="s:09999")).to_be_focused()
    assert console.page.evaluate(PROBE) < FEW
    for part in range(1, 20):
        console.page.evaluate(
            "part => { const box = document.querySelector('.vscroll');"
            " box.scrollTop = box.scrollHeight * part / 20; }",
            part,
        )
        expect(console.row(f"s:{part * MANY // 20 + 3:05}")).to_be_visible()
        assert console.page.evaluate(PROBE) < FEW
    console.redis.xadd("s:04321", {"n": 2})
    console.page.locator("[data-filter]").fill("s:0432?")
    expect(console.cell("s:04321", "length")).to_have_text("2")
    assert len(console.names()) == 10
    # A bound that only a frozen page misses, however busy the machine is.
    assert console.page.evaluate("window.longest") < 5000
