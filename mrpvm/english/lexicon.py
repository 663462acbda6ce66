"""Closed word classes of English that several rules share.

Only classes of the language itself are listed here: function words, auxiliaries, irregular verb forms, calendar and
number words. Nothing in this file may come from a particular text.
"""


def word_class(listing: str) -> frozenset[str]:
    """Return the words of a listing as a set."""
    return frozenset(listing.split())


INTERROGATIVES = word_class("who whom whose what which where when why how")
AUXILIARIES = word_class(
    "is are was were am be do does did can could would should will shall has have had may might must"
)
BE_FORMS = word_class("is are was were am be been being")
DO_FORMS = word_class("do does did")
HAVE_FORMS = word_class("has have had having")
MODALS = word_class("can could would should will shall may might must")
DETERMINERS = word_class(
    "the a an this that these those my your his her its our their all each every any some no both either neither"
)
POSSESSIVES = word_class("my your his her its our their mine yours hers ours theirs")
SPEAKERS = word_class("i me you we us")
"""Pronouns that name a partner of the conversation: they are arguments, not references back."""
REFERRING_PRONOUNS = word_class("he she it they him them his her its their this these that those")
PREPOSITIONS = word_class(
    "in on at of to from by with without for about into onto through across over under above below between among near "
    "behind beside before after during until since against along around inside outside toward towards beyond upon "
    "within per via off despite except"
)
CONJUNCTIONS = word_class("and or but nor so yet because although though while whereas if unless whether")
CONNECTIVES = word_class("meanwhile however furthermore moreover also then next after before during")
"""Words that tie a sentence to the one before it."""
NEGATIONS = word_class(
    "not no never none nobody nothing neither nor cannot nowhere hardly n't don't doesn't didn't isn't aren't wasn't "
    "weren't can't couldn't won't wouldn't shouldn't hasn't haven't hadn't mustn't"
)
MONTHS = word_class("january february march april may june july august september october november december")
WEEKDAYS = word_class("monday tuesday wednesday thursday friday saturday sunday")
AUDIENCE = word_class("guest visitor customer user participant passenger person people")
"""Whom a document speaks to when it names nobody else."""
NO_PLACES = word_class("request demand average time advance general foot loan")
"""Nouns that say no place behind a preposition: "on request"."""
COLOURS = word_class(
    "black white red green blue yellow orange purple violet pink brown grey gray silver gold golden turquoise cyan "
    "magenta beige crimson scarlet teal maroon navy indigo amber"
)
NUMBER_WORDS = word_class(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen "
    "half twice once"
)
TIME_WORDS = (
    word_class(
        "today yesterday tomorrow tonight morning afternoon evening night midnight noon dawn dusk sunrise sunset "
        "spring summer autumn winter weekend weekends daily weekly monthly yearly annually hourly now later soon "
        "earlier second seconds minute minutes hour hours day days week weeks month months year years decade decades "
        "century centuries o'clock am pm"
    )
    | MONTHS
    | WEEKDAYS
)

STOP_WORDS = (
    INTERROGATIVES
    | AUXILIARIES
    | BE_FORMS
    | HAVE_FORMS
    | DETERMINERS
    | POSSESSIVES
    | SPEAKERS
    | REFERRING_PRONOUNS
    | CONJUNCTIONS
    | NEGATIONS
    | word_class(
        "in on at of to from by with for about into onto as than then there here too very just also such own same so "
        "doing ever i'm i've i'd i'll you're you've you'd you'll he's she's it's we're we've they're they've let's "
        "that's who's what's where's when's how's why's there's here's myself yourself himself herself itself "
        "ourselves themselves one's etc please"
    )
)
"""Words that never help to find a unit."""

_IRREGULAR_VERBS = """
arise arose arisen|awake awoke awoken|bear bore borne born|beat beaten|become became|begin began begun|bend bent
bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt
buy bought|catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|draw drew drawn
dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought
find found|flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden
hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left
lend lent|lose lost|make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran
say said|see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot
show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken
spend spent|spill spilt|spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung
strike struck stricken|strive strove striven|swear swore sworn|sweep swept|swim swam swum|swing swung
take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown|understand understood
wake woke woken|wear wore worn|weave wove woven|weep wept|win won|withdraw withdrew withdrawn|write wrote written
"""
_IRREGULAR_PLURALS = "man men|woman women|child children|foot feet|tooth teeth|mouse mice|goose geese|person people"


def _by_form(table: str) -> dict[str, str]:
    return {
        form: base
        for entry in table.replace("\n", "|").split("|")
        if entry.strip()
        for base, *forms in [entry.split()]
        for form in forms
    }


PAST_FORMS = _by_form(_IRREGULAR_VERBS)
"""Irregular past forms and participles with their base form."""
BASE_FORMS = PAST_FORMS | _by_form(_IRREGULAR_PLURALS)
"""Irregular inflections and their base form, which a suffix stemmer cannot bring together."""

_SYNONYMS = """
call name title dub|sell vend|live reside dwell inhabit|begin start commence|buy purchase acquire|big large
small little tiny|child kid|repair fix mend|build construct erect|employ hire|help assist aid|find discover
get obtain receive|own possess|make produce manufacture|show display|quick fast rapid|happy glad|sick ill
car automobile|end finish conclude|choose select|hide conceal|allow permit
forbid prohibit ban|doctor physician|error mistake|stop halt cease|shut close|cause trigger|need require
keep store|job occupation profession|clinic hospital|bicycle bike|photo photograph
television tv|refrigerator fridge|mum mom mummy|dad daddy
"""
_SPELLINGS = """
colour color|favourite favorite|neighbour neighbor|harbour harbor|labour labor|honour honor|behaviour behavior
flavour flavor|humour humor|centre center|theatre theater|metre meter|litre liter|fibre fiber|kilometre kilometer
grey gray|programme program|catalogue catalog|dialogue dialog|jewellery jewelry|aluminium aluminum|tyre tire
organise organize|recognise recognize|apologise apologize|analyse analyze|licence license|defence defense
traveller traveler|cancelled canceled|cancelling canceling|mum mom|pyjamas pajamas|storey story|cosy cozy
"""
SPELLINGS: tuple[tuple[str, str], ...] = tuple(
    (pair.split()[0], pair.split()[1]) for line in _SPELLINGS.strip().splitlines() for pair in line.split("|")
)
"""Words with two spellings."""
SYNONYMS: dict[str, str] = {other: one for one, other in SPELLINGS} | {
    word: group.split()[0]
    for group in _SYNONYMS.replace("\n", "|").split("|")
    if group.strip()
    for word in group.split()
}
"""Words of general English that say the same where a question meets a statement; each maps to one of its group."""

ATTITUDE_VERBS = word_class(
    "think believe hope want wish plan intend try attempt promise claim say fear dream pretend expect consider doubt "
    "suspect guess assume suppose rumour rumor allege refuse deny suggest propose"
)
"""Verbs whose object is not thereby a fact."""
PERSON_WORDS = word_class(
    "man woman boy girl child person mother father sister brother son daughter wife husband friend uncle aunt king "
    "queen prince princess doctor nurse captain colleague neighbour neighbor boss team crew people everyone "
    "police chief someone"
)
BELONGING = word_class(
    "german french english american british italian spanish swiss austrian dutch belgian danish swedish norwegian "
    "finnish polish czech greek turkish russian ukrainian portuguese irish scottish welsh canadian mexican brazilian "
    "chinese japanese korean indian african european asian australian catholic protestant christian muslim jewish "
    "hindu buddhist"
)
"""Words with a capital behind "I am" that name nobody."""
NOW_WORDS = word_class("now currently nowadays meanwhile")
PARTIAL_ADVERBS = word_class("only almost nearly hardly sometimes rarely seldom usually often mostly partly")
"""Adverbs with which something is less than so."""
ALTERING = word_class("deputy vice acting former previous ex future interim honorary would-be assistant")
"""Words before a noun that make it another: a deputy manager is no manager."""
_EITHER_OR = """
open closed|open shut|on off|alive dead|true false|locked unlocked|safe unsafe|possible impossible|legal illegal
allowed forbidden|active inactive|enabled disabled|visible invisible|inside outside|married single|public private
mandatory optional|compulsory optional|compulsory voluntary|mandatory voluntary|included excluded|valid invalid
available unavailable|online offline|temporary permanent|correct incorrect|correct wrong|asleep awake|present absent
broken intact|same different
"""
_OPPOSITE_ENDS = """
hot cold|warm cold|full empty|safe dangerous|early late|new old|young old|big small|large small|high low|long short
strong weak|wet dry|clean dirty|fast slow|cheap expensive|increase decrease|rise fall|win lose|left right|above below
before after|up down|north south|east west|more less|first last|always never|advantage disadvantage|deep shallow
wide narrow|thick thin|heavy light|loud quiet|easy difficult
"""


def _contraries(table: str) -> dict[str, frozenset[str]]:
    pairs = [tuple(pair.split()) for line in table.strip().splitlines() for pair in line.split("|")]
    return {
        word: frozenset(other for pair in pairs if word in pair for other in pair if other != word)
        for pair in pairs
        for word in pair
    }


COMPLEMENTS = _contraries(_EITHER_OR)
"""Words of which one holds where the other does not: what is not open is closed."""
ANTONYMS = {
    word: COMPLEMENTS.get(word, frozenset()) | ends
    for word, ends in (COMPLEMENTS | _contraries(_OPPOSITE_ENDS)).items()
}
"""Words that exclude each other when said of the same thing."""
