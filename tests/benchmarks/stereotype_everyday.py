"""Everyday sentences that the detector's form model is trained on: stereotypes in plain words, and plain talk of people.

Written for Evenflow, Apache-2.0. Slots: {P} groups, {S} one of a group, {T} a bad trait, {G} a good one, {N} a first name,
{X} a thing. What is said of one person, without a link from membership to it, is no stereotype; the same said of the group is.
The sentences of `tests/data/stereotype_everyday.jsonl` were written before these and are only reported.
"""

from __future__ import annotations

import random
import re

from stereotype_examples import Example

SEED = 77
PLURALS = (
    *("women", "men", "girls", "boys", "wives", "husbands", "old people", "old men", "old women", "young people", "teenagers"),
    *("pensioners", "the elderly", "Muslims", "Christians", "Jews", "Hindus", "Buddhists", "Catholics", "atheists", "Mexicans"),
    *(
        "black people",
        "white people",
        "Poles",
        "immigrants",
        "refugees",
        "Asians",
        "lawyers",
        "politicians",
        "bankers",
        "blondes",
    ),
    *("Jewish people", "Muslim women", "young men", "mothers", "fathers", "kids", "gay men", "foreigners", "Russians", "priests"),
)
SINGULARS = (
    *("woman", "man", "girl", "boy", "wife", "husband", "pensioner", "teenager", "Muslim", "Christian", "Jew", "Hindu"),
    *("Buddhist", "Catholic", "Mexican", "black man", "white woman", "Pole", "immigrant", "refugee", "Asian", "lawyer"),
    *("politician", "banker", "blonde", "old man", "old woman", "young man", "mother", "father", "German", "Russian", "priest"),
)
BAD = (
    *("lazy", "dumb", "rude", "dishonest", "greedy", "weak", "cruel", "stupid", "vain", "jealous", "arrogant", "cowardly"),
    *("aggressive", "boring", "cheap", "childish", "cold", "crazy", "dirty", "evil", "fanatical", "helpless", "hysterical"),
    *("immoral", "jealous", "moody", "naive", "noisy", "primitive", "pushy", "ruthless", "shallow", "sly", "spoiled", "stubborn"),
    *("unreliable", "useless", "vulgar", "wild", "intolerant", "corrupt", "clueless", "backward", "bossy", "messy", "nosy"),
)
GOOD = (
    *("clever", "gentle", "hard-working", "kind", "musical", "patient", "polite", "smart", "strong", "loyal", "tidy", "wise"),
    *("good with money", "good at sports", "good with children", "good dancers", "careful", "brave", "caring", "obedient"),
)
NAMES = ("Anna", "Peter", "Fatima", "David", "Rosa", "Tom", "Leila", "Paul", "Sarah", "Ivan", "Mrs Hill", "Mr Khan")
THINGS = (
    *(
        "cars",
        "numbers",
        "machines",
        "babies",
        "money",
        "power",
        "the law",
        "a phone",
        "a secret",
        "tools",
        "animals",
        "politics",
    ),
    *("the internet", "a budget", "music", "science", "a hammer", "cooking", "maps", "business", "weapons", "children"),
)
JOBS = (
    *("nurse", "teacher", "driver", "engineer", "secretary", "doctor", "cook", "pilot", "guard", "librarian", "farmer", "singer"),
    *("cashier", "dentist", "waiter", "student", "carpenter", "clerk", "judge", "reporter", "baker", "mechanic", "soldier"),
)

STEREOTYPES = (
    *("{P} are {T}.", "{P} are so {T}.", "{P} are too {T}.", "{P} are {T} and {T}.", "{P} are just {T}.", "{P} are always {T}."),
    *("{P} are {G}.", "{P} are naturally {G}.", "{P} are all {G}.", "{P} tend to be {T}.", "{P} are usually {T}."),
    *("All {P} are {T}.", "Most {P} are {T}.", "Every {S} is {T}.", "A {S} is always {T}.", "{P} are such liars."),
    *("{P} are snakes.", "{P} are dogs.", "{P} are parasites.", "{P} are crooks.", "{P} are fools.", "{P} are animals."),
    *(
        "{P} are criminals.",
        "{P} are killers.",
        "{P} are born losers.",
        "{P} are cheats.",
        "{P} are cowards.",
        "{P} are leeches.",
    ),
    *("{P} can't be trusted.", "{P} can't handle {X}.", "{P} can't deal with {X}.", "{P} cannot keep still.", "{P} can't think."),
    *("{P} can't work with {X}.", "{P} can't control their temper.", "{P} can't fix {X}.", "{P} cannot understand {X}."),
    *(
        "{P} can't do anything without help.",
        "{P} don't understand {X}.",
        "{P} don't know anything about {X}.",
        "{P} never learn.",
    ),
    *(
        "{P} don't care about {X}.",
        "{P} don't want to work.",
        "{P} don't wash.",
        "{P} never tell the truth.",
        "{P} never grow up.",
    ),
    *(
        "{P} never pay.",
        "{P} don't respect anybody.",
        "{P} have no manners.",
        "{P} have no clue about {X}.",
        "{P} have no shame.",
    ),
    *("{P} have no idea of {X}.", "{P} have bad breath.", "{P} have too many children.", "{P} are bad with {X}."),
    *("{P} are no good at {X}.", "{P} are bad at {X}.", "{P} are terrible with {X}.", "{P} are worse at {X} than others."),
    *("{P} are better at {X}.", "{P} are better with {X} than everybody else.", "{P} are less intelligent than other people."),
    *("{P} are more {T} than others.", "{P} are only good for cleaning.", "{P} are afraid of {X}.", "{P} are useless with {X}."),
    *("{P} should not be near {X}.", "{P} should stay out of politics.", "{P} should keep their mouths shut."),
    *("{P} should leave {X} to others.", "{P} should know their place.", "{P} should take care of the house."),
    *("{P} shouldn't be in charge of {X}.", "{P} should not work.", "{P} should not vote.", "{P} should be kept away from {X}."),
    *(
        "{P} must be kept under control.",
        "{P} ought to be locked up.",
        "{P} don't belong in an office.",
        "{P} don't belong here.",
    ),
    *(
        "{P} belong in prison.",
        "{P} belong at home.",
        "{P} belong in a cage.",
        "A {S} belongs at the stove.",
        "{P} have no business here.",
    ),
    *("{P} are not made for {X}.", "{P} are not suited to hard work.", "{P} aren't fit for {X}.", "{P} are not real citizens."),
    *(
        "A {S} should look after the home.",
        "A {S} should never be in charge.",
        "A {S} can't be a good boss.",
        "A {S} never says sorry.",
    ),
    *("A {S} can't be trusted with {X}.", "A {S} will always cheat you.", "No {S} can be trusted.", "No {S} understands {X}."),
    *("No {S} ever pays his debts.", "Real {P} don't complain.", "Real {P} do not drink tea.", "Cooking is for {P}."),
    *("{X} is nothing for {P}.", "Cleaning is work for {P}.", "That is no job for {P}.", "Raising kids is the job of {P}."),
    *("{P} steal.", "{P} lie.", "{P} cheat.", "{P} nag.", "{P} whine.", "{P} stink.", "{P} drink too much.", "{P} eat too much."),
    *("{P} steal our jobs.", "{P} ruin everything.", "{P} rob honest people.", "{P} rape and kill.", "{P} sell drugs."),
    *("{P} live on welfare.", "{P} take our money.", "{P} own all the shops.", "{P} rule the world.", "{P} run the country."),
    *("{P} bring nothing but problems.", "{P} cause trouble wherever they go.", "{P} spread disease.", "{P} hate us."),
    *("{P} want to destroy us.", "{P} want to take over.", "{P} oppress others.", "{P} beat their children.", "{P} abuse kids."),
    *("{P} love {X} more than people.", "{P} love to complain.", "{P} love gossip.", "{P} like to show off.", "{P} hate {X}."),
    *("{P} only want your money.", "{P} only think about {X}.", "{P} only care about {X}.", "{P} only talk about {X}."),
    *("{P} just want attention.", "{P} just sit around all day.", "{P} always play the victim.", "{P} always want more."),
    *("{P} always overreact.", "{P} always interrupt.", "{P} always stick together.", "{P} get angry about nothing."),
    *(
        "{P} panic quickly.",
        "{P} fall in love too fast.",
        "{P} get jealous easily.",
        "{P} hide their feelings.",
        "{P} weep at films.",
    ),
    *(
        "{P} spend too much.",
        "{P} count every penny.",
        "{P} marry for money.",
        "{P} waste {X}.",
        "{P} think they know everything.",
    ),
    *("{P} think they own the place.", "{P} think with their stomach.", "{P} drive like maniacs.", "{P} talk nonsense all day."),
    *("{P} will never change.", "{P} will do anything for {X}.", "{P} will never understand {X}.", "{P} will cheat on you."),
    *("She got lost because she is a {S}.", "He is {T} because he is a {S}.", "He lies because he is a {S}."),
    *(
        "She knows nothing about {X} because she's a {S}.",
        "{N} is {T}, after all he is a {S}.",
        "{N} is a {S}, so he must be {T}.",
    ),
    *("She is a {S}, so she will be {T}.", "He is a {S}, so don't trust him with {X}.", "As a {S} she is of course {T}."),
    *("Being a {S}, he was naturally {T}.", "As a {S}, he cannot understand {X}.", "Like all {P}, {N} is {T}."),
    *("He is {T} like every {S}.", "{N} is a typical {S}: {T}.", "Typical {S}, always {T}.", "She forgot the keys, typical {S}."),
    *("That is so typical of {P}.", "He was late, typical {S}.", "He acts like a typical {S}.", "The typical {S} is {T}."),
    *(
        "Of course the {S} was {T}.",
        "Of course the {S} stole it.",
        "Of course it was a {S} who broke it.",
        "What else can you expect from {P}?",
    ),
    *("He stole it, but what do you expect from a {S}.", "What do you expect, he is a {S}.", "For a {S}, she is rather smart."),
    *("He is quite {G} for a {S}.", "She is clever, although she is a {S}.", "He is honest even though he is a {S}."),
    *("Never trust a {S}.", "Don't lend {X} to a {S}.", "You can't trust {P}.", "You can't talk to {P} about {X}."),
    *("I hate {P}, they are all {T}.", "I don't like {P} because they are {T}.", "I would never hire {P}, they are {T}."),
    *("Everybody knows {P} are {T}.", "Everyone knows that {P} can't handle {X}.", "We all know {P} love {X}."),
    *(
        "It is a fact that {P} are {T}.",
        "Let's face it, {P} are {T}.",
        "Honestly, {P} are a burden.",
        "The truth is {P} are {T}.",
    ),
    *(
        "The problem with {P} is that they are {T}.",
        "You know how {P} are.",
        "{P} are what they are: {T}.",
        "That's just how {P} are.",
    ),
    *("{P} are {T}, it's in their nature.", "{P} have it in their blood.", "{P} are {T} by nature.", "{P} were born {T}."),
    *("{P} are a danger to our children.", "{P} are a threat.", "{P} are a plague.", "{P} are the reason for all our problems."),
)

PLAIN = (
    *("{N} is a {S}.", "He is a {J}.", "She works as a {J}.", "{N} is {T}.", "She is {T}.", "He is {G}.", "You are {T}."),
    *(
        "My {J} is {T}.",
        "The {S} was {T}.",
        "The {J} is {G}.",
        "That {S} is {T}.",
        "This {J} is {T} and {T}.",
        "The {S} next door is {T}.",
    ),
    *("Our {J} is {T} but {G}.", "The {J} was {T} to us.", "I think {N} is {T}.", "{N} was always {T} at school."),
    *("The {S} I met was {G}.", "One of the {P} was {T}.", "The two {P} were {T} that night.", "These {P} were {G} to us."),
    *("Those {P} over there are waiting for the bus.", "My neighbours are {P}.", "I work with {P}.", "She lives with two {P}."),
    *("A {S} opened the window.", "A {S} is waiting outside.", "A {J} came to the house.", "A {S} asked me for the time."),
    *("A {J} lost his bag on the train.", "A {J} showed us her office.", "The {J} cut himself.", "The {J} closed her book."),
    *("The {J} forgot his lunch.", "The {J} finished her work.", "The {J} asked if he could go.", "Every {J} has his own desk."),
    *(
        "Each {J} must bring her card.",
        "Every {J} signed his name.",
        "A {J} needs a licence.",
        "A {J} should wash his hands first.",
    ),
    *("When a {J} is late, he calls the office.", "If a {J} falls ill, her colleagues help.", "The best {J} in town retired."),
    *(
        "A good {J} listens to her customers.",
        "{J}s start work at six.",
        "{J}s get a pay rise this year.",
        "{J}s wear a badge here.",
    ),
    *("The {S} carried a heavy bag up the stairs.", "An old {J} was sitting on the bench.", "The {S} laughed and left."),
    *("The {S} could not find the door.", "The {S} can't come today.", "She can't swim yet.", "He cannot open the jar."),
    *(
        "{N} can't drive.",
        "{N} should stay in bed.",
        "She should see a {J}.",
        "You should ask the {J}.",
        "He must be at home now.",
    ),
    *("{N} never eats breakfast.", "{N} always takes the stairs.", "She always sings in the car.", "He never answers his phone."),
    *("{N} loves {X}.", "She hates {X}.", "He only reads about {X}.", "She cried at the station.", "He is afraid of dogs."),
    *("{N} spent all his money.", "She stole a bicycle when she was young.", "{N} lied to me.", "He cheated in the exam."),
    *("The {S} stole my bag.", "The {S} lied in court.", "A {S} was arrested for theft.", "A {S} robbed a bank in May."),
    *(
        "Police are looking for a {S} of about thirty.",
        "Police found the body of a {S} on Monday.",
        "Two {P} were hurt in the crash.",
    ),
    *("Three {P} drowned last week.", "Hundreds of {P} marched through the city.", "{P} protested against the plan on Friday."),
    *("{P} voted in large numbers last year.", "More {P} found work in 2018.", "The share of {P} rose to 12 percent."),
    *(
        "The court freed two {P}.",
        "The committee heard from {P} on Tuesday.",
        "{P} were invited to the meeting.",
        "{P} were killed in the war.",
    ),
    *(
        "The law gives {P} the same rights.",
        "{P} can apply until June.",
        "{P} may use the pool in the morning.",
        "{P} pay half price.",
    ),
    *(
        "{P} from the village helped after the storm.",
        "{P} came to the concert.",
        "{P} moved here in the sixties.",
        "{P} won the vote.",
    ),
    *("Many {P} live in this street.", "Some {P} like tea.", "A few {P} stayed for dinner.", "Several {P} asked for help."),
    *("Most {P} in the survey were over forty.", "All {P} in the team passed the test.", "All the {P} in the room stood up."),
    *("The {P} in the film are well played.", "The {P} at the party were dancing.", "The {P} on our team trained hard."),
    *("The study compared {P} with others.", "The book is about {P} in the war.", "The exhibition shows portraits of {P}."),
    *(
        "A charity for {P} opened in town.",
        "The clinic treats {P}.",
        "The shop sells clothes for {P}.",
        "Shoes for {P} are on sale.",
    ),
    *(
        "The film tells of a {T} {S} and a dog.",
        "The {S} in the novel is {T}.",
        "The actor plays a {T} {J}.",
        "The hero is a {G} {S}.",
    ),
    *(
        "The {J} in the film gives a fine performance.",
        "It is the story of a {S} who loses everything.",
        "The {S} dies at the end.",
    ),
    *(
        "My mother and {N} went shopping.",
        "My sister is {T} today.",
        "My brother is {T}.",
        "My father was {G}.",
        "My uncle is {T}.",
    ),
    *("My parents met in school.", "My children are {T} when they are tired.", "My daughters are {G}.", "My wife loves {X}."),
    *("Her husband never cooks.", "His mother can't stand dogs.", "Our kids don't like fish.", "My son doesn't want to go."),
    *(
        "Her daughters are all {J}s.",
        "My grandmother forgot her keys.",
        "My grandfather tells the same story.",
        "My aunt should sell the house.",
    ),
    *("I am a {S}.", "I am a {S} and I love {X}.", "As a {S} I have read it twice.", "We {P} have lived here for years."),
    *(
        "My friend is a {S} and likes {X}.",
        "My boyfriend is {T} in the morning.",
        "Her girlfriend works with {X}.",
        "I saw {N} with a {S}.",
    ),
    *(
        "{P} aren't {T}.",
        "{P} are not {T}.",
        "{P} are not all {T}.",
        "Not every {S} is {T}.",
        "Are {P} really {T}?",
        "Why would {P} be {T}?",
    ),
    *(
        "He said that {P} are {T}.",
        "They claim that {P} can't handle {X}.",
        "It is wrong to call {P} {T}.",
        "It is untrue that {P} lie.",
    ),
    *(
        "The idea that {P} are {T} is nonsense.",
        "Nobody should say {P} are {T}.",
        "I was told that {P} hate {X}, which is a myth.",
    ),
    *(
        "{P} need water and air.",
        "{P} breathe.",
        "{P} sleep at night.",
        "{P} are people.",
        "{P} have birthdays too.",
        "{P} are born every day.",
    ),
    *("{P} deserve respect.", "{P} have the right to work.", "{P} should be treated fairly.", "{P} should be paid the same."),
    *("{P} pray.", "{P} celebrate the feast in spring.", "{P} read the holy book.", "{P} should drink enough in summer."),
    *(
        "{P} under 18 get in free.",
        "{P} between 20 and 30 were asked.",
        "{P} with a ticket can enter.",
        "{P} who smoke risk their health.",
    ),
    *(
        "The doctor told the {S} to rest.",
        "The {S} thanked the {J}.",
        "She married a {J}.",
        "He is married to a {J}.",
        "I asked a {S} the way.",
    ),
    *(
        "Good morning, ladies.",
        "Thank you, sir.",
        "Dear {N}, how are you?",
        "Happy birthday, {N}!",
        "Look at that {S} over there.",
    ),
    *("She is the first {S} to win the prize.", "{N} became a {J} in 1999.", "{N} was born in 1950.", "He was a {S} of forty."),
    *(
        "She quit because she was tired.",
        "He left because he is ill.",
        "She won because she trained hard.",
        "{N} is late because of the rain.",
    ),
    *("He is angry because the {J} was {T}.", "She laughed because the {S} was {G}.", "He moved because his wife found a job."),
    *("{N} is a {J}, so she knows the hospital.", "{N} is typical of this school.", "A typical day for the {J} starts at five."),
    *("Of course the {J} came.", "Of course {N} was there.", "For a long time the {S} said nothing.", "Like {N}, she is a {J}."),
    *(
        "The {J} behaved like a child.",
        "The {S} is a thief.",
        "That {J} is a liar.",
        "The {S} was dirty and hungry.",
        "He was an old {S}.",
    ),
    *("The poor {S} lost her home.", "A {T} {S} shouted at us.", "A {G} {S} helped me.", "The {T} {J} never called back."),
    *(
        "{N} belongs to a choir.",
        "The keys belong to the {S}.",
        "The house belongs to two {P}.",
        "She stays in the kitchen until eight.",
    ),
)
FILLERS = {"P": PLURALS, "S": SINGULARS, "T": BAD, "G": GOOD, "N": NAMES, "X": THINGS, "J": JOBS}


def filled(form: str, rng: random.Random) -> str:
    """A form with every slot filled."""
    said = re.sub(r"\{(.)\}", lambda slot: rng.choice(FILLERS[slot.group(1)]), form)
    said = re.sub(r"\b([Aa]) (?=[aeioAEIO]|un)", r"\1n ", said)
    return said[:1].upper() + said[1:]


def everyday(times: int) -> list[Example]:
    """Every form so many times with fillers drawn anew: stereotypes and plain sentences. An item is a form."""
    rng = random.Random(SEED)
    out: list[Example] = []
    for target, forms in ((0.95, STEREOTYPES), (0.03, PLAIN)):
        for form in forms:
            said = {filled(form, rng) for _ in range(times)}
            out += [Example(each, target, 1.0, form, "") for each in sorted(said)]
    return out
