"""Score judgements and rewrites of follow-ups by content words."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from statistics import mean

from mrpvm.english.words.text import stem

_STOP = frozenset(
    """a an the and or but if then else of in on at to for from by with about as into over after before between out up
    down is are was were be been being am do does did doing have has had having i you he she it we they me him her us
    them my your his its our their mine yours this that these those there here what which who whom whose when where why
    how not no nor so than too very can could will would shall should may might must just also s t d ll m re ve don isn
    aren wasn weren hasn haven hadn doesn didn won wouldn shouldn couldn""".split()  # noqa: SIM905  easier to read
)
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def content(text: str) -> set[str]:
    """Return the stems of a text's content words."""
    words = (word.partition("'")[0] for word in _WORD.findall(text.lower().replace("\u2019", "'")))
    return {stem(word) for word in words if word and word not in _STOP}


@dataclass
class Rewrites:
    """Rewrites of one data set compared with those of people: missing words, added words, right added words."""

    recalls: list[float] = field(default_factory=list)
    f1s: list[float] = field(default_factory=list)
    added: int = 0
    right: int = 0

    def add(self, message: str, manual: str, rewrite: str) -> None:
        """Add one rewrite."""
        raw, wanted, given = content(message), content(manual), content(rewrite)
        missing, shared = wanted - raw, len(wanted & given)
        if missing:
            self.recalls.append(len(missing & given) / len(missing))
        self.f1s.append(2 * shared / (len(wanted) + len(given)) if shared else 0.0)
        self.added += len(given - raw)
        self.right += len((given - raw) & missing)

    @property
    def figures(self) -> tuple[float, float, float]:
        """Return F1 of content words, recall of missing ones, precision of added ones (0 without any)."""
        return mean(self.f1s), mean(self.recalls), self.right / max(1, self.added)


@dataclass
class Judgements:
    """Judgements whether messages need the earlier ones: `(it does, probability, verdict)`."""

    rows: list[tuple[bool, float, bool]] = field(default_factory=list)

    def add(self, needed: bool, probability: float, verdict: bool) -> None:
        """Add one judgement."""
        self.rows.append((needed, probability, verdict))

    @property
    def balanced_accuracy(self) -> float:
        """Return the balanced accuracy: the mean of the right shares of both classes."""
        by_need = [[verdict is needed for needed, _, verdict in self.rows if needed is kind] for kind in (True, False)]
        return mean(mean(right) for right in by_need if right)

    @property
    def area(self) -> float:
        """Return the area under the ROC curve. Ties count half."""
        needing = [probability for needed, probability, _ in self.rows if needed]
        others = [probability for needed, probability, _ in self.rows if not needed]
        pairs = [(one > other) + 0.5 * (one == other) for one in needing for other in others]
        return mean(pairs) if pairs else 0.5


def by_dataset[Figure](kind: type[Figure]) -> defaultdict[str, Figure]:
    """Return an empty tally for each data set."""
    return defaultdict(kind)
