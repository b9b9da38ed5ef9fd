"""A storage does the same in a local directory and in an object store (here: in memory)."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import obstore
import pytest
from obstore.exceptions import GenericError

from evenflow.transforms.storage import objects
from evenflow.transforms.storage.storage import Storage, StorageError, at


@pytest.fixture(params=["directory", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """An empty storage of each kind; its address has characters that addresses escape."""
    if request.param == "directory":
        return at(tmp_path / "a b%20c")
    return at(f"memory://{uuid4().hex}/a b%20c")


def test_what_is_written_is_read_again(place: Storage):
    place.write("ledger/x.json", b"1")
    place.write("ledger/x.json", b"22")

    assert place.read("ledger/x.json") == b"22"
    found = place.stat("ledger/x.json")
    assert found is not None
    assert (found.name, found.bytes) == ("ledger/x.json", 2)


def test_a_missing_file_is_an_error_to_read_and_none_to_stat(place: Storage):
    with pytest.raises(FileNotFoundError, match="json"):
        place.read("x.json")
    with pytest.raises(FileNotFoundError, match="json"):
        place.open("x.json").read()
    assert place.stat("x.json") is None
    assert not place.exists("x.json")


def test_of_many_that_create_a_file_one_succeeds(place: Storage):
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda n: place.create("terms/1", b"%d" % n), range(64)))

    assert sum(done) == 1
    assert place.read("terms/1") == b"%d" % done.index(True)


def test_a_second_try_with_the_same_bytes_has_created_the_file(place: Storage):
    assert place.create("x", b"1")
    assert place.create("x", b"1")
    assert not place.create("x", b"2")


def test_a_folder_lists_its_own_files_and_a_tree_all(place: Storage):
    for name in ("ledger/b", "ledger/a", "ledger/holds/c", "other"):
        place.write(name, b"")

    assert place.names("ledger") == ["a", "b"]
    assert place.names("nothing") == []
    assert sorted(each.name for each in place.tree("ledger")) == [
        "ledger/a",
        "ledger/b",
        "ledger/holds/c",
    ]
    assert len(list(place.tree())) == 4
    assert sorted(each.name for each in place.below("ledger").tree()) == ["a", "b", "holds/c"]


def test_removing_twice_is_no_error(place: Storage):
    place.write("a", b"")
    place.write("f/b", b"")

    place.remove(["a", "missing"])
    place.remove_tree("f")
    place.remove_tree("f")

    assert list(place.tree()) == []


def test_what_a_folder_holds_at_the_end_of_the_block_is_there(place: Storage):
    with place.folder("staged/1") as folder:
        (folder / "x.parquet").write_bytes(b"abc")
    assert place.read("staged/1/x.parquet") == b"abc"

    with place.fetched(["staged/1/x.parquet"]) as [path]:
        assert path.read_bytes() == b"abc"


def test_a_placed_file_has_its_final_name(place: Storage):
    place.write("staged/1/x", b"abc")
    place.place([("staged/1/x", "accepted/x")])
    assert place.read("accepted/x") == b"abc"

    with pytest.raises(FileNotFoundError):
        place.place([("staged/1/missing", "accepted/y")])


def test_an_open_file_can_be_read_from_any_byte(place: Storage):
    place.write("x", bytes(range(256)))
    with place.open("x") as file:
        file.seek(250)
        assert file.read(3) == bytes([250, 251, 252])
        assert file.tell() == 253
        assert file.read() == bytes([253, 254, 255])


def test_a_pickled_storage_is_the_same_one(place: Storage):
    place.write("x", b"1")
    again = pickle.loads(pickle.dumps(place))
    assert again == place
    assert again.read("x") == b"1"


@pytest.mark.parametrize("address", ["ftp://host/x", "s3://", "s3:///x"])
def test_an_address_of_no_store_is_refused(address: str):
    with pytest.raises(StorageError, match="no address of a store"):
        at(address)


@pytest.mark.parametrize("keys", ["KEY:canary@", "canary@", "KEY:can/ary@"])
def test_keys_in_an_address_are_refused_and_not_shown(keys: str):
    with pytest.raises(StorageError, match="set AWS_ACCESS_KEY_ID") as refused:
        at(f"s3://{keys}bucket/x")
    assert "can" not in str(refused.value)
    with pytest.raises(StorageError) as refused:
        at(f"https://{keys}bucket/x")
    assert "can" not in str(refused.value)


def test_only_a_directory_has_a_path_of_this_machine(tmp_path: Path):
    assert at(tmp_path).local == tmp_path
    assert at("memory://x/y").local is None


@pytest.mark.parametrize("is_written", [False, True], ids=["not written", "written"])
def test_what_is_lost_on_the_way_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    """A server was killed: some connections of the client are dead before it is there again."""
    put, get, left = obstore.put, obstore.get, [1, 1, 3]

    def failing(ask: Any, passes: bool, number: int, *given: Any, **named: Any) -> Any:
        if left[number]:
            left[number] -= 1
            if passes:
                ask(*given, **named)
            raise GenericError("error sending request")
        return ask(*given, **named)

    monkeypatch.setattr(objects, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(obstore, "put", partial(failing, put, is_written, 0))
    monkeypatch.setattr(obstore, "get", partial(failing, get, False, 2))
    output = at(f"memory://{uuid4().hex}/out")
    assert output.create("x", b"one") and not output.create("x", b"two")
    assert output.read("x") == b"one" and left == [0, 1, 0]


REQUESTS: dict[str, Callable[[Storage], object]] = {
    "copy": lambda output: output.place([("x", "y")]),
    "delete": lambda output: output.remove(["x"]),
    "get": lambda output: output.read("x"),
    "head": lambda output: output.stat("x"),
    "list_with_delimiter": lambda output: output.names(""),
    "open_reader": lambda output: output.open("x").read(),
    "put": lambda output: output.write("x", b"two"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_made_again_only_where_its_answer_was_lost(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ask = getattr(obstore, name)
    errors = [GenericError("error sending request") for _ in range(20)]

    def failing(*given: Any, **named: Any) -> Any:
        if errors:
            raise errors.pop()
        return ask(*given, **named)

    output = at(f"memory://{uuid4().hex}/out")
    output.write("x", b"one")
    monkeypatch.setattr(objects, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(obstore, name, failing)
    REQUESTS[name](output)
    assert not errors
    errors += [GenericError("status code: 503 Service Unavailable")]
    with pytest.raises(StorageError, match=r"503|again and again"):
        REQUESTS[name](output)
    assert not errors
