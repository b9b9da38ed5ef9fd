"""The page of a review: who may decide, what is escaped, and where a decision goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import word_drafts
from starlette.testclient import TestClient

from evenflow.pipelines.lab.word_review.app import application
from evenflow.transforms.lab.word_lists import draft
from evenflow.transforms.lab.word_lists.finish import finish
from evenflow.transforms.lab.word_lists.journal import Journal
from evenflow.transforms.lab.word_lists.proposals import SEED

TOKEN = "correct horse battery"
HERE = "http://127.0.0.1:8091"
INLINE = re.compile(
    r'<style|\sstyle=|\son\w+=|<script(?! src="/review\.js")|(src|href)="(https?:)?//'
)


@pytest.fixture
def own(tmp_path: Path) -> Journal:
    path = word_drafts.written(tmp_path)
    return Journal(draft.read(path), path)


def client_of(journal: Journal) -> TestClient:
    """A browser's requests, without its rules."""
    return TestClient(application(journal, TOKEN), base_url=HERE, follow_redirects=False)


@pytest.fixture
def client(own: Journal) -> Iterator[TestClient]:
    """A browser that has opened the printed address; its reviewer is Ada."""
    client = client_of(own)
    answer = client.get("/", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"] and "SameSite=strict" in str(answer.headers)
    assert send(client, "/who", who="Ada") == 303
    yield client


def send(client: TestClient, path: str = "/decide", origin: str = HERE, **fields: str) -> int:
    """Send a form of the page that is shown; the status of the answer."""
    form = re.search(r'name="form" value="([^"]*)"', client.get("/").text)
    given = {"form": form[1] if form else ""} | fields
    return client.post(path, data=given, headers={"origin": origin}).status_code


def test_without_the_token_nothing_is_shown(own: Journal) -> None:
    client = client_of(own)
    for path in ("/", "/?token=wrong", "/?at=1"):
        answer = client.get(path)
        assert answer.status_code == 403 and "word0" not in answer.text
    assert send(client, word="word0", action="reject") == 409
    assert not own.state().entries


def test_foreign_hosts_origins_and_forms_are_refused(client: TestClient, own: Journal) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 403
    assert send(client, origin="http://evil.example", word="word0", action="reject") == 403
    assert send(client, word="word0", action="reject", form="x") == 409
    assert not own.state().entries


def test_a_page_runs_nothing_of_the_draft(client: TestClient) -> None:
    answer = client.get("/?at=0")
    assert "alert(" in answer.text and not INLINE.search(answer.text)
    assert "<mark>word0</mark>" in answer.text and "\u202e" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_decisions_go_to_the_journal(client: TestClient, own: Journal) -> None:
    for fields in (
        {"word": "word0", "action": "accept:wood"},
        {"word": "word0", "action": "pair", "pair": "word1"},
        {"word": "word1", "action": "reject"},
        {"word": "word1", "action": "undo"},
        {"word": "word1", "action": "comment", "comment": "not sure"},
        {"word": "word2", "action": "merge", "merge": "word0"},
    ):
        assert send(client, **fields) == 303
    found = own.state().opinions["Ada"]
    assert found["word0"].group == "wood" and found["word0"].pairs == ("word1",)
    assert not found["word1"].decided and found["word1"].comments == ("not sure",)
    assert found["word2"].merged == "word0"
    # The next word is the first one that is undecided
    assert "<title>word1" in client.get("/").text


@pytest.mark.parametrize(
    "fields",
    [
        {"word": "none", "action": "reject"},
        {"word": "word0", "action": "accept:glass"},
        {"word": "word0", "action": "explode"},
        {"word": "word0", "action": "merge", "merge": "none"},
        {"word": "word0", "action": "undo"},
        {},
    ],
)
def test_what_does_not_fit_changes_nothing(
    client: TestClient, own: Journal, fields: dict[str, str]
) -> None:
    assert send(client, **fields) == 409
    assert not own.state().entries


def test_a_full_disk_is_said(
    client: TestClient, own: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(own, "add", full)
    assert send(client, word="word0", action="reject") == 500


def test_two_reviewers_and_their_disputes(client: TestClient, own: Journal) -> None:
    send(client, word="word0", action="accept:wood")
    send(client, word="word1", action="accept:metal")
    other = client_of(own)
    other.get("/", params={"token": TOKEN})
    send(other, "/who", who="Ben")
    send(other, word="word0", action="accept:wood")
    send(other, word="word1", action="reject")
    page = client.get("/").text
    assert "1 disputed" in page and "over 2 words" in page
    assert "<title>word1" in client.get("/?queue=disputed").text
    send(client, word="word1", action="reject", queue="disputed")
    assert "No word is disputed" in client.get("/?queue=disputed").text


def test_one_key_takes_a_word_with_its_counterpart(own: Journal, client: TestClient) -> None:
    assert 'value="both" data-key="b"' in client.get("/").text
    assert send(client, word="word0", action="both") == 303
    ada = own.state().opinions["Ada"]
    assert (ada["word0"].group, ada["word0"].pairs, ada["word1"].group) == (
        "wood",
        ("word1",),
        "metal",
    )
    assert "word2" in client.get("/").text  # the counterpart is not asked about
    assert send(client, word="no word", action="both") == 409


def test_seeds_are_not_asked_about(tmp_path: Path) -> None:
    made = word_drafts.draft(2)
    seeds = [each.model_copy(update={"sources": (SEED,)}) for each in made.candidates]
    draft.write(tmp_path / "d.json", made.model_copy(update={"candidates": tuple(seeds)}))
    journal = Journal(draft.read(tmp_path / "d.json"), tmp_path / "d.json")
    client = client_of(journal)
    client.get("/", params={"token": TOKEN})
    assert send(client, "/who", who="Ada") == 303
    page = client.get("/").text
    assert "Every word is decided" in page and '<a href="/?at=1">' in page
    words = finish(journal.draft, journal.state().opinions)
    assert words.labels == {"word0": 0, "word0s": 0, "word1": 1, "word1s": 1}
    assert "nobody has reviewed" in words.review
    assert send(client, word="word1", action="reject") == 303  # a seed can be changed
    with pytest.raises(draft.DraftError, match="group metal has no accepted word"):
        finish(journal.draft, journal.state().opinions)
