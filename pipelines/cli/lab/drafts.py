"""`evenflow words generate` and `review`: from seed words to a reviewed list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import counted, visible

if TYPE_CHECKING:
    from evenflow.transforms.lab.word_lists.journal import Journal


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
    from evenflow.transforms.lab.word_lists import asking, criteria
    from evenflow.transforms.lab.word_lists import corpus as corpora
    from evenflow.transforms.lab.word_lists import draft as drafts
    from evenflow.transforms.lab.word_lists import proposals as proposing
    from evenflow.transforms.lab.word_lists.journal import ENDING
    from evenflow.transforms.llm.worker import settings as server_settings
    from evenflow.transforms.measures.bias_score import vectors as word_vectors

    names = [each.strip() for each in groups.split(",")]
    given = _seeds(seeds, names)
    drafts.check_names(attribute, names)
    if output.with_name(output.name + ENDING).exists():
        raise drafts.DraftError(f"{output}: people have reviewed this draft; give another --output")
    config = settings.configuration()
    if config.llm.url is None:
        text = "a language model proposes the words: --set llm.url=URL --set llm.model=NAME"
        raise options.wrong("--set", text)
    space = proposing.WordSpace(word_vectors.load(None))
    answers = output.with_name(output.name + ".answers.sqlite")
    asked = asking.ask_server(server_settings(config), answers, attribute, given, runs, words)
    for reason, count in asked.failed.items():
        options.note(f"{counted(count, 'run')} without an answer: {reason}")
    made = drafts.make(
        attribute,
        asked.proposals,
        corpora.texts(corpus, config),
        option=option,
        top=top,
        source=f"words of the language model {config.llm.model}, {runs} runs",
        licence=licence,
        known=space.places,
        associations=criteria.associations(attribute),
        counterparts=lambda own: (
            proposing.counterparts(space, given, own) if all(given.values()) else {}
        ),
    )
    drafts.write(output, made)
    with printing():
        print(counted(made.documents, "document"))
        for group in made.groups:
            own = [each for each in made.candidates if each.group == group]
            warned = sum(bool(each.warnings) for each in own)
            print(
                visible(
                    f"{group}: {len(own)} words of {len(asked.proposals[group])}, {warned} warned"
                )
            )


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

    Of a run's output, OUT.draft.json is made: up to 40 flagged sentences of each attribute, over
    all probabilities. Say whether each is a stereotype. --finish then writes a calibration of your
    corpus, for stereotypes.remove_from.

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
    if path.is_dir():
        path = _flagged_of(path)
    if finish is not None:
        return _finish(path, finish, leave_undecided, majority)
    from evenflow.transforms.lab.word_lists import draft as drafts
    from evenflow.transforms.lab.word_lists.journal import Journal

    if path.suffix in (".yaml", ".yml"):
        path = _draft_of(path, corpus, values)
    _serve(Journal(drafts.read(path), path), host, port)


def _finish(path: Path, output: Path, leave_undecided: bool, majority: bool) -> None:
    """Write the word list of a reviewed draft, and print its sizes."""
    from evenflow.transforms.lab.word_lists import draft as drafts
    from evenflow.transforms.lab.word_lists import finish as finishing
    from evenflow.transforms.lab.word_lists.journal import Journal
    from evenflow.wordlists import writing

    made = drafts.read(path)
    found = Journal(made, path).state().opinions
    if made.candidates and made.candidates[0].band is not None:
        return _calibrate(finishing.sentences(made, found, leave_undecided, majority), output)
    words = finishing.finish(made, found, leave_undecided=leave_undecided, majority=majority)
    options.write(output, writing.content(words).encode())
    if roles := finishing.roles(made, found, words):
        content = writing.roles(words, roles).encode()
        options.write(output.with_name(f"roles_{output.stem}.yaml"), content)
    with printing():
        for number, group in enumerate(words.groups):
            count = list(words.labels.values()).count(number)
            print(visible(f"{group}: {counted(count, 'label')}"))


def _calibrate(figures: Mapping[str, Any], output: Path) -> None:
    """Write a calibration of sentences, and print how often they were right."""
    from evenflow.transforms.lab.word_lists.draft import DraftError
    from evenflow.transforms.measures.stereotypes.calibration import LEAST_READ

    if not figures["called"]:
        raise DraftError("nobody has read a whole band of sentences yet, so nothing is written")
    options.write(output, (json.dumps(figures, indent=1) + "\n").encode())
    with printing():
        for name, bounds in figures["bounds"].items():
            for (least, share, low, high), (_, read, _) in zip(
                bounds, figures["called"][name], strict=True
            ):
                print(visible(f"{name} from {least}: {share} right [{low}, {high}], {read} read"))
            if figures["called"][name][0][1] < LEAST_READ:
                print(visible(f"{name}: fewer than {LEAST_READ} read, so nothing is removed"))


def _flagged_of(output: Path) -> Path:
    """The draft of an output's flagged sentences, drawn where it is not there yet."""
    from evenflow.transforms.lab.word_lists import draft as drafts
    from evenflow.transforms.lab.word_lists import flagged

    output = output.resolve()
    made = output.with_name(f"{output.name}.draft.json")
    if not made.exists():
        drafts.write(made, flagged.draw(output))
        options.note(f"the draft is {made}")
    return made


def _draft_of(path: Path, corpus: Sequence[str], values: options.Values) -> Path:
    """The draft of a typed list, made where it is not there yet. Raises DraftError."""
    from evenflow.transforms.lab.word_lists import corpus as corpora
    from evenflow.transforms.lab.word_lists import criteria
    from evenflow.transforms.lab.word_lists import draft as drafts
    from evenflow.transforms.lab.word_lists.proposals import WordSpace
    from evenflow.transforms.measures.bias_score import vectors as word_vectors
    from evenflow.wordlists import loader

    words, made = loader.load(path), path.with_name(f"{path.stem}.draft.json")
    if made.exists():
        stored = [form for each in drafts.read(made).candidates for form in each.forms]
        if set(stored) != set(words.labels):
            raise drafts.DraftError(
                f"{path}: its labels are others than those of {made}, which is reviewed; give the"
                " list another name, or remove the draft and its journal"
            )
        return made
    known, own = WordSpace(word_vectors.load(None)).places, criteria.associations(words.attribute)
    read = corpora.texts(corpus, values.configuration()) if corpus else ()
    drafts.write(made, drafts.of_list(words, read, known=known, associations=own))
    options.note(f"the draft is {made}")
    return made


def _serve(journal: Journal, host: str, port: int) -> None:
    """Serve the page of a review until the process is stopped."""
    import secrets

    from evenflow.pipelines.lab.word_review.app import application
    from evenflow.pipelines.pages.board.server import address, listen, serve

    token = secrets.token_urlsafe(24)
    listener = listen(host, port)
    with printing():
        print(f"review: {address(host, listener)}?token={token}", flush=True)
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
