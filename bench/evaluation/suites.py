"""Read suites from disk: a story, and questions with what their answers must and must not say."""

import json
import re
from collections.abc import Mapping
from copy import replace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

STORIES = Path(__file__).resolve().parents[2] / "stories"
DEVELOPMENT = STORIES / "development"
"""Suites that rules may be improved on."""
FURTHER = STORIES / "further"
"""More suites that rules were improved on, as an outsider would write them; too many for the test suite."""
HELD_OUT = STORIES / "held_out"
"""Suites that are only measured: a rule made for one of them would make its number worthless."""

type Variant = Literal["original", "renamed", "inverted"]
VARIANTS: tuple[Variant, ...] = ("original", "renamed", "inverted")

SENTENCES_MAX = {"fact": 2, "yes-no": 2, "one-word": 1, "explanation": 4}
"""Sentences of an answer by the form asked for; lists, steps and comparisons have as many as there are items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a right answer looks like.

    `answerable` is "no" if the story does not tell, and "either" if it contradicts itself: then a refusal is
    right, and so is an answer that tells every version. `form` bounds the length of the answer.
    """

    answerable: Literal["yes", "no", "either"]
    form: str
    verdict: Literal["yes", "no"] | None = None
    intents: tuple[tuple[str, ...], ...] = ()
    answer_must_mention: tuple[str, ...] = ()
    answer_must_not_contain: tuple[str, ...] = ()
    context_must_mention: tuple[str, ...] = ()
    context_must_not_mention: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One message and what is expected of its answer."""

    id: str
    input: str
    expected: Expected
    variant: Variant = "original"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One story with its questions."""

    suite_id: str
    title: str
    story_name: str
    story: str
    questions: tuple[Question, ...]
    inverted: tuple[Question, ...]
    renames: Mapping[str, str] = field(default_factory=dict)

    def variant(self, variant: Variant) -> "Suite":
        """Return the suite with the questions of one variant; renaming changes the story as well."""
        if variant == "original":
            return self
        if variant == "inverted":
            return replace(self, questions=self.inverted)
        questions = tuple(_renamed(question, self.renames) for question in self.questions)
        return replace(self, story=renamed(self.story, self.renames), questions=questions)


def load_suites(directory: Path) -> tuple[Suite, ...]:
    """Return the suites of a directory, one folder with an `eval.json` each, by name."""
    return tuple(_suite(path) for path in sorted(directory.glob("*/eval.json")))


def _suite(path: Path) -> Suite:
    document = json.loads(path.read_text(encoding="utf-8"))
    return Suite(
        suite_id=document["suiteId"],
        title=document["title"],
        story_name=document["storyFile"],
        story=(path.parent / document["storyFile"]).read_text(encoding="utf-8"),
        questions=tuple(_question(item["id"], item) for item in document["questions"]),
        inverted=tuple(_question(item["id"], item["inverted"], "inverted") for item in document["questions"]),
        renames=document["renames"],
    )


def _question(question_id: str, item: Mapping[str, Any], variant: Variant = "original") -> Question:
    expected = item["expected"]
    return Question(
        id=question_id,
        input=item["input"],
        variant=variant,
        expected=Expected(
            answerable=expected["answerable"],
            form=expected["form"],
            verdict=expected.get("verdict"),
            intents=tuple(tuple(intent["intentMustMention"]) for intent in expected["intents"]),
            answer_must_mention=tuple(expected["answerMustMention"]),
            answer_must_not_contain=tuple(expected["answerMustNotContain"]),
            context_must_mention=tuple(expected["contextMustMention"]),
            context_must_not_mention=tuple(expected["contextMustNotMention"]),
        ),
    )


def _renamed(question: Question, table: Mapping[str, str]) -> Question:
    expected = question.expected

    def each(mentions: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(renamed(mention, table) for mention in mentions)

    return Question(
        id=question.id,
        input=renamed(question.input, table),
        variant="renamed",
        expected=replace(
            expected,
            intents=tuple(each(intent) for intent in expected.intents),
            answer_must_mention=each(expected.answer_must_mention),
            answer_must_not_contain=each(expected.answer_must_not_contain),
            context_must_mention=each(expected.context_must_mention),
            context_must_not_mention=each(expected.context_must_not_mention),
        ),
    )


def renamed(text: str, table: Mapping[str, str]) -> str:
    """Return `text` with the whole words of the table replaced in one pass. An initial capital is kept."""
    if not table:
        return text
    lowered = {old.lower(): new for old, new in table.items()}
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(lowered, key=len, reverse=True)))})\b", re.IGNORECASE)

    def replacement(match: re.Match[str]) -> str:
        new = lowered[match.group().lower()]
        return new[:1].upper() + new[1:] if match.group()[:1].isupper() else new[:1].lower() + new[1:]

    return pattern.sub(replacement, text)
