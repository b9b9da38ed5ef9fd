"""Phrases by which a sentence denies, objects to, reports or asks, over lower-case words between single blanks.

The words are those of `indicator_tagging`: «don't» is «do n't», and a masked label is <one>, <many>, <who> or <whose>. Gaps are
counted in words and bounded, so that a search takes time in proportion to the sentence's length. Phrases are written for
Evenflow; they name manners of speaking, never groups or traits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# What is denied is a difference or a generalisation, rather than an ability.
DENIAL = re.compile(
    r"(?<!\S)(?:"
    r"(?:not|n't|no|never|neither|nor)(?: \S+){0,3} (?:more|less|better|worse|\S+er)(?: \S+){0,6} than"
    r"|(?:not|n't)(?: \S+){0,8} any (?:more|less)(?: \S+){0,4} than"
    r"|not (?:all|every|each|any|everyone|everybody)|(?:are|is|do|does|were) n't (?:all|every|each)"
    r"|never met a single|by no means|no such thing|far from being|(?:is|are|was|were) far from|contrary to"
    r"|hardly (?:any|every|all)"
    r"|(?:nothing|little|not much) to do with|nothing (?:suggests|shows|proves|about)"
    r"|(?:there is|is|are|was|found|finds|find|has|with|shows?) (?:no|little) (?:\S+ )?"
    r"(?:evidence|proof|link|basis|truth|difference|connection|correlation)"
    r"|(?:is|are|was|were)(?: not| n't| never)(?: \S+)? (?:true|the case|correct|accurate|right to|fair to)|never the case"
    r"|(?:you|we|one|i) (?:ca|can|could|should|would) (?:not|n't) (?:say|claim|conclude|assume)|(?:nobody"
    r"|no one) (?:can|should) (?:say|claim)"
    r"|(?:never|not|n't) (?:\S+ )?(?:said|say|claimed|claim|suggested|implied|meant|argued|wrote) (?:that|<\S+)"
    r"|(?:no|little|any) (?:\S+ )?(?:reason|grounds|proof|evidence|indication|sign|justification) (?:to (?:believe"
    r"|think|assume|suppose|say)|that|for|of)"
    r"|do(?:es)? (?:not|n't) (?:have|need) to|does (?:not|n't) (?:mean|imply|prove|follow)|does (?:not"
    r"|n't) make (?:an?|any\S*|some\S*|every\S*|you|them"
    r"|him|us|me|one|people|<\S+)"
    r"|(?:disagrees?|doubts?|doubted|deny|denies|denied|disputes?|disputed) (?:that|with)"
    r"|(?:tells|says|said|told|shows) (?:\S+ )?nothing (?:about|of)|(?:nobody|no one) has (?:ever )?(?:shown|proved|proven|found)"
    r"|neither <\S+ nor <\S+"
    r")(?!\S)"
)
# Somebody's disbelief, where a group's trait follows.
DISBELIEF = re.compile(
    r"(?<!\S)(?:i|we|nobody|no one|few|hardly anyone|scientists|most people)(?: do| ca| can| would| could)?(?: not| n't)?"
    r" (?:\S+ )?(?:believe|believes|think|accept|accepts|agree|agrees|buy|share)(?!\S)"
)
# An objection to what others say.
COUNTER = re.compile(
    r"(?<!\S)(?:"
    r"(?:challenge|challenges|challenged|challenging|reject|rejects|rejected|rejecting|dismiss|dismisses|dismissed"
    r"|fight|fights|fighting|combat"
    r"|condemn|condemns|"
    r"denounce|denounces|refute|refutes|debunk|debunks|bury|resist|dispel|dispels|question|questions|oppose|opposes"
    r"|resent|resents)"
    r"(?: \S+){0,4} (?:idea|notion|claims?|suggestion|stereotypes?|clich\S+|prejudices?|view|belief|theory|theories"
    r"|thesis|argument|rumou?rs?|image|assumptions?"
    r"|myths?|talk|that all)"
    r"|(?:object|objects|objected) to|(?:tired|sick) of (?:hearing|being told|people|the|this|that|all)"
    r"|refuse to (?:accept|believe)"
    r"|(?:insulting|offensive|unfair|wrong|racist|sexist|unjust|silly|harmful|ridiculous|absurd|dangerous|cruel|lazy|stupid) to"
    r" (?:\S+ )?(?:say|assume|suggest|claim|think|call|treat|judge|expect|reduce|believe|portray|imply|blame|generali\S+)"
    r"|(?:mistake|nonsense|wrong|false|untrue|myth|error|cliche|cliché|prejudice) (?:to|that)|lie that"
    r"|(?:myths?|misconceptions?|fallacy|lies) (?:of|about)"
    r"|(?:wrongly|falsely|unfairly|unjustly|mistakenly) (?!on |in |by |at |and |or |because )[a-z]+"
    r"|if you (?:really |still |honestly )?(?:think|believe|say|claim|assume)(?: that)?|only (?:an? )?\S+ (?:would"
    r"|could|can) (?:say|think|believe|claim)|how dare"
    r"|no excuse for|no place (?:in|here)"
    r"|mistaken to (?:think|believe)|must be called out|breeds? (?:hate|hatred)"
    r"|(?:hurts?|harms?) (?:honest|innocent|us all|all of us|everyone|real)|helps nobody|such (?:generali\S+"
    r"|nonsense|prejudice\S*|clich\S+)"
    r")(?!\S)"
)
COMMAND = re.compile(
    r"(?:^|[.!;,:] )(?:so |and )?(?:(?:let us|let 's|please|do n't|do not|never|stop|quit|avoid) )+(?:\S+ ){0,6}?"
    r"(?:assume|judge|treat|call|calling|reduce|say|saying|tell|telling|teach|teaching|think|thinking|pretending|assuming"
    r"|insisting|repeating|spreading|asking|generali\S+|bury|stereotype"
    r"|stereotyping|blame|"
    r"blaming|believe|mock|mocking)(?!\S)"
)
# A claim that is spoken about, not made: «to say that … is …», «calling … is …».
MENTIONED = re.compile(
    r"^(?:\W )?(?:just |simply |merely )?(?:to (?:say|claim|call|suggest|assume|argue|insist|pretend|imply)|saying"
    r"|claiming|calling|suggesting|assuming|"
    r"arguing|insisting|pretending|implying|labelling|labeling|equating|hating|judging|blaming|treating"
    r"|stereotyping|mocking|reducing|linking|confusing|insulting|excluding)(?!\S)(?:.* )?(?:is|was|would|are|does|do|hurts?"
    r"|harms?|makes?|has)(?!\S)"
)
DUTY = re.compile(
    r"(?<!\S)(?:we|nobody|no one|you|people|teachers|schools|everyone|one) (?:should|must|ought|need|needs|have) "
    r"(?:(?:not|n't|to|never|stop|be|all) )*"
    r"(?:judge|judging|assume|treat|treating|blame|blaming|call|calling|say|saying|think|believe|expect|fight|challenge|resist|"
    r"question|reduce|generali\S+|equate|stereotype|stereotyping)(?!\S)"
)
BELIEVER = re.compile(
    r"(?<!\S)(?:anyone|anybody|whoever|those|people|<many>|if you|everyone)(?: who)?(?: still| really)? "
    r"(?:says|say|thinks|think|believes|believe|claims|claim|assumes|assume)(?: \S+){1,16}? "
    r"(?:has never|have never|should|is wrong|are wrong|is mistaken|are mistaken|you are not|know nothing|knows nothing)(?!\S)"
)
# Others' words or beliefs; who is spoken of must come after them.
REPORTED = re.compile(
    r"(?<!\S)(?:according to|allegedly|reportedly|supposedly|quoted as|in (?:<whose>|their|some people 's) (?:view"
    r"|opinion|eyes|words)|as the (?:old )?(?:joke|saying) goes|"
    r"(?:widely|commonly|once|it (?:is|was|has been|had been)) (?:\S+ )?(?:said|thought|believed|considered|assumed"
    r"|alleged|claimed|argued|suggested|reported|rumou?red)|"
    r"(?:was|were|been|is|are) (?:\S+ )?(?:recorded|accused|quoted|told|alleged|reported)|used to (?:say|think|believe|tell)|"
    r"(?:rumou?rs?|accusations?|allegations?|insinuations?|(?:sweeping|racist|sexist|nasty) (?:statements?|remarks?"
    r"|comments?|jokes?))"
    r" (?:of|about|that|against)|common stereotypes|the statement|the premise|the stereotype|(?:sign|banner|poster"
    r"|slogan)s? (?:\S+ ){0,4}(?:read|said|says))(?!\S)"
)
WONDERED = re.compile(
    r"(?<!\S)(?:ask|asks|asked|asking|wonder|wonders|wondered|wondering) (?:\S+ ){0,2}?(?:whether|if|why|how)(?!\S)"
)
# «…, a report says» at the end.
TRAILING = re.compile(
    r"(?:^|,|\"|”) (?:(?:an?|the|his|her|my|one) )?(?:\S+ ){0,2}(?:says|said|found|finds|shows|showed|reports"
    r"|reported|claimed|claims|wrote|joked|argued|"
    r"told \S+)(?: \S+){0,2}[ .!\"”]*$"
)
YEAR = re.compile(
    r"(?<!\S)(?:1[5-9]\d\d|20\d\d|per cent|percent|%|this week|last (?:week|month|year|night)|next (?:week|month|year))(?!\S)"
)
ROLE = re.compile(r"(?<!\S)(?:as|being|speaking as) (?:an?|the only|the first) (?:\S+ ){0,4}?<\S+")


def _any_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words of which each phrase has one at least: where a sentence has none, it need not be searched.
NEEDED: Mapping[re.Pattern[str], frozenset[str]] = {
    DENIAL: _any_of(
        "not n't no never neither nor hardly far contrary nothing little nobody reason grounds proof evidence indication sign"
        " justification disagree disagrees doubt doubts doubted deny denies denied dispute disputes disputed"
    ),
    COUNTER: _any_of(
        "challenge challenges challenged challenging reject rejects rejected rejecting dismiss dismisses dismissed fight fights"
        " fighting combat condemn condemns denounce denounces refute refutes debunk debunks bury resist dispel dispels question"
        " questions oppose opposes resent resents object objects objected tired sick refuse insulting offensive unfair wrong"
        " racist sexist unjust silly harmful ridiculous absurd dangerous cruel lazy stupid mistake nonsense false untrue myth"
        " error cliche cliché prejudice lie myths misconception misconceptions fallacy lies wrongly falsely unfairly unjustly"
        " mistakenly if only dare no mistaken called breed breeds hurt hurts harm harms helps such"
    ),
    MENTIONED: _any_of(
        "to saying claiming calling suggesting assuming arguing insisting pretending implying labelling labeling equating hating"
        " judging blaming treating stereotyping mocking reducing linking confusing insulting excluding"
    ),
    COMMAND: _any_of("let please do never stop quit avoid"),
    DUTY: _any_of("should must ought need needs have"),
    BELIEVER: _any_of("says say thinks think believes believe claims claim assumes assume"),
    DISBELIEF: _any_of("believe believes think accept accepts agree agrees buy share"),
    REPORTED: _any_of(
        "according allegedly reportedly supposedly quoted view opinion eyes words goes said thought believed considered assumed"
        " alleged claimed argued suggested reported rumored rumoured recorded accused told used rumor rumors rumour rumours"
        " accusation accusations allegation allegations insinuation insinuations statement statements remark remarks comment"
        " comments joke jokes stereotypes premise stereotype sign signs banner banners poster posters slogan slogans"
    ),
    WONDERED: _any_of("ask asks asked asking wonder wonders wondered wondering"),
    TRAILING: _any_of("says said found finds shows showed reports reported claimed claims wrote joked argued told"),
    ROLE: _any_of("as being speaking"),
}
