"""A command whose service the place cuts off: the setting, which only a person sets (VR-4)."""

from __future__ import annotations

import shlex
import socket
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from developer.verify.lacking import unreached
from shared.config import commands_hash
from shared.guard.permissions import refusal_for_assistant
from tests.developer.verify.conftest import PYTHON, Site
from tests.developer.verify.test_in_place import place_job
from tests.journey import Journey, call, words_of
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repositories

pytestmark = pytest.mark.requirement("VR-4")


@pytest.fixture
def port() -> Iterator[int]:
    """Yield the port on the loopback of a service that runs while the test does."""
    need_place()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def asking(port: int) -> str:
    """Return Python code that needs the service."""
    return f"import socket; socket.create_connection(('127.0.0.1', {port})).close()"


def test_a_service_that_is_not_reached_names_the_setting_and_the_command(
    site: Site, port: int
) -> None:
    needs = f"{PYTHON} -c {shlex.quote(asking(port))}"
    site.write("app.py", "ANSWER = 2\n")
    (result,) = site.done(place_job(site, needs)).results
    assert result.outcome == "known-failure"
    assert "Connection refused" in result.lacks
    assert "`[verify] network = true`: `planner init --network`" in result.lacks
    (again,) = site.done(place_job(site, needs, network=True)).results
    assert (again.outcome, again.baseline, again.lacks) == ("pass", "pass", "")


def test_what_only_the_change_needs_is_named_beside_its_failure(site: Site, port: int) -> None:
    site.write("app.py", asking(port))
    done = site.done(place_job(site, f"{PYTHON} app.py"))
    assert done.results[0].outcome == "fail"
    assert "planner init --network" in " ".join(done.notes)


def test_a_setting_that_nobody_has_confirmed_names_what_to_confirm(site: Site) -> None:
    job = replace(place_job(site, "true", network=True), chosen=("make test",))
    refused = "psycopg2: connection to server at 127.0.0.1, port 5432 failed: Connection refused"
    assert f"planner config confirm {commands_hash(job.to_confirm)}" in unreached(job, refused)
    assert unreached(replace(job, confirmed=True), refused) == ""


@pytest.mark.parametrize(
    "line",
    [
        "redis.exceptions.ConnectionError: connecting to localhost:6379. Connection refused.",
        "dial tcp [::1]:5432: connect: connection refused",
        "AggregateError [ECONNREFUSED]:",
        'thread main panicked: Os { code: 111, kind: ConnectionRefused, message: "…" }',
        "OSError: Multiple exceptions: [Errno 111] Connect call failed ('::1', 5432, 0, 0)",
        'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file',
        "Can't connect to local MySQL server through socket '/run/mysqld/mysqld.sock' (2)",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
        "getaddrinfo EAI_AGAIN db",
        'could not translate host name "db" to address: Temporary failure in name resolution',
        "dial tcp: lookup db: no such host",
    ],
)
def test_each_runtime_says_it_in_its_own_words(site: Site, line: str) -> None:
    assert "planner init --network" in unreached(site.job("true"), f"E  x\n{line}\n1 failed\n")


@pytest.mark.parametrize("line", ["1 failed, 2 passed", "FAIL: refused a connection that …"])
def test_other_failures_name_no_network(site: Site, line: str) -> None:
    assert unreached(site.job("true"), line) == ""


def test_a_run_whose_tests_need_a_service_is_verified_once_a_person_has_set_it(
    make_repo: Repositories, port: int
) -> None:
    """Refused first with the command; then the person's three commands lead to a verified plan."""
    head = "import unittest\nfrom a import f\nclass T(unittest.TestCase):\n  def test(self):\n"
    test = f"{head}    {asking(port)}\n    "
    files: dict[str, str | bytes] = {
        "src/a.py": "def f(x):\n    return x + 1\n",
        "tests/test_a.py": f"{test}self.assertEqual(f(1), 2)\n",
        ".gitignore": "__pycache__/\n",
        "Makefile": "test:\n\tPYTHONPATH=src python3 -m unittest discover tests\n",
    }
    repository = make_repo(files=files)
    journey = Journey(repository)
    journey.edits["tests/test_a.py"] = f"{test}self.assertEqual(f(1), 3)\n"
    journey.to("code").do_the_work()
    refused = call(repository.path, *words_of(journey.last.next("done")))
    assert refused.code == 1, refused.text
    assert "planner init --network" in refused.text
    assert refusal_for_assistant(["init", "--network"]) is not None
    unverified = journey.planner("plan", "verify")
    assert "planner init --network" in unverified.text
    written = call(repository.path, "init", "--network")
    assert written.code == 0, written.text
    repository.git("add", "planner.toml")
    repository.git("commit", "-qm", "Verify with services")
    assert call(repository.path, "mode", "rebase").code == 0
    assert call(repository.path, *words_of(written.person())).code == 0
    done = journey.planner("plan", "verify")
    assert ": pass (base: pass) · confined" in done.text, done.text
