"""What is a word of prose in code, markup and manuals."""

from __future__ import annotations

import pytest

from evenflow.pipelines.api.annotator import Annotator
from evenflow.transforms.labels import register

LONG = "\n" + "The quick brown fox jumps over the lazy dog. " * 6  # of which a register can be told
CODE = "\n" + "x = f(y[0]) + {z: 1}  # z_1\n" * 12


def found(text: str, attribute: str = "gender") -> list[str]:
    mentions = Annotator(attributes=[attribute]).annotate(text).mentions
    return [text[each.start : each.end] for each in mentions]


@pytest.mark.parametrize(
    "text",
    [
        '.\\" Process this file with\n.\\" groff -man -T foo.1\n.TH foo 3 "Linux man-pages 6.03"',
        "my($self, $man) = @_;\n$man =~ s,/+,.,g;\nreturn $man;",
        "\\fB\\-\\-man\\-block\\fR=\\fIMAN_BLOCK\\fR is deprecated; use \\-\\-man\\-blocks.",
        "  - fix man page headers [Karel Z]\n  - update the man pages (from #12)",
        "self.man = man\nassert self.man.done()  # [1]",
        "assert subprocess.run(['man', name]) == 0  # {page} [section]",
        "We cleaved the His-tag from it; the triad is Ser-His-Asp.",
    ],
)
def test_words_of_code_are_no_mentions(text: str) -> None:
    assert found(CODE + text + CODE) == []


def test_a_child_of_a_process_is_nobody() -> None:
    text = "/* fork(): the child process gets pid == 0 */\nif (child == 0) { exec_child(child); }"
    assert found(CODE + text, "age") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('He said (once): "hi", and she left him.', ["He", "she", "him"]),
        ("<p>The woman and her <i>dog</i> left; he did not.</p>", ["woman", "her", "he"]),
        ("> &gt; She told him (again!!) that her boss is *awful* :/ ~~~", ["She", "him", "her"]),
        ("[A user] takes <a password> that is as long as he or she likes {1..99}.", ["he", "she"]),
    ],
)
def test_people_in_texts_of_many_symbols_are_mentions(text: str, words: list[str]) -> None:
    assert found(CODE + LONG + text + LONG) == words


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_prose_has_no_look(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr(register, "is_prose", lambda *_: pytest.fail("a look at prose"))
    lines = ["The man pages the doctor; his waiter waits."] + [
        "The old house stood at the end of the street, and nobody had lived in it for years."
    ] * 4
    assert found(end.join(lines)) == ["man", "his", "waiter"]


def test_a_list_without_symbols_has_a_look() -> None:
    names = "Mamie Man Mana Manda Mandi Queen Queenie Quentin Prince"
    assert found("\n".join(names.split() * 8)) == []


def test_a_short_text_and_the_halves_of_an_inclusive_form_stay() -> None:
    assert found("[man] = {woman};") == ["man", "woman"]
    assert found(CODE + "x = {s/he}" + CODE) == ["s/", "he"]


def test_a_document_is_judged_alone() -> None:
    prose, code = "A man came." + LONG, "my $man = shift; # {man} %man [man] @man;" + CODE
    annotator = Annotator(attributes=["gender"])
    alone = [len(annotator.annotate(each).mentions) for each in (prose, code, prose)]
    assert alone == [1, 0, 1]
    together = annotator.annotate_many([prose, code, prose])
    assert [len(each.mentions) for each in together] == alone
