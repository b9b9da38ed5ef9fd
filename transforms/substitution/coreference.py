"""Who «he» and «she» are, as simply as can be: chains of pronouns and nouns, and whether a named person is meant.

Candidates for a pronoun are, back from it through the sentence and the three before, earlier pronouns of its group, singular
nouns of its group, named people of the sex or of either, and people without gender («the engineer»). The best by distance,
subject position and kind is taken, in the manner of Lappin and Leass (1994), «An Algorithm for Pronominal Anaphora
Resolution», with far fewer factors. Where a named person comes nearly as near, nobody is taken and the chain is unsure. A
chain needs no more than that: who of two unnamed women is meant makes no difference where both change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import people
from evenflow.transforms.people import Person
from evenflow.transforms.substitution import again, asking, leads, naming, narration, pronouns, reported, sets, tying
from evenflow.transforms.substitution.binding import APPOSED, COPULA, PERHAPS, POSSESSED, ROLE_AS, SURELY, are_named, bound
from evenflow.transforms.substitution.candidates import FURTHER, MOST_STANDING, WINDOW, Candidate, Candidates
from evenflow.transforms.substitution.chains import Chain, bind_equals
from evenflow.transforms.substitution.doubts import SPOUSES, Doubts
from evenflow.transforms.substitution.filmed import Filmed
from evenflow.transforms.substitution.introducing import is_definite_plural, is_label, is_speaker
from evenflow.transforms.substitution.lone import REPORT, Lone
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.unnamed import Unnamed
from evenflow.transforms.substitution.wordsets import WordSets

# Characters between somebody and «as a waitress» that is said of them; a noun is more often not the subject.
ROLE_REACH = {"pronoun": 60, "noun": 30, "title": 30}
SAID_REACH, LONGEST_PERSON = 80, 4  # characters from somebody to what is said of them, and their words («my new neighbour»)
CLOSE = 0.7  # difference in score below which two candidates are equally likely
LIKE = re.compile(r"\s+(?:like|as)\s+$", re.IGNORECASE)
# Before somebody who is certain, though a fixed phrase («the best man») keeps the word as it is.
CERTAIN = leads.after_possessor(f"an?|the|this|that|{leads.POSSESSIVES}", 2)
KEPT = frozenset((sets.EVEN, sets.IDIOM, sets.SENSE, sets.NO_COUNTERPART))
DEGREES = ("'s", "’s", " of ")  # «her bachelor's degree», «a bachelor of arts»
DEFINITE = leads.after("the|this|that", 2)
OWNED_KIN = (POSSESSED, sets.REFERS)
UNNAMED_KIN = pronouns.KIN - SPOUSES  # of a named person, but with no name: no «she» or «he» of theirs means the owner


class Resolver:
    """Chains the items of one text.

    sentences: (start, end) in order. sexes: group -> the sex (f or m) that the first names of its people have.
    words: of the sentences.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], sexes: dict[str, str], words: WordSets):
        self.text = text
        self.sentences = sentences
        self._words = words
        self.caseless = words.caseless
        self._doubts = Doubts(text, sentences, words, sexes)
        self._hidden, self._of_work = self._doubts.hidden, self._doubts.of_work
        self._unnamed: dict[int, Chain] = {}  # by where somebody without gender stands, who is spoken of again
        self._sex_of = dict(sexes)
        self._candidates = Candidates(text, sentences, words)
        self._report = Unnamed(text, sentences, words) if words.of_report else None
        self._lone = Lone(text, sentences, words, self._candidates, self._doubts, self._report)
        self._filmed = Filmed(text, sentences, self._candidates.people) if self._of_work else None

    def chains(self, items: Sequence[Item]) -> list[Chain]:
        """The chains of all items, which are in the text's order; each item is in one chain."""
        out: list[Chain] = []
        for group, sex in self._sex_of.items():
            out += self._chains([item for item in items if item.group == group], sex)
        known = set(self._sex_of)
        out += [Chain([item]) for item in items if item.group not in known]
        self._doubts.lower(items, out)
        if not self.caseless:  # a thread of comments goes from one person to the next
            out = again.join(self.text, self.sentences, items, out)
        tying.tie(self.text, items, out, self.caseless)
        if not self.caseless:
            asking.leave(out, self.text, self.sentences, self._words)
        if self._words.of_news:
            reported.leave(out, self.text, self.sentences)
        elif self._words.of_story:
            narration.leave(out, self.text, self.sentences)
        return out

    def _chains(self, items: Sequence[Item], sex: str) -> list[Chain]:
        chain_of: dict[int, Chain] = {}
        self._unnamed = {}
        merged: list[tuple[Chain, Chain]] = []
        self._candidates.begin({item.end for item in items if item.kind == "title" and item.weight >= 0.5})
        recent: list[Candidate] = []  # pronouns and nouns so far, in order
        for item in items:
            if item.reason in (sets.EVEN, sets.LONG, sets.FOREIGN):
                kept = chain_of[id(item)] = Chain([item])
                if item.kind == "noun" and item.reason == sets.EVEN:
                    recent.append(self._candidate(item, kept))
                continue
            if item.kind == "pronoun":
                chain = self._resolve(item, recent, sex)
            elif item.kind == "noun":
                chain = self._noun(item, recent, sex)
                self._named_next(item, chain, sex)
            elif item.kind == "plural":
                chain = self._same_word(item, recent)
                definite = is_definite_plural(self.text, self.sentences[item.sentence][0], item)
                if self.caseless and not definite and chain.items and chain.items[-1].sentence != item.sentence:
                    chain = Chain()  # comments on some people in general are no story
                if definite:
                    named = [each for each in self._before(item, 1) if each.sure and each.sex in (sex, people.EITHER)]
                    if len(named) > (0 if self.caseless else 1):  # «Tom and Bob …; the men …»
                        chain.lower(0.45, sets.UNSURE)
                self._named_next(item, chain, sex)
                place = item.sentence
                if are_named(self.text, self.sentences[place], item, self._candidates.people(place), sex, self.caseless):
                    chain.lower(PERHAPS, sets.NAMED)
            else:
                chain = self._same_word(item, recent) if item.kind == "title" else Chain()
            if self._filmed is not None and item.kind in ("noun", "plural") and chain.weight > SURELY:  # else nothing lowers it
                told = self._filmed.told(item, sex, bool(chain.items))
                if told is not None:
                    chain.lower(*told)
            last = recent[-1].chain if recent else None
            other = last is not None and last is not chain and item.kind == "pronoun" and last.items[-1].kind == "noun"
            if last is not None and other and LIKE.fullmatch(self.text[last.items[-1].end : item.start]):
                merged.append((last, chain))  # «a woman like her»
            chain.items.append(item)
            chain_of[id(item)] = chain
            person = item.kind in ("pronoun", "noun", "plural") or (item.kind == "title" and item.weight >= 0.5)
            if person and (item.weight > 0 or self._is_certain(item)):  # of weight 0 is what is mostly no person at all
                recent.append(self._candidate(item, chain))
                recent = recent[-12:]
        seen: dict[int, Chain] = {id(chain): chain for chain in chain_of.values()}
        for first, second in merged:
            if id(first) in seen and id(second) in seen:
                first.take(second)
                del seen[id(second)]
        return list(seen.values())

    def _candidate(self, item: Item, chain: Chain) -> Candidate:
        standing = (1.2 if item.kind == "pronoun" else 0.8) + self._candidates.standing(item.start, item.sentence)
        return Candidate(item.start, item.end, item.sentence, standing, chain)

    def _is_certain(self, item: Item) -> bool:
        """Whether a noun that stays as it is may still be whom a pronoun means."""
        first = max(self.sentences[item.sentence][0], item.start - 40)
        if item.word == "bachelor" and self.text.startswith(DEGREES, item.end):
            return False
        return item.kind == "noun" and item.reason in KEPT and CERTAIN.search(self.text, first, item.start) is not None

    def _named_next(self, item: Item, chain: Chain, sex: str) -> None:
        """Lower the confidence of somebody whom a report names right after: «One of the men …. Nigel Officer …»."""
        if self._report is None or min(item.weight, chain.weight) < 0.5:
            return
        at, place, plural = item.start, item.sentence, item.kind == "plural"
        if self._report.is_one_of(at, item.end, place, sex, plural, item.word):
            chain.lower(0.4, sets.NAMED)
        elif not plural and self._report.is_headed(at, place, sex):
            chain.lower(0.45, sets.NAMED)

    def _noun(self, item: Item, recent: list[Candidate], sex: str) -> Chain:
        """The chain of a singular noun: its own, that of whom it is said to be, or that of the same word before."""
        text, start = self.text, self.sentences[item.sentence][0]
        near = self._candidates.people(item.sentence) if not is_label(text, item) else ()
        named = bound(text, self.sentences[item.sentence], item, near, sex, self.caseless, self._hidden)
        if named == OWNED_KIN and not self.caseless and self._report is None and item.word in UNNAMED_KIN:
            owner = next((each.sex for each in reversed(self._before(item, 0))), sex)
            named = (0.55 if owner not in (sex, people.EITHER) else POSSESSED, sets.REFERS)  # «Grace's brother … his step»
        if named is not None:
            same = self._same_word(item, recent) if named[0] == SURELY and DEFINITE.search(text, start, item.start) else Chain()
            same.lower(*named)  # «a woman … the woman ( gloria stuart )»
            return same
        neutral = self._said_of(item)
        if neutral is not None:
            return neutral
        for candidate in reversed(recent):  # «she is a waitress», «she worked as a waitress»
            if candidate.sentence != item.sentence or candidate.chain is None:
                break
            last = candidate.chain.items[-1]
            if last.kind == "plural":
                continue
            between = text[last.end : item.start]
            role = ROLE_AS.search(between) is not None and len(between) < ROLE_REACH[last.kind]
            if role or COPULA.match(between) or between == " as ":  # «Boy as king»
                return candidate.chain
            if last.kind == "noun" and APPOSED.match(between) and between.count(",") == 1 and " and " not in between:
                return candidate.chain
        if DEFINITE.search(text, max(start, item.start - 40), item.start) and not is_speaker(text, start, item):
            same = self._same_word(item, recent)
            if same.items:
                return same
            for candidate in reversed(recent):
                if candidate.chain is not None and item.sentence - candidate.sentence <= 1:
                    last = candidate.chain.items[-1]
                    if last.kind == "noun" and last.word == item.word:
                        return candidate.chain
            for person in self._before(item, 2):
                if person.sex == sex or person.sex == people.EITHER:
                    known = person.sex == sex or (self._report is not None and person.sure)
                    return Chain([], 0.45 if known else 0.6, sets.UNSURE)
        return Chain()

    def _said_of(self, item: Item) -> Chain | None:
        """The chain of somebody without gender of whom a noun is said («my neighbour is a fireman»), None if of nobody."""
        for at in self._candidates.people_without_gender(item.sentence):
            lead = self.text[at : item.start]
            copula = COPULA.search(lead) if at < item.start and len(lead) < SAID_REACH else None
            if copula is not None and len(lead[: copula.start()].split()) <= LONGEST_PERSON:
                return self._unnamed.setdefault(at, Chain(unnamed=True))
        return None

    def _same_word(self, item: Item, recent: list[Candidate]) -> Chain:
        for candidate in reversed(recent):
            chain = candidate.chain
            if chain is None or item.sentence - candidate.sentence > WINDOW:
                break
            if any(other.word == item.word and other.kind == item.kind for other in chain.items):
                return chain
        return Chain()

    def _before(self, item: Item, back: int) -> list[Person]:
        out: list[Person] = []
        for number in range(max(0, item.sentence - back), item.sentence + 1):
            out += [person for person in self._candidates.people(number) if person.end <= item.start]
        return out

    def _resolve(self, item: Item, recent: list[Candidate], sex: str) -> Chain:
        """The chain that a pronoun goes on with, or a new one."""
        start, place = item.start, item.sentence
        if naming.is_beside_name(self.text, self.sentences[place][0], item, self.caseless):
            return Chain([], SURELY, sets.REFERS)
        scored = self._scored(recent, sex, start, place)
        if not scored:
            return self._lone.chain(item, sex)
        best_score, _, _, best = max(scored)
        chain = best.chain
        if best.person is not None:
            known = best.person.sure or best.person.sex == sex
            chain = Chain([], SURELY if known else PERHAPS, sets.REFERS)
            if not known:
                bind_equals(chain, [row[3].chain for row in scored if best_score - row[0] < CLOSE])
            return chain
        if chain is None:
            chain = self._unnamed.setdefault(best.at, Chain(unnamed=best.sentence == item.sentence))
        if chain.weight > PERHAPS:
            rival = max((row for row in scored if row[3].person is not None), default=None)
            if rival is not None and best_score - rival[0] < CLOSE:
                person = rival[3].person
                chain.lower(0.4 if person is not None and person.sure else 0.55, sets.UNSURE)
            bind_equals(chain, [row[3].chain for row in scored if best_score - row[0] < CLOSE])
        told = best.sentence == 0 and item.sentence == 1 and len(self.text) < REPORT  # «The farmer sold a cow. She says …»
        if best.chain is None and not told and self._lone.is_reported(item):
            chain.lower(0.4, sets.UNSURE)
        if best.chain is None and self._report is not None and self._report.has_name(best.at, best.sentence, sex):
            chain.lower(0.4, sets.UNSURE)
        if (
            self._hidden
            and best.chain is None
            and best.sentence != item.sentence
            and self._doubts.may_be_named(item.sentence, sex)
        ):
            chain.lower(0.4, sets.UNSURE)
        return chain

    def _scored(self, recent: Sequence[Candidate], sex: str, start: int, place: int) -> list[tuple[float, int, int, Candidate]]:
        """Whom a pronoun may mean, each with its score, its place, and a number that decides between equals.

        Sentences before are looked at only as far back as somebody there could still come close to the best.
        """
        score = self._candidates.score
        near = [
            each
            for each in recent
            if place - each.sentence <= WINDOW and (each.chain is None or each.chain.items[-1].kind != "plural")
        ]
        near += [each for each in self._candidates.in_no_chain(place, sex) if each.end <= start]
        scored = [(score(each, start, place), each.at, number, each) for number, each in enumerate(near)]
        best = max(scored)[0] if scored else None
        for back in range(1, min(WINDOW, place) + 1):
            if best is not None and MOST_STANDING - FURTHER * back < best - CLOSE:
                break
            for each in self._candidates.in_no_chain(place - back, sex):
                scored.append((score(each, start, place), each.at, len(scored), each))
                best = scored[-1][0] if best is None else max(best, scored[-1][0])
        return scored
