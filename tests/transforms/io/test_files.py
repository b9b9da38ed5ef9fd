"""Files are found by paths, folders and globs; each once."""

from pathlib import Path

import pytest

from evenflow.transforms.io import files


def test_match(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.txt", "c.csv", "deep/d.parquet", "odd[1].jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    names = [
        str(tmp_path / name) for name in ("a.jsonl", "b.txt", "deep/d.parquet", "odd[1].jsonl")
    ]
    assert files.match([str(tmp_path)]) == dict.fromkeys(sorted(names), 5)
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
    assert list(
        files.find(["x.jsonl", "./x.jsonl", str(tmp_path / "x.jsonl"), "../" + tmp_path.name])
    ) == [str(tmp_path / "link.jsonl")]


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
