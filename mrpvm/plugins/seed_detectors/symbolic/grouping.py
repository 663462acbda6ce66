"""Groups statements into units: facts separately, related sentences together."""

import re
from collections.abc import Iterable, Sequence
from copy import replace

from msgspec import Struct

from mrpvm.english.messages.pragmatics import role_of
from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.words import lexicon
from mrpvm.english.words.text import QUESTION_MARKS, cut_at_word, words
from mrpvm.knowledge.facts import Fact, fact_of
from mrpvm.plugins.seed_detectors.symbolic.plain_headings import is_labelled
from mrpvm.plugins.seed_detectors.symbolic.segmentation import MessageStatement

_MAX_SENTENCES = 5
_MAX_CHARS = 700
"""Limits of one unit, so that a name in every sentence does not make a whole text one unit."""
_TOPIC_CHARS = 80
_OPENING_PRONOUNS = lexicon.listed("opening_pronouns")
_PERSONAL_PRONOUNS = lexicon.listed("personal_pronouns")
_CONCLUSIONS = lexicon.listed("conclusions")
_NAME = re.compile(r"\b[A-Z][\w'\u2019-]*")
_ASSENT = re.compile(r"^(?:Yes|No)[.!]\s+(?=\w)")
_LEADING = lexicon.listed("leading_words")
_TOPIC_ENDS = lexicon.listed("topic_ends")


class UnitDraft(Struct, frozen=True, kw_only=True):
    """A unit before it is written as control text."""

    ku_type: str
    role: str
    topic: str
    text: str
    fact: Fact | None = None
    condition: str | None = None
    phase_scopes: tuple[str, ...] = ("kb-plugin",)
    section_title: str | None = None
    unit_type: str | None = None


def _names(sentence: str) -> set[str]:
    """Return the capitalised names of a sentence in lower case, without a function word at its beginning."""
    return {name.lower() for name in _NAME.findall(sentence) if name.lower() not in lexicon.STOP_WORDS}


def _opens_as_reference(sentence: str) -> bool:
    """Return whether a sentence needs the one before it: by its first word, or by a pronoun with no name before it."""
    tokens = words(sentence)
    if tokens and (
        tokens[0] in _OPENING_PRONOUNS | lexicon.CONNECTIVES | _CONCLUSIONS or tokens[:3] == ("as", "a", "result")
    ):
        return True
    pronoun = next((word for word in tokens if word in _PERSONAL_PRONOUNS), None)
    return pronoun is not None and not _names(re.split(rf"\b{pronoun}\b", sentence, maxsplit=1, flags=re.I)[0])


def topic_of(sentence: str) -> str:
    """Return the subject of a sentence: the words before its first verb, as far as function words show it."""
    kept: list[str] = []
    for raw in _ASSENT.sub("", sentence).split():
        bare = raw.strip(".,;:!?\"'()[]\u201c\u201d")
        word = bare.lower()
        if not bare or (not kept and word in _LEADING):
            continue
        if kept and (
            word in lexicon.AUXILIARIES | lexicon.BE_FORMS | lexicon.HAVE_FORMS | lexicon.PREPOSITIONS | _TOPIC_ENDS
        ):
            break
        kept.append(bare)
        if raw[-1] in ",;:" or len(kept) == 4:
            break
    return cut_at_word(" ".join(kept) or sentence.strip(), _TOPIC_CHARS)


def _joins(group: Sequence[str], statement: MessageStatement) -> bool:
    sentence = statement.text
    if len(group) >= _MAX_SENTENCES or sum(map(len, group)) + len(sentence) > _MAX_CHARS:
        return False
    if is_labelled(group[-1]) and is_labelled(sentence):
        return False  # the values of two labels have nothing to do with each other, whatever both name
    if _answers(statement):
        return True  # a paragraph below a question is its answer
    return _opens_as_reference(sentence) or bool(_names(group[-1]) & _names(sentence))


def _answers(statement: MessageStatement) -> bool:
    return (statement.heading or "").endswith(QUESTION_MARKS)


def _titled(line: str, statement: MessageStatement) -> str | None:
    """Return the topic of a label: the topic of its section."""
    return cut_at_word(statement.title, _TOPIC_CHARS) if statement.title and is_labelled(line) else None


def _draft(group: Sequence[str], inherited_topic: str, last: MessageStatement) -> UnitDraft:
    text = " ".join(group)
    opens_with_pronoun = words(group[0])[:1] and words(group[0])[0] in lexicon.REFERRING_PRONOUNS
    topic = inherited_topic if opens_with_pronoun and inherited_topic else topic_of(group[0])
    return UnitDraft(
        ku_type="atomic" if len(group) == 1 else "composite",
        role=role_of(text),
        topic=cut_at_word(last.heading or "", _TOPIC_CHARS) if _answers(last) else _titled(group[0], last) or topic,
        text=text,
        section_title=last.heading,
    )


def group_statements(statements: Iterable[MessageStatement], section_title: str | None = None) -> list[UnitDraft]:
    """Return the units of the statements in order; only neighbours in one paragraph are joined."""
    drafts: list[UnitDraft] = []
    group: list[str] = []
    last: MessageStatement | None = None

    def close() -> None:
        if group and last:
            drafts.append(_draft(group, drafts[-1].topic if drafts else section_title or "", last))
            group.clear()

    for statement in statements:
        single = _single(statement)
        moved = last is not None and statement.block != last.block
        if moved or single or (group and not _joins(group, statement)):
            close()
        last = statement
        if single:
            drafts.append(single)
        else:
            group.append(statement.text)
    close()
    return drafts


def _single(statement: MessageStatement) -> UnitDraft | None:
    """Return the unit of a statement that is never grouped: steps, a list, an utterance, a fact."""
    text, heading = statement.text, statement.heading
    draft = UnitDraft(ku_type="composite", role=role_of(text), topic=topic_of(text), text=text, section_title=heading)
    if statement.is_procedure:
        lead, colon, _ = text.partition(":")
        topic = lead if colon and len(lead) <= _TOPIC_CHARS else heading or draft.topic
        return replace(draft, role="Procedure", topic=re.sub(r"^(?:to|how to)\s+", "", topic, flags=re.I))
    if statement.is_list or statement.speaker:
        lead = text.partition("\n")[0].removeprefix("- ")
        topic = statement.speaker or _titled(lead, statement) or cut_at_word(lead.rstrip(":"), _TOPIC_CHARS)
        return replace(draft, topic=topic, unit_type=UTTERANCE if statement.speaker else None)
    fact = fact_of(text)
    return replace(draft, ku_type="atomic", topic=fact.subject, fact=fact) if fact else None
