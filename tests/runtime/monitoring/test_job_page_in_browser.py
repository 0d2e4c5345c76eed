"""The page of a running job in a browser: content, updates, texts of users, keyboard, colour schemes.

It needs an installed Chromium. The tests download none.
"""

from itertools import pairwise

import pytest
from monitored_job import ID, MonitoredJob, plan_of

from impl.core import CheckpointType
from impl.core.coordinator.job import FAILED
from impl.monitoring.checkpoint_statistics import Restored
from impl.monitoring.job_monitor import FollowedJob
from impl.monitoring.rest_server import RestServer
from tests.browser import chromium, in_browser

WIDE, NARROW = 1_280, 420
MARKUP = '<img src=x onerror="document.title=`struck`"><script>document.title="struck"</script>&amp;'


pytestmark = [in_browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


class Opened:
    """The page of a job without Spark, with the errors of its console and its network requests."""

    def __init__(self, browser, job):
        self.job = job
        self.server = RestServer(job.answers, 0)
        self.complaints, self.requests = [], []
        self.page = browser.new_page(viewport={"width": WIDE, "height": 900})
        self.page.set_default_timeout(30_000)
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(self.server.url)

    def see(self, text, place="body"):
        """Waits until the page shows a text."""
        self.page.locator(place).filter(has_text=text).first.wait_for()

    def close(self):
        self.page.close()
        self.server.close()


@pytest.fixture
def opened(browser):
    """A running job with a checkpoint of each kind and a failure."""
    job = MonitoredJob().run()
    job.complete(1)
    job.tracker.discarded(1)
    job.complete(2, CheckpointType.SAVEPOINT, "run/savepoints/savepoint-2-5eed")
    job.complete(3)
    job.trigger(4)
    job.tracker.failed(4, 4_600.0, "COORDINATOR_SUSPEND")
    job.now = 9.0
    job.fail("count-1 failed: ValueError: seven", restored=3)
    job.tracker.restored(Restored(3, 1_009_000))
    job.attempts[-1].running = 9.9
    job.heartbeat(1, 0, 0, 0)
    job.monitor.sample()
    job.heartbeat(2_001, 100_000, 200, 1_500)
    job.trigger(5)
    job.acknowledge(5, "in-0", unaligned=True)
    shown = Opened(browser, job)
    shown.see("RUNNING", "#state")
    yield shown
    shown.close()


def cells(page, row):
    return page.locator(f"{row} td").all_inner_texts()


def facts(page, place):
    names, values = (page.locator(f"{place} {part}").all_inner_texts() for part in ("dt", "dd"))
    return dict(zip(names, values, strict=True))


def test_the_overview_has_status_attempt_mode_and_interval(opened):
    page = opened.page

    assert page.locator("h1").inner_text() == "words RUNNING"
    overview = facts(page, "#overview")
    assert overview["Attempt"] == "2"
    assert overview["Restarts"] == "1 of 3 allowed"
    assert overview["Uptime"] == "9.0 s"
    assert overview["Checkpointing"] == "exactly once, aligned"
    assert overview["Interval"] == "500 ms"
    assert overview["Checkpoints in"] == "run/checkpoints"


def test_the_graph_has_the_operators_their_edges_rates_and_back_pressure(opened):
    page = opened.page
    opened.see("backpressured 75 %", "#graph")
    nodes = page.locator("#graph .node").all_inner_texts()

    assert nodes[1].split("\n") == [
        "count",
        "→ check",
        "process, parallelism 2",
        "in 100,000/s, out 200,000/s",
        "busy 15 %",
        "backpressured 75 %",
    ]
    assert [node.split("\n")[0] for node in nodes] == ["in", "count", "out"]
    assert page.locator("#graph svg text").all_text_contents() == ["hash", "rebalance"]
    boxes = [one.bounding_box() for one in page.locator("#graph .node").all()]
    assert all(left["x"] + left["width"] < right["x"] for left, right in pairwise(boxes))


def test_an_operator_shows_its_subtasks(opened):
    page = opened.page
    assert page.locator("#vertex").is_hidden()
    page.locator("#graph .node").nth(1).click()
    opened.see("Subtasks of count -> check", "#vertex")

    assert cells(page, "#subtasks tr:nth-child(2)") == [
        "1", "RUNNING", "50,000/s", "100,000/s", "100,000", "200,000", "7 B", "15 %", "75 %", "10 %",
    ]  # fmt: skip
    page.locator("#graph .node").nth(1).click()
    page.locator("#vertex").wait_for(state="hidden")


def test_checkpoints_have_counts_the_latest_of_each_kind_and_a_table(opened):
    page = opened.page

    counts = facts(page, "#counts")
    assert [counts[name] for name in ("Triggered", "In progress", "Completed", "Failed", "Restored")] == [
        "5", "1", "3", "1", "1",
    ]  # fmt: skip
    latest = facts(page, "#latest")
    assert latest["Latest completed checkpoint"] == "3 in run/checkpoints/chk-3"
    assert latest["Latest savepoint"] == "2 in run/savepoints/savepoint-2-5eed"
    assert latest["Latest failed"] == "4: COORDINATOR_SUSPEND"
    assert latest["Restored from"].startswith("3 in run/checkpoints/chk-3, ")
    rows = [cells(page, f"#history tr:nth-child({row})") for row in range(1, 6)]
    assert [row[:4] for row in rows] == [
        ["5", "IN_PROGRESS", "unaligned checkpoint", "1 of 4"],
        ["4", "FAILED", "checkpoint", "0 of 4"],
        ["3", "COMPLETED", "checkpoint", "4 of 4"],
        ["2", "COMPLETED", "savepoint", "4 of 4"],
        ["1", "COMPLETED", "checkpoint", "4 of 4"],
    ]
    assert rows[1][5:] == ["4.6 s", "0 B", "0 B", "COORDINATOR_SUSPEND"]
    assert rows[2][5:] == ["25 ms", "400 B", "600 B", ""]


def test_a_checkpoint_shows_the_acknowledgement_of_each_subtask(opened):
    page = opened.page
    page.get_by_role("button", name="5", exact=True).click()
    opened.see("Subtasks in checkpoint 5", "#checkpoint")

    assert page.locator("#acknowledgements tr").count() == 4
    first, second = (cells(page, f"#acknowledgements tr:nth-child({row})") for row in (1, 2))
    assert (first[:2], first[3:]) == (
        ["in-0", "completed"],
        ["0 ms", "12 ms", "1 ms", "4 ms", "100 B", "150 B", "yes"],
    )
    assert second[:2] == ["count-0", "pending"]
    page.get_by_role("button", name="1", exact=True).click()
    opened.see("subsumed, and deleted from run/checkpoints/chk-1", "#checkpoint")


def test_failures_have_each_attempt_with_its_cause(opened):
    page = opened.page
    newest, first = (cells(page, f"#attempts tr:nth-child({row})") for row in (1, 2))

    assert (newest[0], newest[2], newest[3], newest[6]) == ("2", "900 ms", "checkpoint 3", "")
    assert (first[0], first[3], first[6]) == ("1", "nothing", "count-1 failed: ValueError: seven")
    assert page.locator("#no-failure").is_hidden()


def test_it_updates_itself_and_the_focus_stays(opened):
    page = opened.page
    focused = page.get_by_role("button", name="3", exact=True)
    focused.focus()
    opened.job.acknowledge(5)
    opened.job.tracker.completed(5, 31.0, "")
    opened.job.complete(6)
    opened.see("6 in run/checkpoints/chk-6", "#latest")

    assert page.locator("#history tr").count() == 6
    assert cells(page, "#history tr:nth-child(2)")[:2] == ["5", "COMPLETED"]
    assert page.evaluate("document.activeElement.textContent") == "3"


def test_updates_can_be_paused(opened):
    page = opened.page
    page.get_by_role("button", name="Pause updates").click()
    page.wait_for_function("document.getElementById('pause').getAttribute('aria-pressed') === 'true'")
    with page.expect_event("request", lambda request: request.url.endswith("/checkpoints")):
        page.get_by_role("button", name="Pause updates").click()


def test_the_keyboard_reaches_everything_and_opens_details(opened):
    page = opened.page
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText.trim().split('\\n')[0]"))
        key = {"count": "Enter", "4": "Space"}.get(reached[-1])
        if key is not None and reached.count(reached[-1]) == 1:
            page.keyboard.press(key)
    assert {"To the content", "Dataflow", "Pause updates", "in", "count", "out", "5", "1"} <= set(reached)
    opened.see("Subtasks of count", "#vertex")
    opened.see("Subtasks in checkpoint 4", "#checkpoint")
    assert page.locator("button[aria-pressed=true]").inner_text().startswith("count")
    assert page.locator("button[aria-expanded=true]").inner_text() == "4"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_it_fits_and_can_be_read(opened, scheme, width):
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})

    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for text, behind in (
        ("html", "html"), ("dt", "html"), (".quiet", "html"), ("nav a", "html"), ("h1 .good", "html"),
        ("td.wrong", "html"), ("td.doubt", "html"), ("thead th", "html"), (".node", ".node"),
        (".node .quiet", ".node"), ("#pause", "#pause"),
    ):  # fmt: skip
        ink = luminance(page.evaluate(f"getComputedStyle(document.querySelector('{text}')).color"))
        paper = luminance(
            page.evaluate(f"getComputedStyle(document.querySelector('{behind}')).backgroundColor")
        )
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5, text


def luminance(colour):
    """The luminance of `rgb(r, g, b)`, as the accessibility guidelines (WCAG) define it."""
    parts = [int(part) / 255 for part in colour.strip("rgb()").split(",")[:3]]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_page_requests_only_its_own_server_and_logs_no_error(opened):
    opened.see("COORDINATOR_SUSPEND")

    assert len(opened.requests) > 5
    assert [url for url in opened.requests if not url.startswith(opened.server.url)] == []
    assert opened.complaints == []


def test_every_text_of_a_user_is_shown_as_text(browser):
    job = MonitoredJob(
        plan_of(name=f"name {MARKUP}", count=f"count {MARKUP}", chained=f"check {MARKUP}")
    ).run()
    job.monitor.checkpoint_folder = f"place {MARKUP}"
    job.complete(1)
    job.complete(2, CheckpointType.SAVEPOINT, f"folder {MARKUP}")
    job.trigger(3)
    job.tracker.failed(3, 1.0, f"reason {MARKUP}")
    job.tracker.restored(Restored(1, 1_000_000))
    job.fail(f"in-0 failed: ValueError: cause {MARKUP}")
    job.monitor.ended(FAILED, f"end {MARKUP}")
    shown = Opened(browser, job)
    shown.see("FAILED", "#state")
    page = shown.page
    page.locator("#graph .node").nth(1).click()
    shown.see("Subtasks of count", "#vertex")
    page.get_by_role("button", name="3", exact=True).click()
    shown.see("reason", "#checkpoint")
    text = page.locator("body").inner_text()

    for part in ("name", "count", "check", "place", "folder", "reason", "cause", "end"):
        assert f"{part} {MARKUP}" in text, part
    assert page.title() == f"name {MARKUP}: FAILED"
    assert page.locator("main img, main script, h1 img, h1 script").count() == 0
    assert shown.complaints == []
    shown.close()


def test_a_job_that_has_ended_leaves_its_last_state_on_the_page(opened):
    opened.server.close()
    opened.see("No answer since", "#notice")

    assert opened.page.locator("#history tr").count() == 5
    assert opened.page.locator("#notice").get_attribute("role") == "status"


def test_the_settings_are_those_of_the_driver_that_continues_the_job(opened):
    later = MonitoredJob(checkpointing_interval_ms=700)
    later.monitor.follow(FollowedJob(ID, 2_000_000, later.attempts, later.tracker, later.metrics))
    opened.see("500 ms", "#overview")
    opened.server.answers = later.answers
    opened.see("700 ms", "#overview")


def test_a_job_that_has_not_begun_is_waited_for(browser):
    shown = Opened(browser, MonitoredJob())
    shown.see("The job has not started yet.", "#notice")
    shown.job.run()
    shown.see("RUNNING", "#state")
    assert shown.page.locator("#notice").is_hidden()
    assert shown.page.locator("#no-failure").inner_text() == "No attempt has failed."
    shown.close()


def test_without_its_program_the_page_names_the_data(browser, opened):
    page = browser.new_page(java_script_enabled=False)
    page.goto(opened.server.url)
    assert page.locator("noscript a").get_attribute("href") == "jobs"
    page.close()
