"""Words that say little about what a text is about, in the languages whose endings are stripped."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are parted by blanks."""
    return frozenset(text.split())


ENGLISH = word_set(
    "a about after again all also am an and any are aren as at be because been before being both but "
    "by can cannot could couldn d did didn do does doesn doing don during each few for from further "
    "get gets got had hadn has hasn have haven having he her here hers herself him himself his how i "
    "if in into is isn it its itself just ll m may me might more most must my myself no nor not now "
    "of off on once only or other our ours ourselves out over own re s same shall she should shouldn "
    "so some such t than that the their theirs them themselves then there these they this those "
    "through to too under until up us ve very was wasn we were weren what when where which while who "
    "whom whose why will with won would wouldn you your yours yourself yourselves "
)
SPANISH = word_set(
    "a al algo algun alguna algunas alguno algunos ante antes aquel aquella aqui asi aun aunque bajo "
    "bien cada como con contra cual cuales cuando cuanto cuantos de del desde donde dos durante e el "
    "ella ellas ello ellos en entre era eran eres es esa esas ese eso esos esta estaba estan estas "
    "este esto estos estoy fue fueron fui ha habia han has hasta hay he hemos la las le les lo los "
    "mas me mi mia mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otro para pero "
    "poco por porque pues que quien quienes se sea ser si sido sin sobre somos son soy su sus suya "
    "tal tambien tan tanto te tengo ti tiene tienen todo todos tu tus tuvo un una unas uno unos usted "
    "ustedes va vamos van vosotros voy y ya yo "
)
STOP_WORDS = ENGLISH | SPANISH
ADDRESSING = word_set(
    "you your yours yourself u tu tus te ti usted ustedes vos vosotros vuestro"
)
"""Words by which a speaker speaks of the listener and not of what happened."""
