"""Why no statement answers a question: what the closest one lacks."""

from mrpvm.english.asking import asked_by
from mrpvm.english.discourse import Discourse
from mrpvm.english.reading import read


def refusal(question: str, discourse: Discourse) -> str:
    """Return what decided that a question has no answer in a discourse."""
    wanted = {word.sense: word.text for word in read(question).words if not word.is_pronoun}
    known = [told.statement.reading.senses for told in discourse.told]
    closest = max(known, key=lambda senses: len(senses & wanted.keys()), default=frozenset[str]())
    if not closest & wanted.keys():
        return "refused: no sentence names what is asked"
    lacking = [text for sense, text in wanted.items() if sense not in closest]
    if lacking:
        return f"refused: the closest sentence does not name {', '.join(lacking[:3])}"
    if asked_by(question) is None:
        return "refused: no rule reads a question of this form"
    return "refused: a sentence names all that is asked, no rule fits"
