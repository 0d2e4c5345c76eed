"""The server of the job's page: its files, its clients, and that no client harms the job."""

import http.client
import json
import logging
import re
import socket
import threading
from contextlib import suppress

import pytest
from monitored_job import ID, OUTPUT, MonitoredJob, plan_of

from impl.config import ConfigError
from impl.job import Job, RateInput, settings_of
from impl.monitoring.rest_answers import RestAnswers
from impl.monitoring.rest_server import CONNECTIONS, URL_FILE, RestServer, served
from impl.running_job import RunningJob
from impl.savepoints import SavepointRequests
from tests.waiting import until


@pytest.fixture
def job():
    return MonitoredJob().run()


@pytest.fixture
def server(job):
    with_page = RestServer(job.answers, 0)
    yield with_page
    with_page.close()


def request(server, path="/", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def connect(server, sent=b"", buffer=None):
    client = socket.socket()
    if buffer is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.connect(("127.0.0.1", server.port))
    client.sendall(sent)
    return client


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/job.css", "text/css"),
        ("/job.js", "text/javascript"),
        ("/graph.js", "text/javascript"),
    ],
)
def test_the_page_is_served_and_may_load_nothing_from_elsewhere(server, path, kind):
    status, headers, content = request(server, path)

    assert (status, headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
    assert headers["Content-Security-Policy"].startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'"
    )
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers
    assert content.replace(b"http://www.w3.org/2000/svg", b"").count(b"http") == 0


def test_the_rest_interface_is_below_the_same_address(server):
    expected = {"jobs": [{"id": ID, "status": "RUNNING"}]}
    for path in ("/jobs", "/jobs/", "/v1/jobs", "/jobs?any=1"):
        status, headers, content = request(server, path)
        assert (status, json.loads(content)) == (200, expected)
        assert headers["Content-Type"] == "application/json; charset=utf-8"
    status, _, content = request(server, "/jobs/other")
    assert (status, json.loads(content)) == (404, {"errors": ["Job other not found"]})
    for path in ("/../rest_server.py", "/page/job.js", "/%2e%2e/rest_server.py"):
        assert request(server, path)[0] == 404


def test_the_server_only_reads(server):
    assert request(server, "/jobs", "HEAD")[2] == b""
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert request(server, f"/jobs/{ID}", method)[0] == 501


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_site_that_names_the_loopback_address_gets_nothing(server, host):
    status, _, content = request(server, "/jobs", Host=host)

    assert status == 421
    assert ID.encode() not in content


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8081", "127.0.0.1:1", "[::1]:8081", "app.localhost"]
)
def test_the_names_of_this_host_are_served(server, host):
    assert request(server, "/jobs", Host=host)[0] == 200


def test_by_default_only_this_host_can_connect(server):
    assert server.is_loopback
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://localhost:{server.port}/"


def test_any_name_reaches_a_server_of_other_hosts(job):
    server = RestServer(job.answers, 0, "0.0.0.0")
    assert request(server, "/jobs", Host="driver.example")[0] == 200
    server.close()


def test_a_defect_in_an_answer_is_an_answer():
    class Defect:
        def answer(self, path):
            raise KeyError(path)

    server = RestServer(Defect(), 0)
    assert request(server, "/jobs")[0] == 500
    assert request(server, "/")[0] == 200
    server.close()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /jobs HTTP/1.1\r\nHost: [\r\n\r\n", b" 400 "),
        (b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 400 "),
    ],
)
def test_a_name_that_cannot_be_has_an_answer(server, sent, status):
    client = connect(server, sent)
    assert status in client.recv(100)
    client.close()


@pytest.mark.parametrize("path", ["", "/attempts", "/exceptions"])
def test_a_message_that_is_no_utf_8_is_json(job, server, path):
    """A file name that is not UTF-8 has a lone surrogate, and so has a message with this name."""
    job.fail("in-0 failed: ValueError: no file \udcff")
    job.monitor.ended("FAILED", "\udcff")

    status, _, content = request(server, f"/jobs/{ID}{path}")

    assert status == 200
    assert rb"\udcff" in content


# ---------------------------------------------------------------- clients that do harm


class SlowAnswers:
    """Answers that end when `over` is set. It records how many threads made one at the same time."""

    def __init__(self):
        self.over = threading.Event()
        self.began = self.now = self.most = 0

    def answer(self, path):
        self.began += 1
        self.now += 1
        self.most = max(self.most, self.now)
        self.over.wait(60)
        self.now -= 1
        return {}


def test_one_answer_is_made_at_a_time_and_none_for_a_closed_connection():
    answers = SlowAnswers()
    server = RestServer(answers, 0)
    before = threading.active_count()
    clients = [connect(server, b"GET /jobs HTTP/1.0\r\n\r\n") for _ in range(CONNECTIONS + 4)]
    until(lambda: threading.active_count() - before >= CONNECTIONS)
    until(lambda: answers.began >= 1)
    clients[3].settimeout(60)
    with suppress(ConnectionResetError):
        assert clients[3].recv(1) == b""  # the four oldest connections are closed, so all have been accepted
    assert (answers.most, threading.active_count() - before) == (1, CONNECTIONS)

    answers.over.set()
    until(lambda: threading.active_count() == before)
    assert answers.most == 1
    assert answers.began <= CONNECTIONS + 4 - 1
    server.close()
    for client in clients:
        client.close()


def test_a_request_above_the_bound_is_dropped(server):
    client = connect(server, b"GET /jobs HTTP/1.1\r\n" + b"X: %s\r\n" % (b"a" * 1_000) * 70)
    try:
        client.sendall(b"\r\n")
        answer = client.recv(100)
    except OSError:
        answer = b""
    client.close()
    assert answer == b""


def test_a_client_that_never_reads_holds_up_neither_the_job_nor_other_clients():
    job = MonitoredJob(plan_of(name="x" * 20_000_000)).run()
    server = RestServer(job.answers, 0, seconds=600)
    before = threading.active_count()
    deaf = [connect(server, b"GET /jobs/overview HTTP/1.0\r\n\r\n", buffer=4_096) for _ in range(8)]
    until(lambda: threading.active_count() >= before + len(deaf))
    for checkpoint in range(1, 50):
        job.complete(checkpoint)
        job.monitor.sample()

    assert json.loads(request(server, f"/jobs/{ID}/checkpoints")[2])["counts"]["completed"] == 49
    assert threading.active_count() >= before + len(deaf)  # their answers are not finished
    server.close()  # waits for none of them
    for client in deaf:
        client.close()


def test_a_client_that_never_reads_is_dropped_when_its_time_is_over():
    job = MonitoredJob(plan_of(name="x" * 20_000_000)).run()
    server = RestServer(job.answers, 0, seconds=0.2)
    deaf = connect(server, b"GET /jobs/overview HTTP/1.0\r\n\r\n", buffer=4_096)
    silent = connect(server)
    assert silent.recv(1) == b""
    until(lambda: not server._open)  # it was accepted before the silent client
    server.close()
    deaf.close()
    silent.close()


def test_above_the_bound_the_oldest_connection_is_closed(job):
    server = RestServer(job.answers, 0, seconds=600)
    silent = [connect(server, b"GET /jobs HTTP/1.0\r\nX-Slow: ") for _ in range(3 * CONNECTIONS)]

    assert request(server, "/jobs")[0] == 200
    until(lambda: len(server._open) <= CONNECTIONS)
    assert silent[0].recv(1) == b""
    server.close()
    for client in silent:
        client.close()


@pytest.mark.parametrize(
    "sent", [b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET /jobs HTTP/9.9\r\n\r\n", b"G" * 100_000]
)
def test_an_invalid_request_harms_no_other_client(server, sent):
    client = connect(server)
    try:
        client.sendall(sent)
        client.recv(10_000)
    except OSError:
        pass  # the server has closed the connection before it has read all
    client.close()

    assert request(server, "/jobs")[0] == 200


# ---------------------------------------------------------------- its address


def test_the_address_is_in_a_file_while_it_serves(job, tmp_path):
    with served(job.answers, 0, "localhost", tmp_path):
        url = (tmp_path / URL_FILE).read_text().strip()
        port = int(url.removesuffix("/").rpartition(":")[2])
    assert not (tmp_path / URL_FILE).exists()
    with served(job.answers, port, "localhost", tmp_path):  # it is free again at once
        assert (tmp_path / URL_FILE).read_text().strip() == url
    with served(job.answers, None, "localhost", tmp_path):
        assert not (tmp_path / URL_FILE).exists()


def test_the_address_of_a_killed_driver_is_forgotten(job, tmp_path):
    (tmp_path / URL_FILE).write_text("http://localhost:1/\n")
    with served(job.answers, None, "localhost", tmp_path):
        assert not (tmp_path / URL_FILE).exists()


def test_a_superseded_driver_leaves_the_address_of_its_successor(job, tmp_path):
    with served(job.answers, 0, "localhost", tmp_path):
        older = served(job.answers, 0, "localhost", tmp_path)
        older.__enter__()
        newer = "http://localhost:2/\n"
        (tmp_path / URL_FILE).write_text(newer)
        older.__exit__(None, None, None)
        assert (tmp_path / URL_FILE).read_text() == newer


def test_the_address_can_be_read_while_the_job_ends(tmp_path):
    file, over = tmp_path / URL_FILE, threading.Event()

    def come_and_go():
        while not over.is_set():
            file.write_text("http://localhost:1/\n")
            file.unlink()

    running = RunningJob("words", tmp_path, come_and_go, SavepointRequests(tmp_path / "requests"))
    try:
        assert {running.rest_url for _ in range(5_000)} <= {None, "http://localhost:1/"}
    finally:
        over.set()
        running.result(60)


def test_a_port_in_use_is_refused_before_spark_starts(server, tmp_path):
    job = Job("words").source("in", RateInput(1)).sink("out", OUTPUT)
    with pytest.raises(ConfigError, match=f"rest_port {server.port} at 'localhost' cannot be used"):
        job.execute("local[2]", tmp_path, rest_port=server.port)
    assert not (tmp_path / "spark.log").exists()


def test_a_driver_that_replaces_a_dead_one_runs_without_its_page_then(server, tmp_path, caplog):
    answers = RestAnswers(MonitoredJob().monitor)
    with (
        caplog.at_level(logging.WARNING),
        served(answers, server.port, "localhost", tmp_path, required=False),
    ):
        assert not (tmp_path / URL_FILE).exists()
    assert "the job runs without its web page: rest_port" in caplog.text


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"rest_port": -1}, "rest_port takes an int from 0 to 65535, or None, not -1"),
        ({"rest_port": 65_536}, "rest_port takes"),
        ({"rest_port": "8081"}, "rest_port takes"),
        ({"rest_port": True}, "rest_port takes"),
        ({"rest_bind_address": ""}, "rest_bind_address takes a name or an IP address of this host, not ''"),
        ({"rest_bind_address": 127}, "rest_bind_address takes"),
    ],
)
def test_an_invalid_address_is_refused(options, refused):
    with pytest.raises(ConfigError, match=refused):
        settings_of(options)


@pytest.mark.parametrize("address", ["192.0.2.1", "a\0b", "\ud800", "a..b"])
def test_an_address_of_another_host_is_refused(job, address):
    with pytest.raises(ConfigError, match=re.escape(f"rest_port 0 at {address!r} cannot be used")):
        RestServer(job.answers, 0, address)
