"""The table of figures, by words alone and with embeddings. Each figure stands beside its limit and its aim."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import replace
from dataclasses import dataclass
from itertools import batched, chain
from pathlib import Path
from statistics import mean, median, quantiles

from bench.answers.asking import Reply, WatchedMachine, mounted
from bench.answers.collections import (
    DOCUMENTS,
    FAQS,
    TEXTS,
    Passage,
    Question,
    Request,
    read_articles,
    read_conditions,
    read_requests,
    read_stories,
    sampled,
)
from bench.answers.followups import read_dialogues
from bench.answers.judging import Tally, holds, outcome_of, outcome_of_condition
from bench.answers.told import (
    CHANGING,
    CUED,
    FACTS,
    KINDS,
    MESSAGES,
    TYPED,
    messages_read,
    read_conversations,
    requests_read,
)
from bench.answers.unrelated import changes, matters, mounted_matters
from bench.evaluation.runs import run_all, tally
from bench.evaluation.suites import DEVELOPMENT, FURTHER, HELD_OUT, load_suites
from bench.retrieval.collections import Corpus, read_collections
from bench.retrieval.collections import Question as TurnQuestion
from mrpvm.knowledge.embedding.encoder import installed_encoder
from sessions_app.models import KnowledgeLayer

_SHOWN = ("stated", "composed", "quoted")
_ASSERTED = ("stated", "composed")
_QUESTIONS_A_PARAGRAPH = 10
_TEXTS_TOGETHER = 6


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and its limit in each mode. `at_most` says that less is better."""

    name: str
    value: float
    must: Mapping[str, float | None]
    unit: str = "%"
    at_most: bool = False

    def line(self, mode: str) -> str:
        """Return the row of the table."""
        must = self.must.get(mode)
        fails = must is not None and (self.value > must if self.at_most else self.value < must)
        bound = "" if must is None else f"{'at most' if self.at_most else 'at least'} {must:g}"
        return f"{self.name:<66} {self.value:>7.1f} {self.unit:<2} {bound:<14} {'MISSED' if fails else ''}".rstrip()


def _must(words: float, embeddings: float | None = None) -> dict[str, float | None]:
    return {"words": words, "embeddings": words if embeddings is None else embeddings}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The choices of a run: how much of each text, which part, by words or with embeddings, which replies to show."""

    sample: int
    pairs: int
    only: str | None
    modes: Sequence[str]
    show: str | None


def report(directory: Path, wanted: Wanted) -> Iterator[str]:
    """Yield each line of the report as soon as it is measured."""
    sample, only, show = wanted.sample, wanted.only, wanted.show
    for mode in wanted.modes:
        if mode == "embeddings" and installed_encoder() is None:
            yield "\n=== with embeddings: skipped, the model is not installed (make embeddings)"
            continue
        yield f"\n=== {'by words alone' if mode == 'words' else 'with embeddings'}"
        with WatchedMachine(embeds=mode == "embeddings") as machine:
            for name, measure in (
                ("passages", lambda: _passages(machine, directory, sample, show)),
                ("articles", lambda: _articles(machine, directory, sample)),
                ("documents", lambda: _documents(machine, "documents", DOCUMENTS, show)),
                ("faqs", lambda: _documents(machine, "faqs", FAQS, show)),
                ("conditions", lambda: _conditions(machine, show)),
                ("stories", lambda: _stories(machine, show)),
                ("requests", lambda: _requests(machine, directory, show)),
                ("conversations", lambda: _conversations(machine, directory, sample)),
                ("pairs", lambda mode=mode: _pairs(directory, wanted.pairs, mode)),
                ("followups", lambda mode=mode: _follow_ups(mode, show)),
            ):
                if only in (None, name):
                    for row in measure():
                        yield row.line(mode) if isinstance(row, Figure) else row
    if only in (None, "told"):
        yield "\n=== told in messages, by words alone"
        yield from _told(show)
    if only in (None, "messages"):
        yield "\n=== what single messages are read as, by words alone"
        yield from _messages()
    if only in (None, "suites"):
        yield "\n=== own suites, by words alone"
        yield from (row.line("words") for row in _suites())


def _passages(machine: WatchedMachine, directory: Path, sample: int, show: str | None) -> Iterator[Figure | str]:
    """Yield the figures with a single paragraph in the base."""
    counted, replies = Tally(), []
    for article in read_articles(directory):
        for passage in sampled(article, sample):
            head = machine.mounted_text(passage.text, "text.txt")
            for question in sampled(passage.questions, _QUESTIONS_A_PARAGRAPH):
                reply = machine.ask(question.text, head)
                counted.add(question, reply)
                replies.append(reply)
                yield from _shown(question, reply, show)
    if not replies:
        yield "questions to paragraphs: skipped, no squad*.json"
        return
    yield from _foreign("paragraphs", counted)
    yield from _times("a paragraph", replies, {"words": 3})


def _articles(machine: WatchedMachine, directory: Path, sample: int) -> Iterator[Figure | str]:
    """Yield the figures with a whole article in the base, some 200 units."""
    counted, replies = Tally(), []
    for article in read_articles(directory):
        head = machine.mounted_text("\n\n".join(passage.text for passage in article), "text.txt")
        questions = [question for passage in article for question in passage.questions]
        for question in sampled(questions, sample * _QUESTIONS_A_PARAGRAPH // 2):
            reply = machine.ask(question.text, head)
            counted.add(question, reply)
            replies.append(reply)
    if replies:
        yield from _foreign("articles", counted)
        yield from _times("an article", replies, {"words": 8})


def _documents(machine: WatchedMachine, of: str, path: Path, show: str | None) -> Iterator[Figure | str]:
    """Yield the figures of manuals, price lists, timetables and the like, each alone in a base."""
    counted = Tally()
    for document in read_stories(path):
        head = machine.mounted_text(document.text, document.title)
        for question in document.questions:
            reply = machine.ask(question.text, head)
            counted.add(question, reply)
            yield from _shown(question, reply, show)
    yield from _foreign(of, counted)


def _conditions(machine: WatchedMachine, show: str | None) -> Iterator[Figure | str]:
    """Yield the figures of rules with conditions: whether an answer shows the condition, and its yes or no is right."""
    counts = Counter[tuple[str, str]]()
    for document, questions in read_conditions():
        head = machine.mounted_text(document.text, document.title)
        for question in questions:
            reply = machine.ask(question.text, head)
            outcome = outcome_of_condition(question, reply)
            counts[question.kind, outcome] += 1
            counts[question.kind, "all"] += 1
            if show == outcome:
                yield f"  {question.text} -> ({reply.basis}) {' / '.join(reply.shown.splitlines())}"
    cases = ("met", "unmet", "plain")

    def share(outcomes: Sequence[str], kinds: Sequence[str]) -> float:
        counted = sum(counts[kind, outcome] for kind in kinds for outcome in outcomes)
        return 100 * counted / sum(counts[kind, "all"] for kind in kinds)

    yield f"conditions: {sum(number for (_, outcome), number in counts.items() if outcome == 'all')} questions"
    yield Figure("conditions: not asked about, stated with them", share(("right",), ("conditional",)), {})
    yield Figure("conditions: not asked about, yet a flat yes or no", share(("wrong",), ("conditional",)), {})
    yield Figure("conditions: not asked about, shown", share(("right", "wrong", "refused"), ("conditional",)), {})
    yield Figure("conditions: yes or no follows, said and right", share(("right",), cases), {})
    yield Figure("conditions: yes or no follows, said and wrong", share(("wrong",), cases), {})
    yield Figure("conditions: values, stated and all", share(("right",), ("wh",)), {})
    yield Figure("conditions: values, stated and not all", share(("wrong",), ("wh",)), {})


def _follow_ups(mode: str, show: str | None) -> Iterator[Figure | str]:
    counted, kb = Tally(), "kb-fast" if mode == "words" else None
    for number, dialogue in enumerate(read_dialogues()):
        for question, reply in dialogue.replies(f"follow-ups {number} {mode}", kb):
            counted.add(question, reply)
            yield from _shown(question, reply, show)
    yield from _foreign("follow-ups", counted)


def _foreign(of: str, counted: Tally) -> Iterator[Figure | str]:
    def share(answerable: bool, bases: Iterable[str], right: bool | None = None) -> float:
        return 100 * counted.share(answerable=answerable, bases=bases, right=right)

    yield f"{of}: {counted.count(answerable=True)} answerable, {counted.count(answerable=False)} unanswerable questions"
    yield Figure(f"{of}: answerable, stated and right", share(True, _ASSERTED, True), _must(20, 25))
    yield Figure(f"{of}: answerable, stated and wrong", share(True, _ASSERTED, False), _must(2), at_most=True)
    yield Figure(f"{of}: answerable, quoted and right", share(True, ("quoted",), True), {})
    yield Figure(f"{of}: answerable, nothing shown", share(True, ("none",)), {})
    yield Figure(f"{of}: the shown text holds the answer", share(True, _SHOWN, True), _must(80))
    yield Figure(f"{of}: unanswerable answered as stated", share(False, _ASSERTED), _must(9), at_most=True)


def _times(of: str, replies: Sequence[Reply], must: Mapping[str, float | None]) -> Iterator[Figure]:
    yield Figure(
        f"{of}: processor time of the solver, median", median(reply.solver_ms for reply in replies), must, "ms", True
    )
    yield Figure(f"{of}: processor time of a turn, median", median(reply.turn_ms for reply in replies), {}, "ms")


@dataclass(frozen=True, slots=True)
class _Answered:
    """The answer to a request and the expected facts that it lacks."""

    request: Request
    reply: Reply
    missing: Sequence[str]

    @property
    def share(self) -> float:
        return 1 - len(self.missing) / len(self.request.facts)


def _stories(machine: WatchedMachine, show: str | None) -> Iterator[Figure | str]:
    stories = read_stories()
    counted, answered = Tally(), list[_Answered]()
    for story in stories:
        head = machine.mounted_text(story.text, "story.txt")
        for question in story.questions:
            reply = machine.ask(question.text, head)
            counted.add(question, reply)
            yield from _shown(question, reply, show)
        answered += _answers_to_requests(machine, story, head)
    if show:
        yield from _lacking(answered)
    right = counted.share(answerable=True, bases=_ASSERTED, right=True)
    wrong = counted.count(answerable=True, bases=_ASSERTED, right=False) + counted.count(
        answerable=False, bases=_ASSERTED
    )
    total = counted.count(answerable=True) + counted.count(answerable=False)
    yield f"stories: {total} questions, {len(answered)} requests"
    yield Figure("stories: answerable, right", 100 * right, _must(80))
    yield Figure("stories: wrong, of all questions", 100 * wrong / total, _must(3), at_most=True)
    yield from _facts_of("stories", answered, _must(5))


def _requests(machine: WatchedMachine, directory: Path, show: str | None) -> Iterator[Figure | str]:
    """Yield how many of the expected facts are in explanations, comparisons, summaries and chains about paragraphs."""
    answered: list[_Answered] = []
    for passage in read_requests(read_articles(directory)):
        answered += _answers_to_requests(machine, passage, machine.mounted_text(passage.text, "text.txt"))
    if show:
        yield from _lacking(answered)
    if answered:
        yield f"paragraphs: {len(answered)} requests"
        yield from _facts_of("paragraphs", answered, _must(5))
    yield from _texts(machine, show)


def _texts(machine: WatchedMachine, show: str | None) -> Iterator[Figure | str]:
    """Yield the same of texts by authors who did not know the program, and how often a request they cannot meet is."""
    answered: list[_Answered] = []
    misled = unmet = 0
    for text in read_stories(TEXTS):
        head = machine.mounted_text(text.text, "text.txt")
        answered += _answers_to_requests(machine, _with_facts(text), head)
        unanswerable = [request.text for request in text.requests if not request.facts]
        misled += sum(machine.ask(request, head).basis in _ASSERTED for request in unanswerable)
        unmet += len(unanswerable)
    if show:
        yield from _lacking(answered)
    yield f"texts: {len(answered)} requests, {unmet} that their text cannot meet"
    yield from _facts_of("texts", answered, _must(5))
    yield Figure("texts: requests that cannot be met, yet stated or composed", 100 * misled / unmet, {})
    together = chain.from_iterable(
        _answers_together(machine, texts) for texts in batched(read_stories(TEXTS), _TEXTS_TOGETHER, strict=False)
    )
    yield from _facts_of("texts, six in a base", list(together), {})


def _answers_together(machine: WatchedMachine, texts: Sequence[Passage]) -> Iterator[_Answered]:
    """Yield the answers to requests about texts in one base."""
    head = machine.mounted_texts([text.text for text in texts], "text.txt")
    for text in texts:
        yield from _answers_to_requests(machine, _with_facts(text), head)


def _with_facts(text: Passage) -> Passage:
    """Return a text with only those requests that it can meet."""
    return replace(text, requests=tuple(request for request in text.requests if request.facts))


def _answers_to_requests(machine: WatchedMachine, text: Passage, head: KnowledgeLayer) -> Iterator[_Answered]:
    for request in text.requests:
        reply = machine.ask(request.text, head)
        said = reply.shown if reply.basis in _ASSERTED else ""
        yield _Answered(request, reply, [fact for fact in request.facts if not holds(said, [fact])])


def _facts_of(of: str, answered: Sequence[_Answered], must: Mapping[str, float | None]) -> Iterator[Figure]:
    """Yield how many of six expected facts are in the answers, and how many of six answers contain all of theirs."""
    whole = mean(not item.missing for item in answered)
    yield Figure(f"{of}: expected facts in composed answers", 6 * mean(item.share for item in answered), must, "/6")
    yield Figure(f"{of}: requests composed with every expected fact", 6 * whole, must, "/6")


def _lacking(answered: Sequence[_Answered]) -> Iterator[str]:
    """Yield a line for each answer that lacks a fact."""
    for item in answered:
        if item.missing:
            shown = " / ".join(item.reply.shown.splitlines())
            yield f"  {item.request.text} -> ({item.reply.basis}) {shown} [{item.missing}]"


def _conversations(machine: WatchedMachine, directory: Path, sample: int) -> Iterator[Figure | str]:
    """Yield how often the shown turn is one that answers the question."""
    corpora = [
        corpus
        for path in sorted({path.parent for path in directory.rglob("locomo*.json")})
        for collection in read_collections(path)
        if collection.name == "memory"
        for corpus in collection.corpora
    ]
    gold_count = asserted = misled = 0
    replies: list[Reply] = []
    for corpus in corpora:
        head = mounted(corpus.units)
        for question in sampled(_answerable(corpus), sample * _QUESTIONS_A_PARAGRAPH):
            reply = machine.ask(question.text, head)
            replies.append(reply)
            is_gold = bool(reply.cited & question.gold)
            gold_count += is_gold
            asserted += reply.basis in _ASSERTED and is_gold
            misled += reply.basis in _ASSERTED and not is_gold
    if not replies:
        yield "questions to conversations: skipped, no locomo*.json"
        return
    count = len(replies)
    yield f"conversations: {count} questions, {' '.join(str(len(corpus.units)) for corpus in corpora)} turns"
    yield Figure("conversations: a turn shown is a gold one", 100 * gold_count / count, _must(25))
    yield Figure("conversations: stated, by a gold turn", 100 * asserted / count, {})
    yield Figure("conversations: stated, by another turn", 100 * misled / count, {})
    yield Figure("conversations: processor time of a turn, median", median(item.turn_ms for item in replies), {}, "ms")
    slow = quantiles([item.turn_ms for item in replies], n=20)[-1] if count > 1 else replies[0].turn_ms
    yield Figure("conversations: processor time of a turn, p95", slow, _must(300), "ms", True)


def _pairs(directory: Path, count: int, mode: str) -> Iterator[Figure | str]:
    """Yield how often an unrelated earlier question changes an answer, in real turns."""
    all_matters = matters(directory)
    base = mounted_matters(all_matters)
    yield f"unrelated questions: {count} pairs over {len(all_matters)} texts"
    plugins = {"words": ("kb-fast",), "embeddings": ("kb-balanced", None)}[mode]
    for kb in plugins:
        changed = changes(all_matters, base, count, kb)
        by = kb or "plugins as chosen"
        yield Figure(f"unrelated questions: evidence changed, {by}", 100 * changed.evidence, {})
        yield Figure(f"unrelated questions: answer changed, {by}", 100 * changed.answer, {})
        yield Figure(f"unrelated questions: either, {by}", 100 * changed.either, _must(5), at_most=True)


def _told(show: str | None) -> Iterator[str]:
    """Yield the figures of told facts: of `told.json`, where later messages change some, and of `facts.json`."""
    outcomes = [(item, item.outcome(item.shown())) for item in read_conversations(CHANGING)]
    for wanted, text in (
        ("right", "changing facts: what is shown holds the right value"),
        ("wrong", "changing facts: only an outdated or another one's value is shown"),
    ):
        share = 100 * sum(outcome == wanted for _, outcome in outcomes) / len(outcomes)
        yield Figure(text, share, {}).line("words")
        if show == wanted:
            yield from (f"  {item.messages} {item.question}" for item, outcome in outcomes if outcome == wanted)
    judged = [(item, item.shown()) for item in read_conversations(FACTS)]
    answerable = [(item, shown) for item, shown in judged if item.right is not None]
    right = sum(shown.is_stated and item.holds_right(shown) for item, shown in answerable)
    wrong = sum(shown.is_stated and not item.holds_right(shown) for item, shown in answerable)
    held = sum(item.holds_right(shown) for item, shown in answerable)
    misled = sum(shown.is_stated for item, shown in judged if item.right is None)
    yield Figure("told facts: stated and right", 100 * right / len(answerable), {}).line("words")
    yield Figure("told facts: stated and wrong", 100 * wrong / len(answerable), _must(2), at_most=True).line("words")
    yield Figure("told facts: what is shown holds the right value", 100 * held / len(answerable), {}).line("words")
    share = 100 * misled / (len(judged) - len(answerable))
    yield Figure("not told: stated", share, _must(9), at_most=True).line("words")


def _messages() -> Iterator[str]:
    """Yield for each file of messages a table: a row for what they are, a column for what they are read as."""
    for path in (MESSAGES, TYPED, CUED):
        read_as = messages_read(path)
        right = sum(read_as[kind, kind] for kind in KINDS)
        yield f"{path.stem}: {right} of {read_as.total()} read as what they are"
        yield f"{'':<10}{''.join(f'{kind:>10}' for kind in KINDS)}"
        yield from (f"{kind:<10}{''.join(f'{read_as[kind, other]:>10}' for other in KINDS)}" for kind in KINDS)
    for name, seen in (("looked at", True), ("new", False)):
        read = requests_read(seen=seen)
        counts = ", ".join(f"{kind} {count}" for kind, count in sorted(read.items()))
        yield f"requests, {name}: of {read.total()} read as {counts}"


def _answerable(corpus: Corpus) -> list[TurnQuestion]:
    return [question for question in corpus.questions if question.group in "1234"]


def _suites() -> Iterator[Figure]:
    """Yield the counts of right, wrong and refused answers in the suites of stories/."""
    directories = (("development", DEVELOPMENT), ("further", FURTHER), ("held out", HELD_OUT))
    runs = {name: run_all(load_suites(directory)) for name, directory in directories}
    for name, suite_runs in runs.items():
        counts = tally(item for run in suite_runs for item in run.judgements)
        yield Figure(f"{name}: right of {counts.count}", counts.right, {}, "")
        yield Figure(f"{name}: wrong of {counts.count}", counts.wrong, {}, "")
    every = tally(item for suite_runs in runs.values() for run in suite_runs for item in run.judgements)
    yield Figure(f"all suites: right of {every.count}", every.right, _must(1017), "")
    yield Figure(f"all suites: wrong of {every.count}", every.wrong, _must(5), "", True)


def _shown(question: Question, reply: Reply, show: str | None) -> Iterator[str]:
    """Yield what was answered, if replies with this outcome are to be shown."""
    if show and outcome_of(question, reply) == show:
        gold = " | ".join(dict.fromkeys(question.answers)) or "(the text does not tell)"
        yield f"  {question.text}\n    {reply.basis}: {' / '.join(reply.shown.splitlines())}\n    gold: {gold}"
