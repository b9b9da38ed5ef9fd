"""The review of a draft on a terminal: a word is shown, a line is read."""

from __future__ import annotations

from collections.abc import Iterable

from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.lab.word_lists.agreement import agreement
from evenflow.transforms.lab.word_lists.draft import Candidate, DraftError
from evenflow.transforms.lab.word_lists.journal import Action, Journal

HELP = """y accept   b accept with the proposed counterparts   n reject
1, 2, … accept for that group   m WORD a form of WORD
p WORD counterpart   c TEXT comment   u undo   s skip   w WORD show that word   q stop"""
ACTIONS: dict[str, Action] = {"m": "merge", "p": "pair", "c": "comment"}


def review(journal: Journal, reviewer: str, lines: Iterable[str], disputed: bool) -> None:
    """Show words and append what is decided, until there is none left or the lines end.

    Args:
        journal: The journal of the draft.
        reviewer: Who decides.
        lines: What the reviewer types, line by line.
        disputed: Whether only words that reviewers differ about are shown.

    Raises:
        DraftError: The journal cannot be read.
        OSError: A decision could not be written.
    """
    print(HELP)
    typed, skipped = iter(lines), set[str]()
    words = {each.word: each for each in journal.draft.candidates}
    if seeds := ", ".join(each.word for each in words.values() if each.is_seed):
        print(visible(f"seeds, which count as they were given: {seeds}"))
    while (candidate := _next(journal, reviewer, skipped, disputed)) is not None or seeds:
        _show(journal, candidate)
        while True:
            line = next(typed, None)
            if line is None or line.strip() == "q":
                _sum_up(journal)
                return
            command, _, word = line.strip().partition(" ")
            if command == "w" and word in words:
                _show(journal, candidate := words[word])
                continue
            try:
                if candidate is None:
                    raise DraftError(HELP)
                if _act(journal, reviewer, candidate, line.strip(), skipped):
                    break
            except DraftError as error:
                print(visible(str(error)))
    _sum_up(journal)


def _next(journal: Journal, reviewer: str, skipped: set[str], disputed: bool) -> Candidate | None:
    """The next word to decide; None after the last one."""
    found = journal.state().opinions
    own = found.get(reviewer, {})
    wanted = set(agreement(found).disputed)
    for each in journal.draft.candidates:
        if each.word in skipped:
            continue
        done = each.is_seed or (each.word in own and own[each.word].decided)
        if (each.word in wanted) if disputed else not done:
            return each
    return None


def _act(
    journal: Journal, reviewer: str, candidate: Candidate, line: str, skipped: set[str]
) -> bool:
    """Do what a line says. Returns whether another word is shown next.

    Raises:
        DraftError: The line is no command, or does not fit the draft.
    """
    groups = journal.draft.groups
    command, _, value = line.partition(" ")
    if line == "s":
        skipped.add(candidate.word)
        return True
    if line == "u":
        last = journal.state().last_of(reviewer)
        if last is None:
            raise DraftError("nothing to undo")
        journal.add(reviewer, last, "undo")
        skipped.discard(last)
        return True
    if line == "y":
        journal.add(reviewer, candidate.word, "accept", candidate.group)
    elif line == "b":
        journal.confirm(reviewer, candidate.word)
    elif line == "n":
        journal.add(reviewer, candidate.word, "reject")
    elif line.isdecimal() and 1 <= int(line) <= len(groups):
        journal.add(reviewer, candidate.word, "accept", groups[int(line) - 1])
    elif command in ACTIONS and value.strip():
        journal.add(reviewer, candidate.word, ACTIONS[command], value.strip())
        return command == "m"
    else:
        raise DraftError(HELP)
    skipped.add(candidate.word)
    return True


def _show(journal: Journal, candidate: Candidate | None) -> None:
    """Print what is known about a word; None: there is none to decide."""
    if candidate is None:
        print("every word is decided; w WORD shows one, q stops")
        return
    groups = "  ".join(f"{n} {group}" for n, group in enumerate(journal.draft.groups, 1))
    forms = ", ".join(f"{form} {count:,}" for form, count in candidate.forms.items())
    print(visible(f"\n{candidate.word} ({candidate.group})   {groups}"))
    print(visible(f"  in the corpus: {forms}; from: {'; '.join(candidate.sources)}"))
    for each in candidate.warnings:
        print(visible(f"  {each.criterion} ({each.probability:.1f}): {each.reason}"))
    if candidate.counterparts:
        others = ", ".join(f"{word} ({group})" for group, word in candidate.counterparts.items())
        print(visible(f"  counterparts: {others}"))
    for text in candidate.examples:
        print(visible(f"  - {text}"))


def _sum_up(journal: Journal) -> None:
    """Print how far the review is, and how far reviewers agree."""
    found = journal.state().opinions
    whole = len(journal.draft.candidates)
    for reviewer, own in found.items():
        decided = sum(each.decided for each in own.values())
        print(visible(f"{reviewer}: {decided:,} of {whole:,} words decided"))
    agreed = agreement(found)
    if len(agreed.reviewers) > 1:
        kappa = "not defined" if agreed.kappa is None else f"{agreed.kappa:.2f}"
        print(f"{agreed.method} {kappa} over {agreed.words} words; {len(agreed.disputed)} disputed")
