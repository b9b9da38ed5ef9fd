from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.repair.rebuild import AROUND, MOST, SubstitutionCounts
from evenflow.transforms.staging.sentence_table import Change
from evenflow.transforms.substitution.sets import Edit, Set


def change(start: int, said: str, instead: str, number: int = 0) -> tuple[Change, Edit]:
    edit = Edit(start, start + len(said), instead)
    mention = Mention(start, start + len(said), said.lower(), "gender", "male")
    made = Set("gender", "male", {"female": [edit]}, 1.0, (number,), ((0, start + 20),), (mention,))
    return Change(number, made, "female", ""), edit


def test_the_most_frequent_with_the_first_example() -> None:
    tally = SubstitutionCounts()
    for identity, text in (("a", "He ran."), ("b", "he sat.")):
        one, edit = change(0, text[:2], "She" if identity == "a" else "she")
        tally.add(identity, text, [one], [edit], False)
    one, edit = change(4, "man", "woman")
    tally.add("c", "The man ran.", [one], [edit], True)
    summary = tally.summary()
    sums = ("changed", "sentences", "documents", "copies")
    assert [summary[name] for name in sums] == [3, 3, 3, 1]
    first, second = (tuple(row.values()) for row in summary["substitutions"])
    assert first == ("he", "she", "female", 2, "a", "He ran.", "She ran.")
    assert second[:5] == ("man", "woman", "female", 1, "c")


def test_an_example_is_short_and_cuts_no_change_in_two() -> None:
    text = "x" * 200 + "he" + " " * (AROUND - 3) + "himself" + "y" * 200
    first, one = change(200, "he", "she")
    second, two = change(200 + 2 + AROUND - 3, "himself", "herself", 1)
    tally = SubstitutionCounts()
    tally.add("a", text, [first, second], [one, two], False)
    example = tally.summary()["substitutions"][0]
    assert len(example["before"]) < 2 * AROUND + 20
    changed = example["before"].replace("himself", "herself").replace("he ", "she ", 1)
    assert example["after"] == changed


def test_only_the_most_frequent_are_kept() -> None:
    tally = SubstitutionCounts()
    for number in range(MOST + 5):
        one, edit = change(0, f"w{number:02d}", "x")
        tally.add(str(number), f"w{number:02d} ran.", [one], [edit], False)
    assert len(tally.summary()["substitutions"]) == MOST
