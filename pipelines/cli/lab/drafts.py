"""`evenflow words generate`, `review` and `finish`: from seed words to a reviewed list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import argument, command, flag, one_of, option
from evenflow.pipelines.cli.keys import Keys
from evenflow.pipelines.cli.lab.word_lists import CorpusOption, write_list
from evenflow.pipelines.terminal.endings import printing
from evenflow.pipelines.terminal.lines import visible

if TYPE_CHECKING:
    from evenflow.transforms.lab.word_lists.journal import Journal


DraftArgument = Annotated[Path, argument("DRAFT", "The draft's file.")]
ReviewedArgument = Annotated[
    Path, argument("DRAFT|LIST", "The draft's file, or a word list (YAML).")
]


@command(
    "evenflow words generate --attribute a --groups f,m --seeds f=she …",
    "evenflow words generate … --llm http://127.0.0.1:8000 --llm-model m",
    options=("fields.text",),
)
def generate(
    *,
    attribute: Annotated[str, option("NAME", "The attribute's name.")],
    groups: Annotated[str, option("G1,G2,…", "Its groups.")],
    corpus: CorpusOption,
    output: Annotated[Path, option("DRAFT", "The draft to write.", "--output", "-o")],
    seeds: Annotated[
        list[str] | None, option("GROUP=W1,W2,…", "Words that are right; one for each group.")
    ] = None,
    option: Annotated[
        str, option("A|B", "Keep by frequency (A) or order of generation (B).")
    ] = "B",
    top: Annotated[int, option("K", "Words to review a group.", min=1)] = 300,
    proposals: Annotated[int, option("N", "Neighbours of the seeds a group.", min=1)] = 1000,
    vectors: Annotated[
        Path | None, option("FILE", "Word vectors.  [default: those that are shipped]")
    ] = None,
    runs: Annotated[int, option("R", "Runs of the LLM.", min=1)] = 15,
    words: Annotated[int, option("L", "Words of a run.", min=1)] = 300,
    cache: Annotated[
        Path | None, option("FILE", "Answers of the LLM.  [default: DRAFT.answers.sqlite]")
    ] = None,
    licence: Annotated[str, option("TEXT", "Licence of the list.")] = "",
    llm: options.LlmOptions,
    fields: Keys,
) -> None:
    """Propose words for groups, count them in a corpus, and check them: a draft to review.

    Without a language model, words come from seeds: the nearest ones of static vectors, analogies,
    and their singulars and plurals. With one, it is asked in several runs (Algorithm 1 of Görge et
    al.), and the seeds are its examples. A run that was stopped goes on from its cache.
    """
    from evenflow.transforms.lab.word_lists import corpus as corpora
    from evenflow.transforms.lab.word_lists import criteria
    from evenflow.transforms.lab.word_lists import draft as drafts
    from evenflow.transforms.lab.word_lists import proposals as proposing
    from evenflow.transforms.lab.word_lists.journal import ENDING
    from evenflow.transforms.measures.bias_score import vectors as word_vectors

    one_of(option, ("A", "B"), "--option")
    names = [each.strip() for each in groups.split(",")]
    given = _seeds(seeds or (), names)
    drafts.check_names(attribute, names)
    if output.with_name(output.name + ENDING).exists():
        raise drafts.DraftError(f"{output}: people have reviewed this draft; give another --output")
    space = proposing.WordSpace(word_vectors.load(vectors))
    if llm.llm is not None or llm.llm_serve is not None:
        from evenflow.pipelines.cli.llm import server_settings
        from evenflow.transforms.lab.word_lists import asking

        answers = cache or output.with_name(output.name + ".answers.sqlite")
        with server_settings(llm) as settings:
            asked = asking.ask_server(settings, answers, attribute, given, runs, words)
        for reason, count in asked.failed.items():
            typer.echo(f"evenflow: {count} runs without an answer: {visible(reason)}", err=True)
        proposed = asked.proposals
        source = f"words of the language model {llm.llm_model or llm.llm_serve}, {runs} runs"
    else:
        proposed = proposing.propose(space, given, proposals)
        source = "neighbours of seed words in static vectors"
    choice: Literal["A", "B"] = "A" if option == "A" else "B"
    made = drafts.make(
        attribute,
        proposed,
        corpora.texts(corpus, fields.configuration()),
        option=choice,
        top=top,
        source=source,
        licence=licence,
        known=space.places,
        associations=criteria.associations(attribute),
        counterparts=lambda own: (
            proposing.counterparts(space, given, own) if all(given.values()) else {}
        ),
    )
    drafts.write(output, made)
    with printing():
        print(f"{made.documents:,} documents")
        for group in made.groups:
            own = [each for each in made.candidates if each.group == group]
            warned = sum(bool(each.warnings) for each in own)
            print(visible(f"{group}: {len(own)} words of {len(proposed[group])}, {warned} warned"))


@command(
    "evenflow words review draft.json",
    "evenflow words review draft.json --terminal --reviewer Ada",
    "evenflow words review draft.json --terminal --reviewer A --disputed",
    "evenflow words review mine.yaml --corpus corpus/",
    options=("fields.text",),
)
def review(
    path: ReviewedArgument,
    *,
    corpus: Annotated[
        list[str] | None,
        option("PATH", "Of a list: texts in which its labels are counted.", "--corpus"),
    ] = None,
    fields: Keys,
    terminal: Annotated[bool, flag("Read decisions from standard input.")] = False,
    reviewer: Annotated[str | None, option("NAME", "Who decides on the terminal.")] = None,
    disputed: Annotated[bool, flag("On the terminal: only disputed words.")] = False,
    port: Annotated[
        int, option("N", "Port of the page; 0 takes a free one.", min=0, max=65535)
    ] = 0,
    host: Annotated[
        str, option("ADDRESS", "Address of the page.", show_default=True)
    ] = "127.0.0.1",
) -> None:
    """Decide about the words of a draft, one by one, on a web page or on the terminal.

    Of a word list that somebody typed, LIST.draft.json is made beside it first. Seeds of a draft
    count as they were given, unless somebody decides otherwise.

    The page's address has a token: who has the address can decide. Each decision is appended to
    DRAFT.journal.jsonl before the next word is shown. Stop at any time and go on later.
    """
    from evenflow.transforms.lab.word_lists import draft as drafts
    from evenflow.transforms.lab.word_lists.journal import Journal

    if path.suffix in (".yaml", ".yml"):
        path = _draft_of(path, corpus or (), fields)
    journal = Journal(drafts.read(path), path)
    if not terminal:
        _serve(journal, host, port)
        return
    from evenflow.pipelines.lab.word_review import terminal as reviews

    if not (reviewer or "").strip():
        raise typer.BadParameter("a name was expected", param_hint="'--reviewer'")
    with printing():
        reviews.review(journal, str(reviewer), sys.stdin, disputed)


@command("evenflow words finish draft.json --output mine.yaml")
def finish(
    path: DraftArgument,
    *,
    output: Annotated[Path, option("FILE.yaml", "The word list to write.", "--output", "-o")],
    leave_undecided: Annotated[bool, flag("Leave out words that nobody has decided.")] = False,
    majority: Annotated[bool, flag("The majority decides where reviewers differ.")] = False,
) -> None:
    """Make a word list of a reviewed draft, with who reviewed it and where each word comes from.

    Counterparts that reviewers named become pairs, or with more than two groups the role map
    roles_FILE.yaml beside the list. Refused while words are undecided or reviewers differ, unless
    an option says what to do.
    """
    from evenflow.transforms.lab.word_lists import draft as drafts
    from evenflow.transforms.lab.word_lists import finish as finishing
    from evenflow.transforms.lab.word_lists.journal import Journal
    from evenflow.transforms.storage.storage import at
    from evenflow.wordlists import writing

    made = drafts.read(path)
    found = Journal(made, path).state().opinions
    words = finishing.finish(made, found, leave_undecided=leave_undecided, majority=majority)
    write_list(output, words)
    if roles := finishing.roles(made, found, words):
        content = writing.roles(words, roles).encode()
        at(output.parent).write(f"roles_{output.stem}.yaml", content)
    with printing():
        for number, group in enumerate(words.groups):
            print(visible(f"{group}: {list(words.labels.values()).count(number)} labels"))


def _draft_of(path: Path, corpus: Sequence[str], fields: Keys) -> Path:
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
    known, associations = (
        WordSpace(word_vectors.load(None)).places,
        criteria.associations(words.attribute),
    )
    read = corpora.texts(corpus, fields.configuration()) if corpus else ()
    drafts.write(made, drafts.of_list(words, read, known=known, associations=associations))
    typer.echo(f"evenflow: the draft is {visible(str(made))}", err=True)
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
            raise typer.BadParameter(
                f"{each!r}: GROUP=word,word was expected, with one of {', '.join(groups)}",
                param_hint="'--seeds'",
            )
        out[group.strip()] += [word.strip() for word in words.split(",") if word.strip()]
    return out
