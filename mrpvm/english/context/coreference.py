"""What pronouns refer to, by the same rules for the sentences of a unit, of all evidence and of a conversation."""

import re
from collections.abc import Iterable, Sequence
from copy import replace

from msgspec import Struct

from mrpvm.english.context.ellipsis import asked_again
from mrpvm.english.messages.small_talk import is_remark
from mrpvm.english.questions.asking import bare_question, query_of
from mrpvm.english.sentences.parsing import read, tokens_of
from mrpvm.english.sentences.rewordings import rewordings
from mrpvm.english.sentences.structure import Clause, Phrase, Sentence
from mrpvm.english.sentences.voices import correction_in
from mrpvm.english.words import lexicon
from mrpvm.english.words.reading import sense
from mrpvm.english.words.tagging import is_number, verb_forms
from mrpvm.english.words.text import QUESTION_MARKS, sentences, words
from mrpvm.values import HistoryMessage

_SHE = lexicon.word_class("she her hers herself")
_HE = lexicon.word_class("he him his himself")
_IT = lexicon.word_class("it its itself this that")
_THEY = lexicon.word_class("they them their theirs themselves these those")
_PRONOUNS = _SHE | _HE | _IT | _THEY
_POINTING = lexicon.word_class("this that these those")
_REFLEXIVE = lexicon.word_class("herself himself itself themselves")
_FEMALE_SENSES = frozenset(map(sense, lexicon.FEMALE))
_MALE_SENSES = frozenset(map(sense, lexicon.MALE))
_AGENT_ENDINGS = ("er", "or", "ist", "ian", "man", "ant", "ent", "ee", "eon", "ess")
_UNNAMED = lexicon.listed("unnamed_persons")
_PLACING = lexicon.listed("placing_prepositions")
_REACH = 3
"""The number of earlier sentences that a pronoun may refer to."""
_MESSAGES = 3
"""The number of the sender's last messages that a pronoun may refer to."""
_ARTICLE = re.compile(r"^an? ", re.IGNORECASE)


class Mention(Struct, frozen=True):
    """A phrase with its role: subject, object or the preposition before it.

    `text` refers to it again ("the boat" for "a boat"), `sentence` contains it. `is_somebody` is true if a question
    with "who" asked for it.
    """

    role: str
    phrase: Phrase
    text: str = ""
    sentence: str = ""
    is_many: bool = False
    is_somebody: bool = False


class Antecedents:
    """The mentions of the sentences so far, the newest last."""

    def __init__(self, *named: Mention) -> None:
        self._recent: list[list[Mention]] = [list(named)]
        self._genders: dict[str, str] = {}

    @property
    def recent(self) -> list[list[Mention]]:
        """Return the mentions of the last two sentences; a list is empty if a sentence has none."""
        return self._recent[-2:]

    def definite(self) -> "Antecedents":
        """Return the antecedents without bare nouns such as "tea" in "I like tea"; "the tea" and subjects are kept."""
        antecedents = Antecedents()
        for level in self._recent:
            antecedents.add(
                [item for item in level if item.role == "subject" or item.phrase.determiner or item.phrase.is_name]
            )
        return antecedents

    @property
    def has_several(self) -> bool:
        """Return whether there was an earlier sentence in the same text."""
        return len(self._recent) > 1

    def begin(self, named: Sequence[Mention]) -> None:
        """Start another text about the given mentions: forget earlier mentions, but keep the names of people."""
        self._recent = [list(named)]

    def add(self, named: Sequence[Mention]) -> None:
        """Add the mentions of a sentence whose own pronouns are not resolved."""
        self._recent.append(list(named))

    def resolve(self, parsed: Sentence, sentence: str = "") -> dict[int, Mention]:
        """Return what the pronouns of the next sentence refer to, by their places, and add its mentions."""
        here: list[Mention] = []
        meant: dict[int, Mention] = {}
        for clause in sorted(parsed.clauses, key=lambda item: item.verb_place):
            for phrase in clause.phrases:
                word = phrase.owner_pronoun or phrase.pronoun
                if word in _REFLEXIVE:  # it names its own subject, and nothing before
                    if clause.subject:
                        self._learn(clause.subject, _gender(word))
                elif word in _PRONOUNS - _POINTING:
                    own = clause.subject if phrase is not clause.subject and not phrase.owner_pronoun else None
                    mention = self.meant(word, here, own)
                    if mention:
                        meant[phrase.start] = mention
                        self._learn(mention.phrase, _gender(word))
            for role, phrase in roles_of(clause):
                if not phrase.pronoun:
                    here.append(_mention(role, phrase, parsed, sentence, clause))
                elif phrase.start in meant:
                    here.append(replace(meant[phrase.start], role=role))
        self._recent = [*self._recent[-_REACH:], here]
        return meant

    def meant(self, word: str, here: Sequence[Mention] = (), own_subject: Phrase | None = None) -> Mention | None:
        """Return what a pronoun refers to: the nearest mention that agrees with it."""
        levels = [here, *reversed(self._recent)]
        barred = own_subject.senses if own_subject else frozenset()
        if word in _SHE | _HE:
            return self._person(word, levels, barred)
        for level in levels:  # within a sentence subjects come before objects
            mentions = sorted(level, key=lambda item: item.role != "subject")
            fitting = [item for item in mentions if item.phrase.senses and item.phrase.senses != barred]
            for is_likely in (True, False):
                for item in fitting:
                    if _agrees(word, item, is_likely=is_likely):
                        return item
        return None

    def _person(self, word: str, levels: Sequence[Sequence[Mention]], barred: frozenset[str]) -> Mention | None:
        """Return whom "he" or "she" refers to: a named subject, the person a sentence is about, or its only person."""
        for level in levels:
            subjects = [item for item in level if item.role == "subject" and item.phrase.senses != barred]
            for place, item in enumerate(subjects):
                leads = place == 0 and item.phrase.determiner not in ("a", "an")
                if (item.phrase.is_name or leads) and self._can_be(word, item, is_likely=item.phrase.is_person):
                    return item
            if subjects:
                continue
            others = [item for item in level if item.phrase.is_person and item.role not in _PLACING
                      and item.phrase.senses != barred and self._can_be(word, item, is_likely=True)]  # fmt: skip
            if len(others) == 1:
                return others[0]
        return None

    def has_rival(self, meant: Mention) -> bool:
        """Return whether `meant` is a name of unknown gender and another such name is a recent subject."""
        named = meant.phrase
        if _is_asked(meant) or not named.is_name or named.head in self._genders:
            return False
        return not named.senses & (_FEMALE_SENSES | _MALE_SENSES) and any(
            other.is_name and other.head not in self._genders and other.senses.isdisjoint(named.senses)
            for level in self._recent
            for item in level
            if item.role == "subject" and not _is_asked(item)
            for other in item.phrase.members
        )

    def _can_be(self, word: str, named: Mention, *, is_likely: bool) -> bool:
        """Return whether "he" or "she" can refer to a mention that is not known to be of the other gender."""
        known = self._genders.get(named.phrase.head, _gender(word))
        return known == _gender(word) and _agrees(word, named, is_likely=is_likely)

    def _learn(self, phrase: Phrase, gender: str) -> None:
        if phrase.is_name and gender:
            self._genders.setdefault(phrase.head, gender)


def roles_of(clause: Clause) -> list[tuple[str, Phrase]]:
    """Return the phrases of a clause, each with its role."""
    subject = [("subject", clause.subject)] if clause.subject else []
    return [*subject, *(("object", phrase) for phrase in clause.objects), *clause.modifiers]


def asked_mentions(question: str) -> list[Mention]:
    """Return the mentions of a question."""
    query, parsed = query_of(question), as_asked(question)
    named = roles_of(query.clause) if query else []
    is_who = query is not None and query.wants == "person" and query.gap == "predicate"
    return [
        replace(_mention(role, item, parsed, question), is_somebody=is_who and item.is_name)
        for role, item in named
        if not item.pronoun
    ]


def as_asked(question: str) -> Sentence:
    """Return the words of a question at the places that `query_of` gives them, without clauses."""
    tokens, surfaces = tokens_of(bare_question(question))
    return Sentence(text=question, tokens=tokens, surfaces=surfaces)


def topic_mentions(topic: str) -> list[Mention]:
    """Return the mentions of a unit's topic, as subjects before its first sentence."""
    parsed = read(f"{topic} is")
    subject = parsed.clauses[0].subject if parsed.clauses else None
    return [_mention("subject", subject, parsed)] if subject and not subject.pronoun else []


def in_full(said: str, parsed: Sentence, meant: dict[int, Mention]) -> str:
    """Return a sentence with its pronouns replaced by what they refer to in other sentences."""
    start = 0
    for place, mention in sorted(meant.items()):
        word = parsed.tokens[place]
        match = re.compile(rf"\b{word}\b", re.IGNORECASE).search(said, start)
        if match is None or mention.sentence == said:
            continue
        follows = parsed.tokens[place + 1 : place + 2]
        owns = word in lexicon.POSSESSIVES and (word != "her" or bool(follows)) and place + 1 < len(parsed.tokens)
        text = f"{mention.text}'s" if owns else mention.text
        said = f"{said[: match.start()]}{text}{said[match.end() :]}"
        start = match.start() + len(text)
    return said


def with_meant(question: str, named_in: str) -> str:
    """Return a question with its first pronoun replaced by the subject of the text that it refers to."""
    text = _subject_in(sentences(named_in)[-1])
    question_words = words(question)
    for place, word in enumerate(question_words):
        if text and word in _PRONOUNS - _POINTING:
            owns = word in lexicon.POSSESSIVES and _owns(question_words, place)
            named = f"{text}'s" if owns else text
            match = re.search(rf"\b{word}\b", question, re.IGNORECASE)
            return f"{question[: match.start()]}{named}{question[match.end() :]}" if match else question
    return question


def _subject_in(text: str) -> str:
    """Return the subject of a question or sentence, or the phrase itself; empty if that is a pronoun."""
    query = query_of(text)
    parsed = as_asked(text) if query else read(text) if read(text).clauses else read(f"{text} is")
    clauses = [query.clause] if query else parsed.clauses
    subject = next((clause.subject or next(iter(clause.phrases), None) for clause in clauses), None)
    if subject is None or subject.pronoun:
        return ""
    return _named_anew(parsed, subject)


def topic_before(sentence: str, history: Sequence[HistoryMessage]) -> str | None:
    """Return the topic of a statement that only has a pronoun for it or does not name it."""
    if own := dict.fromkeys(topic for topic, _ in rewordings(sentence) if topic):
        return " and ".join(own)
    corrected = correction_in(sentence)
    said = corrected.said if corrected else sentence
    subject = next((clause.subject for clause in read(said).clauses), None)
    pronoun = open_pronoun(said)
    if pronoun is None and corrected and subject is None:  # "no, four" corrects what was said of a thing
        return _meant_before("it", history) or _meant_before("they", history)
    return _meant_before(pronoun, history) if pronoun else None


def context_before(question: str, history: Sequence[HistoryMessage]) -> str | None:
    """Return what a pronoun of a question refers to, in the words of an earlier message."""
    pronoun = open_pronoun(question)
    return _meant_before(pronoun, history) if pronoun else None


def _meant_before(pronoun: str, history: Sequence[HistoryMessage]) -> str | None:
    """Return what a pronoun refers to, in the words of the sender's last messages."""
    antecedents = Antecedents()
    messages = [message for message in history if message.role in ("user", "") and not is_remark(message.content)]
    whole = [asked_again(item.content, messages[:place]) or item.content for place, item in enumerate(messages)]
    for content in _naming(whole):
        for sentence in sentences(content):
            said = correction_in(sentence)
            if sentence.endswith(QUESTION_MARKS):
                antecedents.add(asked_mentions(sentence))
            else:
                antecedents.resolve(read(said.said if said else sentence), sentence)
    mention = antecedents.definite().meant(pronoun) or antecedents.meant(pronoun)
    is_open = mention and pronoun in _SHE | _HE and antecedents.has_rival(mention)
    return mention.text if mention and not is_open else None


def _naming(messages: Sequence[str]) -> Sequence[str]:
    """Return the last messages that a pronoun may refer to; messages with only pronouns are passed over."""
    count = 0
    for place in range(len(messages) - 1, -1, -1):
        count += open_pronoun(messages[place]) is None
        if count == _MESSAGES:
            return messages[place:]
    return messages


_EMPTY_IT = re.compile(r"it (?:mean\b|(?:(?:cost|take|possible|allowed|permitted|necessary|required|forbidden) )?to\b)")
"""Phrases in which "it" refers to the infinitive that follows."""


def open_pronoun(sentence: str) -> str | None:
    """Return the first pronoun that refers to nothing before it in its sentence."""
    sentence_words = words(sentence)
    for place, word in enumerate(sentence_words):
        is_empty = _EMPTY_IT.match(" ".join(sentence_words[place : place + 3]))
        if word not in _PRONOUNS or (word in _POINTING and place) or is_empty:
            continue
        nameless = lexicon.STOP_WORDS | _UNNAMED
        before = [item for item in sentence_words[:place] if item not in nameless and not verb_forms(item)]
        named = any(re.search(rf"\b{re.escape(item.capitalize())}\b", sentence) for item in before)
        is_own = word.endswith("self") or (word in lexicon.POSSESSIVES and _owns(sentence_words, place))
        if word in _SHE | _HE:
            return None if is_own and (named or "who" in sentence_words[:place]) else word
        return None if before and (is_own or not named) else word
    return None


def _owns(sentence_words: Sequence[str], place: int) -> bool:
    """Return whether a noun follows a possessive: "her boat", not "saw her at noon"."""
    after = sentence_words[place + 1 : place + 2]
    return bool(after) and after[0] not in lexicon.PREPOSITIONS | lexicon.AUXILIARIES


def _named_anew(parsed: Sentence, phrase: Phrase) -> str:
    named = next((alias for alias in phrase.aliases if alias.is_name), phrase)
    text = _ARTICLE.sub("the ", parsed.text_of(named))
    return text if named.is_name and not named.determiner else f"{text[:1].lower()}{text[1:]}"


def _agrees(word: str, named: Mention, *, is_likely: bool) -> bool:
    """Return whether a pronoun agrees with a mention; `is_likely` asks for positive evidence."""
    phrase = named.phrase
    if phrase.head_text in lexicon.TIME_WORDS or is_number(phrase.head_text):
        return False
    if word in _THEY:
        return named.is_many
    if named.is_many:
        return False
    female, male = bool(phrase.senses & _FEMALE_SENSES), bool(phrase.senses & _MALE_SENSES)
    if word in _IT:
        is_bare_name = phrase.is_name and not phrase.determiner
        return not (female or male or named.is_somebody) and not (
            is_likely and (is_bare_name or (phrase.is_person and not phrase.is_name))
        )
    wrong = male if word in _SHE else female
    agent = (
        phrase.head_text.endswith(_AGENT_ENDINGS) and not phrase.head_text.endswith("ment") and bool(phrase.determiner)
    )
    return not wrong and (phrase.is_person or (agent and not is_likely))


def _is_asked(named: Mention) -> bool:
    return named.sentence.endswith(QUESTION_MARKS)


def _gender(word: str) -> str:
    return "female" if word in _SHE else "male" if word in _HE else ""


def _mention(role: str, phrase: Phrase, parsed: Sentence, sentence: str = "", clause: Clause | None = None) -> Mention:
    """Return a mention; a name in "s" that begins a sentence is a plural unless its verb is singular: "Jonas is"."""
    is_one = clause is not None and (
        bool(clause.auxiliaries & _OF_ONE) or clause.verb_text in _OF_ONE or "s" in verb_forms(clause.verb_text)
    )
    is_name = phrase.is_name and not phrase.others and (phrase.start > 0 or is_one)
    return Mention(role, phrase, _named_anew(parsed, phrase), sentence, phrase.is_plural and not is_name)


_OF_ONE = frozenset(("is", "was", "has", "does"))


def senses_of(named: Iterable[Sequence[Mention]]) -> frozenset[str]:
    return frozenset().union(*(mention.phrase.senses for level in named for mention in level))
