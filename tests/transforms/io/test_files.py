"""Files are found by paths, folders and globs; each once."""

from pathlib import Path
from uuid import uuid4

import pytest

from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import read_blocks
from evenflow.transforms.storage.storage import StorageError, at


def test_match(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.txt", "c.dat", "deep/d.parquet", "odd[1].jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    names = [
        str(tmp_path / name) for name in ("a.jsonl", "b.txt", "deep/d.parquet", "odd[1].jsonl")
    ]
    told: list[str] = []
    assert files.match([str(tmp_path)], note=told.append) == dict.fromkeys(sorted(names), 5)
    assert told == ["1 file is left out, as no format: 1 .dat"]
    assert files.match([str(tmp_path / "odd[1].jsonl")]) == {names[3]: 5}
    assert files.match([str(tmp_path / "*.txt"), names[1]]) == {names[1]: 5}
    assert list(files.match([str(tmp_path / "**" / "*.parquet")])) == [names[2]]
    for pattern in ("nothing*", "c.csv"):
        with pytest.raises(files.InputError, match="no file matches"):
            files.match([str(tmp_path / pattern)])


def test_a_file_is_read_once_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n")
    (tmp_path / "link.jsonl").symlink_to("x.jsonl")
    monkeypatch.chdir(tmp_path)
    names = ["x.jsonl", "./x.jsonl", str(tmp_path / "x.jsonl"), "../" + tmp_path.name]
    assert list(files.find(names).files) == [str(tmp_path / "link.jsonl")]


@pytest.mark.parametrize(
    "names, root",
    [
        (["/a/en/p.jsonl", "/a/de/p.jsonl"], "/a/"),
        (["/a/en/p.jsonl", "/a/en2/p.jsonl"], "/a/"),
        (["/a/p.jsonl"], "/a/"),
        (["gs://b/en/p.jsonl", "gs://b/p.jsonl"], "gs://b/"),
        (["gs://b/p.jsonl", "/a/p.jsonl"], ""),
    ],
)
def test_the_folder_that_holds_all_files(names: list[str], root: str) -> None:
    assert files.root(names) == root


NAMES = (
    *("a.jsonl", "b.txt", "c.csv", ".hidden.jsonl", "deep/d.parquet", "deep/er/e.jsonl"),
    *("deep/.h/f.jsonl", "odd[1].jsonl", "a b%20c/g.jsonl"),
)


@pytest.mark.parametrize(
    "pattern",
    (
        *("", "deep", "*", "*.jsonl", "**/*.jsonl", "deep/**", "*/?.jsonl", "**/e*"),
        *("odd[1].jsonl", "a b%20c", ".*.jsonl", "[ab].*", "deep/*/*.jsonl", "nothing*"),
    ),
)
def test_a_glob_means_the_same_in_a_store(tmp_path: Path, pattern: str) -> None:
    store = at(f"memory://{uuid4().hex}")
    for place in (at(tmp_path), store):
        for name in NAMES:
            place.write(name, b"{}\n")

    def found(root: str) -> list[str] | str:
        try:
            return [
                name.removeprefix(f"{root}/") for name in files.find([f"{root}/{pattern}"]).files
            ]
        except files.InputError as error:
            return str(error).replace(root, "")

    assert found(str(store)) == found(str(tmp_path))


@pytest.mark.parametrize("is_local", [True, False], ids=["local", "store"])
@pytest.mark.parametrize(
    "pattern, found, outputs",
    [
        ("in", ["in/a.jsonl"], ["in/deep/out"]),
        ("in/**", ["in/a.jsonl"], ["in/deep/out"]),
        ("in/*", ["in/a.jsonl"], ["in/deep/out"]),
        ("in/**/*.parquet", [], ["in/deep/out"]),
        ("in/deep/out", [], ["in/deep/out"]),
        ("in/deep/out/accepted", ["in/deep/out/accepted/p.parquet"], []),
        ("in/deep/out/accepted/p.parquet", ["in/deep/out/accepted/p.parquet"], []),
        ("in/*/*/accepted/*.parquet", ["in/deep/out/accepted/p.parquet"], []),
        ("in/**/accepted/*", ["in/deep/out/accepted/p.parquet"], []),
    ],
)
def test_the_output_of_a_run_is_left_out_unless_its_folder_is_named(
    tmp_path: Path, is_local: bool, pattern: str, found: list[str], outputs: list[str]
) -> None:
    place = at(tmp_path if is_local else f"memory://{uuid4().hex}")
    for name in ("a.jsonl", "deep/out/accepted/p.parquet", "deep/out/sentences/s.parquet"):
        place.write(f"in/{name}", b"{}\n")
    place.write("in/deep/out/ledger/meta.json", b"{}")
    if not found:
        with pytest.raises(files.InputError, match=r"in/deep/out/accepted$"):
            files.find([place.address(pattern)])
        return
    names = files.find([place.address(pattern)])
    assert list(names.files) == [place.address(name) for name in found]
    assert names.outputs == [place.address(name) for name in outputs]


def test_an_object_is_read_and_known_by_its_etag() -> None:
    store = at(f"memory://{uuid4().hex}")
    store.write("in/a.jsonl", b'{"text": "x"}\n' * 3)
    [(name, first)] = files.find([f"{store}/in"]).files.items()
    assert sum(block.size for block in read_blocks(name)) == 3
    store.write("in/a.jsonl", b'{"text": "y"}\n' * 3)
    [(_, second)] = files.find([name]).files.items()
    assert (first.bytes, first.identity == second.identity) == (second.bytes, False)


def test_a_store_that_cannot_be_listed_is_named() -> None:
    with pytest.raises(files.InputError, match="no address of a store") as raised:
        files.find(["hdfs://x/a.jsonl"])
    assert isinstance(raised.value.__cause__, StorageError)


HIDDEN = (
    *(".a.jsonl", "._a.jsonl", "_a.jsonl", "a.jsonl.tmp", "A.JSONL.TMP", "a.jsonl~", "_SUCCESS"),
    *(".git/a.jsonl", "_temporary/0/a.jsonl", "__MACOSX/a.jsonl", "x.tmp/a.jsonl"),
    *("deep/.ipynb_checkpoints/a.jsonl", ".a.jsonl.crc"),
)


@pytest.mark.parametrize("is_local", [True, False], ids=["local", "store"])
def test_what_is_hidden_or_temporary_is_no_input_unless_it_is_named(
    tmp_path: Path, is_local: bool
) -> None:
    place = at(tmp_path if is_local else f"memory://{uuid4().hex}")
    seen = ("a.jsonl", "deep/b.JSONL.GZ", "_year=2024/c.jsonl")
    for name in (*seen, *HIDDEN):
        place.write(f"in/{name}", b"{}\n")
    found = files.find([place.address("in")])
    assert list(found.files) == sorted(place.address(f"in/{name}") for name in seen)
    assert found.unread == {}
    for named in ("in/_a.jsonl", "in/_a*", "in/_temporary", "in/.git", "in/.git/*", "in/x.tmp/*"):
        assert len(files.find([place.address(named)]).files) == 1, named
    with pytest.raises(files.InputError, match="no file matches"):
        files.find([place.address("in/*~")])


def test_a_file_that_is_there_and_that_nothing_reads_is_named_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "a.docx").touch()
    for pattern in (tmp_path, tmp_path / "a.docx"):
        with pytest.raises(files.InputError, match=r"no format: 1 \.docx; formats are \.jsonl"):
            files.find([str(pattern)])


def test_files_that_nothing_reads_are_counted_by_ending(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.pdf", "c.PDF", "deep/LICENSE", "d.wat.gz", "e.zip", ".x.pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    found = files.find([str(tmp_path)])
    assert found.unread == {".pdf": 2, "": 1, ".wat.gz": 1, ".zip": 1}
    assert found.said[0].startswith("5 files are left out, as no format: 2 .pdf, 1 ")
    assert "1 without an ending" in found.said[0]
    with pytest.raises(files.InputError, match=r"1 \.zip.*strict_input is set"):
        files.find([str(tmp_path)], strict=True)
    assert files.find([str(tmp_path / "*.jsonl")], strict=True).unread == {}
