"""Verbs of general English in their base form, with what the regular endings make of them.

A word of this list can be a verb; whether it is one where it stands, its sentence decides. As everywhere in the
lexicon, nothing may come from a particular text.
"""

from mrpvm.english.lexicon import AUXILIARIES, BE_FORMS, HAVE_FORMS, PAST_FORMS, word_class
from mrpvm.text_cache import TextCache

COMMON_VERBS = word_class(
    "abandon abolish absorb accept accompany achieve acquire act adapt add adjust admire admit adopt advance advise "
    "affect afford agree aim allow amount announce answer apologise apologize appeal appear applaud apply appoint "
    "appreciate approach approve argue arrange arrest arrive ask assemble assign assist assume attach attack attempt "
    "attend attract avoid award bake ban bark base bathe be bear beat become beg begin behave believe belong bend "
    "bind bite blame bleed bless blink block blow board boil book borrow bounce break breathe breed bring broadcast "
    "brush build burn bury buy calculate call calm cancel care carry carve catch cause celebrate change charge "
    "chase chat cheat check cheer chew choose chop claim clap clean clear click climb cling close collapse collect "
    "combine come comfort command comment commit communicate compare compete complain complete compose conceal concern "
    "conclude conduct confess configure confirm confuse connect consider consist construct consult consume contact "
    "contain continue contribute control convert convince cook cool copy correct cost count cover crash crawl create "
    "creep criticise criticize cross cry cure curl cut damage dance deal decay deceive decide declare decline decorate "
    "decrease defeat defend delay delete deliver demand demolish deny depart depend deposit descend describe deserve "
    "design desire destroy detach detect determine develop devote die differ dig direct disagree disappear disappoint "
    "discharge discourage discover disable discuss disconnect dislike dismiss display disturb dive divide divorce "
    "donate double doubt download drag drain draw dream dress drift drink drive drop drown dry earn eat edit educate "
    "elect eliminate embarrass emerge employ empty enable encourage end enforce enjoy enlarge enrol enroll ensure "
    "enter entertain equip escape establish estimate evaluate evaporate examine exceed exchange excuse exempt exhibit "
    "exist expand expect expel expire explain explode explore export expose express extend face fade fail faint fall "
    "fasten favour favor fear feed feel fetch fight fill film filter find finish fire fit fix flash flee float flood "
    "flow fly fold follow forbid force forget forgive form found freeze frighten fry gain gather generate get give "
    "glow glue go govern grab grant greet grind grip grow guarantee guard guess guide hand handle hang happen harm "
    "harvest hate have head heal hear heat help hesitate hide hire hit hold hope hunt hurry hurt identify ignore "
    "illustrate imagine import impose impress improve include increase indicate inform inherit injure insert insist "
    "inspect inspire install instruct insult insure intend introduce invent invest investigate invite involve iron "
    "irritate isolate issue join joke judge jump justify keep kick kill kiss kneel knit knock know label lack land "
    "last laugh launch lay lead leak lean leap learn lease leave lend let lie lift light like limit list listen live "
    "load lock look lose love lower maintain make manage manufacture march mark marry master match matter mean "
    "measure meet melt mend mention mind miss mix monitor mount mourn move multiply murder need negotiate nest notice "
    "notify number obey object observe obtain occupy occur offer open operate oppose order organise organize overheat "
    "overlook owe own pack paint park part participate pass pause pay perform permit persuade phone photograph pick "
    "place plan plant play please plug point polish possess postpone pour practise practice praise pray preach "
    "predict prefer prepare present preserve press pretend prevent print proceed process produce prohibit promise "
    "promote propose protect protest prove provide publish pull pump punish purchase push put qualify quarrel "
    "question queue quit rain raise reach react read realise realize rebuild recall receive recognise recognize "
    "recommend record recover reduce refer reflect refuse register regret reject relate relax release rely remain "
    "remember remind remove renew rent reopen repair repeat replace reply report represent request require rescue "
    "reserve reset reside resign resist respect respond restart restore result retain retire retreat return reveal "
    "review reward ride ring rinse rise roar rob roll rot rub ruin rule run rush rust sail save say scan scare "
    "scatter scold score scratch scream seal search see seek seem seize select sell send separate serve set settle "
    "sew shake share shelter shine shoot shop shout show shrink shut sigh sign signal sing sink sit skip sleep slide "
    "slip slow smell smile smoke snow solve sound spare speak specify spell spend spill spin split spoil spray spread "
    "stack stand stare start state stay steal steer step stick sting stir stitch stop store strengthen stretch strike "
    "strip struggle study submit succeed suffer suggest suit supervise supply support suppose surprise surrender "
    "surround survey survive suspect suspend swallow swear sweep swim swing switch take talk taste teach tear tell "
    "tempt test thank think threaten throw tie tighten touch tour tow trace trade train transfer translate transport "
    "trap travel treat tremble trigger trust try turn type understand undertake unload unlock unplug unpack unscrew "
    "untie update upgrade upset urge use vanish vary verify visit vote wait wake walk wander want warm warn wash "
    "waste watch water wave wear weave weigh welcome whisper whistle win wind wipe wish withdraw wonder work worry "
    "wrap wreck write yell"
)


def _s_form(base: str) -> str:
    if base.endswith(("s", "sh", "ch", "x", "z")) or base in ("go", "do"):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2:-1] not in "aeou" else base + "s"


PREDICATE_ADJECTIVES = word_class(
    "valid free open closed available ready responsible empty full safe dangerous expensive cheap possible necessary "
    "required liable absent present ill sick tired hungry alive dead busy late early old new young happy sad angry "
    "afraid heavy light high low long short wide deep warm cold hot wet dry clean dirty vacant broken able unable "
    "exempt optional mandatory compulsory correct wrong right true false important useful eligible due binding "
    "worth welcome"
)
"""Adjectives that often stand behind a form of be: in a question they follow the subject without any mark."""


S_FORMS = {_s_form(base): base for base in COMMON_VERBS - {"be", "have"}}
S_FORM_OF = {base: form for form, base in S_FORMS.items()} | {"have": "has", "do": "does"}


@TextCache
def verb_forms(word: str) -> frozenset[str]:
    """Return what a lower-case word can be as a verb: "base", "s", "past" or "ing"; empty if it is none.

    Regular endings make verbs of unknown words too: "amputated" is a past form whether or not the list has "amputate".
    """
    if word in AUXILIARIES or word in BE_FORMS or word in HAVE_FORMS or not word.isalpha():
        return frozenset()
    found = set()
    if word in COMMON_VERBS:
        found.add("base")
        if word in _SAME_PAST:
            found.add("past")
    if word in S_FORMS:
        found.add("s")
    if word in PAST_FORMS or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST):
        found.add("past")
    if word.endswith("ing") and len(word) > 4 and word not in _NOT_ING:
        found.add("ing")
    return frozenset(found)


_SAME_PAST = word_class(
    "cut put set let hit hurt shut cost read spread split quit beat broadcast upset reset burst run come become"
)
"""Verbs whose past form is their base form."""
_NOT_PAST = word_class(
    "indeed hundred speed sacred naked wicked seed shed biped need feed weed reed deed heed breed bleed sled fled "
    "shred red bed kindred greed steed creed tweed bred"
)
_NOT_ING = word_class(
    "thing something anything nothing everything evening morning king ring spring string wing during ceiling sibling "
    "darling sterling pudding wedding building"
)
