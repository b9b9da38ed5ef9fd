"""Mentions of the shipped lists in short texts.

Each case is a text and its mentions as “group:characters of the text”, in the text's order. The
sentences are written for this table. A group's name stands for its attribute: no two attributes
share one.
"""

from __future__ import annotations

import re

import pytest

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.wordlists.loader import SHIPPED, load

FINDER = LabelFinder([load(name) for name in SHIPPED])

WHOLE_WORDS = [
    ("She reads and he writes.", "female:She male:he"),
    ("THE SHEEP ATE HERBS", ""),
    ("Sheila theorises about heroism in Manchester.", ""),
    ("HER and HIM, Her and Him", "female:HER male:HIM female:Her male:Him"),
    ("hEr CoUsIn", "female:hEr"),
    ("the man.", "male:man"),
    ("man", "male:man"),
    ("manmanman man", "male:man"),
    ("man man\nman", "male:man male:man male:man"),
    ("man,woman;man:woman", "male:man female:woman male:man female:woman"),
    ("(woman)[man]{woman}", "female:woman male:man female:woman"),
    ("“Woman!” he said", "female:Woman male:he"),
    ("he…she", "male:he female:she"),
    ("he/she, his|hers", "male:he female:she male:his female:hers"),
    ("s/he", "female:s/ male:he"),
    ("he&she", "male:he female:she"),
    ("<b>woman</b>", "female:woman"),
    ("queen=king+1", "female:queen male:king"),
    ("man2 2man man2man m4n", ""),
    ("women1 and women²", "female:women"),
    ("MrBean MyKing KingKong", ""),
    ("BoyFriend GirlFriend", "male:BoyFriend female:GirlFriend"),
    ("The sonnet of the sonata", ""),
    ("Sonny's kingdom, queendom, gods", "male:gods"),
    ("", ""),
    (" \n\t ", ""),
    ("...", ""),
    ("e", ""),
]
LONGEST = [
    ("my father-in-law called", "male:father-in-law"),
    ("my father-in-lawn called", "male:father"),
    ("my father-in called", "male:father"),
    ("father-in-law-to-be", "male:father-in-law"),
    ("half-sister-in-law", "female:sister-in-law"),
    ("half-brother and half brother", "male:half-brother male:brother"),
    ("a middle-aged actor", "middle:middle-aged male:actor"),
    ("middle aged", "middle:middle aged"),
    ("a middle-age crisis in the Middle East", ""),
    ("elementary-schooler, elementary school", "young:elementary-schooler"),
    ("great-grandmother", "old:great-grandmother female:grandmother"),
    ("great-grandmotherly", ""),
    ("great grandmother", "female:grandmother"),
    ("pre-adolescents", "young:pre-adolescents"),
    ("post-adolescents", "young:adolescents"),
    ("over-60s and over-60 but over-605", "old:over-60s old:over-60"),
    ("ultra-orthodox or orthodox", "judaism:ultra-orthodox christianity:orthodox"),
    (
        "non-Muslim, ex-Catholic, Judeo-Christian",
        "islam:Muslim christianity:Catholic christianity:Christian",
    ),
    ("a he-man, a she-wolf", "male:he male:man female:she"),
    ("man-made", "male:man"),
    ("wo-man", "male:man"),
    ("king-queen-king", "male:king female:queen male:king"),
    ("-man-", "male:man"),
    ("man--woman", "male:man female:woman"),
    ("jamaat-e-islami", "islam:jamaat-e-islami"),
]
APOSTROPHES = [
    ("the women's room", "female:women"),
    ("the women’s room", "female:women"),
    ("the womenʼs room", "female:women"),
    ("the women`s and men´s room", "female:women male:men"),
    ("the boys' room, the girls’ room", "male:boys female:girls"),
    ("'he' and ‘she’ and ‛her‛", "male:he female:she female:her"),
    ("She's late, he'll wait, she’d go", "female:She male:he female:she"),
    ("he'd've and she's'", "male:he female:she"),
    ("I don't know. We won't. DON'T!", ""),
    ("I don’t, donʼt, don´t, don\ufffdt", ""),
    ("Yes, ma'am. Yes, ma’am. Yes, Maʼam!", "female:ma'am female:ma’am female:Maʼam"),
    ("ma'ams", ""),
    ("ma'am's hat", "female:ma'am"),
    ("ma am, mam", "female:mam"),
    ("m'lady and m'lord", "female:lady male:lord"),
    ("o'er the kings'", "male:kings"),
    ("the boy'there and the men'to go", "male:boy"),
    ("rock'n'roll king", "male:king"),
    ("Women\ufffds rights", "female:Women"),
]
HYPHENS = [
    ("father‐in‐law", "male:father‐in‐law"),
    ("father‑in‑law", "male:father‑in‑law"),
    ("father–in–law", "male:father–in–law"),
    ("father−in－law", "male:father−in－law"),
    ("father—in—law", "male:father"),
    ("father - in - law", "male:father"),
    ("father-in-\nlaw", "male:father-in-\nlaw"),
    ("father-in-  \r\n  law", "male:father-in-  \r\n  law"),
    ("father-in- law", "male:father"),
    ("father-in-\n\nlaw", "male:father"),
    ("middle-\naged men", "middle:middle-\naged male:men"),
    ("his—hers–his", "male:his female:hers male:his"),
]
MARKS = [
    ("my fiancée, my fiancé", "female:fiancée male:fiancé"),
    ("my fiance\u0301e, my fiance\u0301", "female:fiance\u0301e male:fiance\u0301"),
    ("FIANCÉE FIANCE\u0301E Fiance", "female:FIANCÉE female:FIANCE\u0301E male:Fiance"),
    ("fiance\u0302e", ""),
    ("fianc\u0301ee", ""),
    ("fiancèe", ""),
    ("he\u0301 and \u0301he and he", "male:he"),
    ("kin\u0327g", ""),
    ("qu\u0336e\u0336e\u0336n\u0336", ""),
    ("queen\u20e3", ""),
    ("ma\u0301n man", "male:man"),
    ("hé hè hê", ""),
    ("naïve girl café boy", "female:girl male:boy"),
]
INVISIBLE = [
    ("wo\u00adman", "female:wo\u00adman"),
    ("wo\u200bman", "female:wo\u200bman"),
    ("wo\u200cman wo\u200dman", "female:wo\u200cman female:wo\u200dman"),
    ("wo\u2060man wo\ufeffman", "female:wo\u2060man female:wo\ufeffman"),
    ("\ufeffShe left", "female:She"),
    ("\u200bhe\u200b \u202ahis\u202c", "male:he male:his"),
    ("\u202eking\u202c and \u2067queen\u2069", "male:king female:queen"),
    ("que\u034fen", "female:que\u034fen"),
    ("queen\ufe0f", "female:queen"),
    ("fiance\u200d\u0301e", "female:fiance\u200d\u0301e"),
    ("father\u00ad-in-\u200blaw", "male:father\u00ad-in-\u200blaw"),
    ("the\u00adman", ""),
    ("women\u200band men", "female:women male:men"),
    ("he\u200bshe", "male:he female:she"),
    ("hu\u200bman", ""),
    ("\u061cman\u180e", "male:man"),
    ("he\u00ad, she", "male:he female:she"),
]
BLANKS = [
    ("the\u00a0man", "male:man"),
    ("man\u2003woman\u3000man\u2009woman", "male:man female:woman male:man female:woman"),
    (
        "man\twoman\r\nman\rwoman\x0bman\x0cwoman",
        "male:man female:woman male:man female:woman male:man female:woman",
    ),
    ("man\u2028woman\u2029man\x85woman", "male:man female:woman male:man female:woman"),
    ("man\u3164woman\u2800man", "male:man female:woman male:man"),
    ("man\x1fwoman", "male:man female:woman"),
]
LETTERS = [
    ("ｓｈｅ ＨＥ", "female:ｓｈｅ male:ＨＥ"),
    ("𝐪𝐮𝐞𝐞𝐧 𝒌𝒊𝒏𝒈 𝕤𝕙𝕖", "female:𝐪𝐮𝐞𝐞𝐧 male:𝒌𝒊𝒏𝒈 female:𝕤𝕙𝕖"),
    ("ﬁancé and ﬁancée", "male:ﬁancé female:ﬁancée"),
    ("ſiſter, miſtreſs", "female:ſiſter"),
    ("KING", "male:KING"),
    ("SİSTER sıster", ""),
    ("prıest PRİEST priest PRIEST", "male:priest male:PRIEST"),
    ("princeß", "female:princeß"),
    ("шеhe heше", ""),
    ("не hе", ""),
    ("他he她", ""),
    ("他 he 她", "male:he"),
    ("ⅯAN", "male:ⅯAN"),
    ("heªrt sheº", ""),
    ("heŉ ŉhe heﷺ", ""),
    ("Ⓗⓔ is he™", "male:he"),
    ("😀he😀 she👩‍🦰", "male:he female:she"),
    ("हेhe he।", "male:he"),
]
SIGNS = [
    ("_her_ own, __his__ own, _She left._", "female:her male:his female:She"),
    ("is_male her_name _he_said", ""),
    ("*she* **he** ~her~", "female:she male:he female:her"),
    ("#women and #MenToo", "female:women"),
    ("@king met @queen_bee and the king", "male:king"),
    ("write to queen@palace.example or her", "female:her"),
    ("her.majesty+king@palace.co.example", ""),
    ("girls@play, boys @ work", "female:girls male:boys"),
    ("https://example.org/women/she?he=man she", "female:she"),
    ("see www.women.example, she said", "female:she"),
    ("ftp://king.example\nking", "male:king"),
    ('<a href="https://king.example/man">man</a>', "male:man"),
    ("[women](http://women.example)", "female:women"),
    ("king.example and r/women", "male:king female:women"),
    ("Mr. and Mrs. Smith; Ms Jones; MR.SMITH", "male:Mr female:Mrs female:Ms male:MR"),
    ("Sir, madam", "male:Sir female:madam"),
    ("him.She left", "male:him female:She"),
    ("\x00he\x00 \ud800she\udfff", "male:he female:she"),
    ("h\x00e wo\x01man", "male:man"),
    ("&nbsp;he&nbsp;", "male:he"),
    ("\x1b[31mman", ""),
]
ATTRIBUTES = [
    ("The elderly rabbi and the young imam", "old:elderly judaism:rabbi islam:imam"),
    ("An archbishop blessed the teenager", "christianity:archbishop young:teenager"),
    ("Hindu boys, Buddhist girls", "hinduism:Hindu male:boys buddhism:Buddhist female:girls"),
    ("Jewish elders, a Sunni sultan", "judaism:Jewish old:elders islam:Sunni islam:sultan"),
    ("Jews and jewels", "judaism:Jews"),
    ("the retired elder's kids", "old:retired old:elder young:kids"),
    ("freshmen, sophomores and a middle schooler", "young:freshmen young:sophomores"),
    ("a wrinkly old-timer", "old:wrinkly old:old-timer"),
]
# Words that look like parts of others; the list as published has them
PUBLISHED = [
    ("Don Juan wouldn't; the don's gone", "male:Don male:don"),
    ("“don” isn't “don't”", "male:don"),
    ("don\u0303a, doña, DOÑA, dona", "female:don\u0303a female:doña female:DOÑA"),
    ("don\\nman", "male:don"),
]
CASES = [
    *(*WHOLE_WORDS, *LONGEST, *APOSTROPHES, *HYPHENS, *MARKS),
    *(*INVISIBLE, *BLANKS, *LETTERS, *SIGNS, *ATTRIBUTES),
]


GROUPS = "|".join(group for words in FINDER.lists for group in words.groups)


@pytest.mark.parametrize(
    ("finder", "text", "expected"),
    [
        *((FINDER, *case) for case in CASES),
        *((LabelFinder([load("gender-table12")]), *case) for case in PUBLISHED),
    ],
)
def test_a_text_mentions(finder: LabelFinder, text: str, expected: str) -> None:
    mentions = sorted(finder.find(text), key=lambda mention: (mention.start, -mention.end))
    found = [f"{mention.group}:{text[mention.start : mention.end]}" for mention in mentions]
    assert found == [part for part in re.split(rf" (?=(?:{GROUPS}):)", expected) if part]
