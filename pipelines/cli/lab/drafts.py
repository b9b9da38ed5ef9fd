"""`evenflow words generate` and `review`: from seed words to a reviewed list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import say
from evenflow.schemas.words import counted


def words_generate(
    *,
    attribute: str,
    groups: str,
    corpus: list[str],
    output: Path,
    seeds: Sequence[str] = (),
    option: Literal["A", "B"] = "B",
    top: options.Count = 300,
    runs: options.Count = 15,
    words: options.Count = 300,
    licence: str = "",
    settings: options.Values,
) -> None:
    """Ask a language model for words and count them: a draft to review.

    It is asked in several runs (Algorithm 1 of Görge et al.), with the seeds as examples. A run
    that was stopped goes on from its cache. Without a model, type a list and review that.

    Args:
        attribute: The attribute's name.
        groups (G1,G2,…): Its groups.
        output (DRAFT): The draft to write.
        seeds (GROUP=W1,W2,…): Words that are right; one for each group.
        option: Keep by frequency (A) or order of generation (B).
        top (K): Words to review a group.
        runs (R): Runs of the LLM.
        words (L): Words of a run.
        licence (TEXT): Licence of the list.

    Examples:
        evenflow words generate --attribute a --groups f,m --set llm.url=URL …
    """
    from evenflow.transforms.lab.word_lists import draft, files

    seeded = _seeds(seeds, [each.strip() for each in groups.split(",")])
    draft.check_names(attribute, list(seeded))
    config = settings.configuration()
    if config.llm.url is None:
        text = "a language model proposes the words: --set llm.url=URL --set llm.model=NAME"
        raise options.wrong("--set", text)
    how: dict[str, Any] = {"option": option, "top": top, "runs": runs, "words": words}
    made, asked = files.generate(output, attribute, seeded, corpus, config, licence=licence, **how)
    for reason, count in asked.failed.items():
        options.note(f"{counted(count, 'run')} without an answer: {reason}")
    lines = [counted(made.documents, "document")]
    for group in made.groups:
        own = [each for each in made.candidates if each.group == group]
        warned, asked_for = sum(bool(each.warnings) for each in own), len(asked.proposals[group])
        lines.append(f"{group}: {len(own)} words of {asked_for}, {warned} warned")
    say(*lines)


def words_review(
    path: Path,
    *,
    corpus: Sequence[str] = (),
    values: options.Values,
    port: options.Port = 0,
    host: str = "127.0.0.1",
    finish: Path | None = None,
    leave_undecided: bool = False,
    majority: bool = False,
) -> None:
    """Decide about the words of a draft, one by one, on a web page.

    Of a word list that somebody typed, LIST.draft.json is made beside it first. Seeds of a draft
    count as they were given, unless somebody decides otherwise.

    Of a run's output, OUT.draft.json is made: of each attribute up to 40 flagged sentences and up
    to 40 that were exchanged, over all probabilities. Say whether each is a stereotype, or right.
    --finish then writes a calibration of your corpus, for stereotypes.remove_from and
    repair.min_probability.

    The page's address has a token: who has the address can decide. Each decision is appended to
    DRAFT.journal.jsonl before the next word is shown. Stop at any time and go on later.

    At the end --finish makes the word list. Counterparts that reviewers named become pairs, or with
    more than two groups the role map roles_FILE.yaml beside the list. It is refused while words are
    undecided or reviewers differ, unless an option says what to do.

    Args:
        path (DRAFT|LIST|OUT): The draft's file, a word list (YAML), or a run's output.
        corpus (PATH): Of a list: texts in which its labels are counted.
        finish (FILE): Write the word list or the calibration, and show no page.
        leave_undecided: With --finish, leave out words that nobody has decided.
        majority: With --finish, the majority decides where reviewers differ.

    Examples:
        evenflow words review draft.json
        evenflow words review mine.yaml --corpus corpus/
        evenflow words review draft.json --finish mine.yaml
        evenflow words review out --finish seen.json --leave-undecided
    """
    from evenflow.transforms.lab.word_lists import draft, files

    if finish is None or path.is_dir():
        path, is_new = files.draft_of(path, corpus, values.configuration())
        if is_new:
            options.note(f"the draft is {path}")
    if finish is not None:
        return say(*files.finished(path, finish, leave_undecided, majority))
    import secrets

    from evenflow.pipelines.lab.word_review.app import application
    from evenflow.pipelines.pages.board.server import address, listen, serve
    from evenflow.transforms.lab.word_lists.journal import Journal

    journal, token = Journal(draft.read(path), path), secrets.token_urlsafe(24)
    listener = listen(host, port)
    say(f"review: {address(host, listener)}?token={token}")
    serve(application(journal, token, host), listener)


def _seeds(given: Sequence[str], groups: Sequence[str]) -> dict[str, list[str]]:
    """The seeds by group; a group without any has an empty list."""
    out: dict[str, list[str]] = {group: [] for group in groups}
    for each in given:
        group, found, words = each.partition("=")
        if not found or group.strip() not in out:
            text = f"{each!r}: GROUP=word,word was expected, with one of {', '.join(groups)}"
            raise options.wrong("--seeds", text)
        out[group.strip()] += [word.strip() for word in words.split(",") if word.strip()]
    return out
