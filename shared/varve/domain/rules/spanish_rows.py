"""Spanish: what its sentences say, as a table. Read `rule.py` for what a row is."""

from varve.domain.language.statements import Lean
from varve.domain.predicates import FAVOURITE
from varve.domain.rules.rule import (
    OTHER_ALLERGY,
    Row,
    ends,
    ends_if_known,
    gives_name,
    known_as,
    sets,
)
from varve.domain.rules.spanish_words import MOVED, SETTLED

_NOW = "(?:ahora |también |actualmente |ya |)"
_NOT_RANGE = "(?! (?:o|al?|hasta|y) )"

_OVER = "(?:(?:ya )?(?:se me (?:ha|han) (?:pasado|quitado|curado)|se me (?:pasó|quitó|curó)|desapareció|ha desaparecido))"  # noqa: E501
_FOOD = (
    r"(?!(?:más|nada|hoy|aquí|ahí|allí|sol[oa]|fuera|tanto|tan|much[oa]s?|otr[oa]s?|una?|el|la|mi|tu|su|con"
    r"|sin|en|al?|antes|después|hasta|contigo|conmigo|todavía|aún|ahora|bien|tarde|pronto|rápido|todo|toda"
    r"|eso|esto|así|del?|por|para|porque|como|mañana|est[ea]|ni|san[oa]|sentad[oa]|\w+mente)\b)"
    r"(?![^,;:]*\b(?:sin|con|contigo|antes|después|hasta|hoy|mañana|est[ea]|durante|ahora|a las?|en)\b)"
)
"""Begins what a speaker never eats, and no meal or portion."""

_ALL = "(?:todos|todo el mundo|mis amigos|en casa|la gente)"
_SAY = "llaman?"
OTHERS_CALLED = (
    f"(?:(?:{_ALL} )?(?:le|la|lo) (?:{_SAY}|dicen|decimos|llamamos|conocen (?:como|por))"
    "|su (?:apodo|mote) es)"
)
"""How speakers tell the other name of another person."""
# With numbers: `{name}` may not be the name of the speaker, `{name2}` may.
_OWN_NICKNAME = (
    known_as("{full_name2}", "{name2}"), sets("name", "{full_name2}"), sets("goes_by", "{name2}")
)  # fmt: skip

_HIRED = (
    "me (?:han (?:contratado|fichado|cogido)|contrataron|ficharon|cogieron"
    "|acaban de (?:contratar|fichar))"
)
_HIRES = "(?:ya )?me (?:ha (?:contratado|fichado)|contrató|fichó|acaba de (?:contratar|fichar))"


def _tell_contact(noun: str) -> str:
    """Return how speakers begin to tell a number or an address of theirs, also a changed one."""
    own = f"(?:ahora )?mi (?:nuevo )?{noun}(?: nuevo| personal)?(?: ahora)?"
    told = rf"{own}(?: es|(?=:))"
    changed = f"(?:he cambiado|cambié) (?:de|mi) {noun}|mi {noun} ha cambiado"
    gained = f"tengo (?:un )?(?:nuevo {noun}|{noun} nuevo)"
    became = "(?: a|[,:]?(?: (?:y )?(?:ahora )?(?:es|el nuevo es))?)"
    return f"(?:{told}|(?:{changed}|{gained}){became})(?: ahora)?:?"


ROWS = (
    Row(rf"(?:me llamo|mi nombre (?:completo )?es|soy) {{full_name}},? (?:pero |y |aunque )?{_ALL} me {_SAY}"
        r" {name}(?=$|[,;.])",
        "{who} se llama {full_name} y le llaman {name}",
        (known_as("{full_name}", "{name}"), *gives_name("{full_name}"), sets("goes_by", "{name}")),
        0.8, 0.95),
    Row(rf"(?:me llamo|mi nombre (?:completo )?es|soy) {{full_name2}},? (?:pero |y |aunque )?{_ALL} me {_SAY}"
        r" {name2}(?=$|[,;.])",
        "A {full_name2} le llaman {name2}", _OWN_NICKNAME, 0.7, 0.95),
    Row("(?:me llamo|mi nombre (?:completo )?es) {full_name2}(?=$|[,;.]| y | pero )",
        "{who} se llama {full_name2}", gives_name("{full_name2}"), 0.8, 0.95),
    Row("(?:yo )?soy {two_names2}(?=$|,| y )", "{who} se llama {two_names2}",
        gives_name("{two_names2}"), 0.8, 0.85),
    Row("(?:yo )?soy {given_name2}(?=$|,)", "{who} se llama {given_name2}",
        gives_name("{given_name2}"), 0.8, 0.75),
    Row(rf"(?:puedes llamarme|llámame|{_ALL} me {_SAY}) {{name}}(?=$|[,.;])",
        "A {who} le llaman {name}", (known_as("{who}", "{name}"), sets("goes_by", "{name}")), 0.7),
    Row(rf"mi {{kin}}(?: se llama|,)? {{full_name}},? (?:pero |y |aunque )?{_ALL} (?:le|la|lo) {_SAY}"
        " {name}(?=$|[,;.])",
        "{the_kin} de {who} se llama {full_name}; le dicen {name}",
        (known_as("{full_name}", "{name}"), sets("{kin_of}", "{full_name}")), 0.7, 0.95),
    Row(rf"{{name}},? (?:pero |y |aunque )?{OTHERS_CALLED} {{name2}}(?=$|[,;.])",
        "A {name} le llaman {name2}", known_as("{name}", "{name2}"), 0.7, 0.85),
    Row("tengo {age} años{end}", "{who} tiene {age} años", sets("age", "{age}"), 0.6, 0.9),
    Row("(?:hoy |ayer )?(?:ya )?(?:cumplo|cumplí|he cumplido|acabo de cumplir) (?:los )?{age}"
        "(?: años)?(?: hoy| ayer| esta semana| la semana pasada| este mes)?{end}",
        "{who} tiene {age} años", sets("age", "{age}"), 0.6, 0.85, Lean.PAST),
    Row("(?:yo )?soy de {place}{end}", "{who} es de {place}", sets("hometown", "{place}"), 0.6, 0.8),
    Row("(?:yo )?nací en {place}", "{who} nació en {place}", sets("born_in", "{place}"), 0.6),
    # Where
    Row(rf"{MOVED} (?:de|desde) {{place2}} a {{place}}", "{who} se mudó de {place2} a {place} y vive allí",
        sets("lives_in", "{place}", replaces="{place2}"), 0.8, 0.9, Lean.PAST),
    # "Nos mudamos" is present and past alike; only a day that is past tells.
    Row("nos mudamos a {place} {date}", "{who} se mudó a {place} y vive allí", sets("lives_in", "{place}"),
        0.8, 0.85, Lean.PAST),
    Row(rf"{MOVED} a {{place}}",
        "{who} se mudó a {place} y vive allí", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(rf"{SETTLED} en {{place}}(?:{{end}}|,? {{date}})",
        "{who} vive en {place}", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row("nos (?:instalamos|establecimos|asentamos|afincamos) en {place} {date}",
        "{who} vive en {place}", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:yo )?{_NOW}(?:vivo|vivimos) en {{place}}, no en {{place2}}",
        "{who} vive en {place}, no en {place2}",
        sets("lives_in", "{place}", replaces="{place2}"), 0.8, 0.9),
    Row("ya no (?:vivo|vivimos) en {place}",
        "{who} ya no vive en {place}", ends("lives_in", "{place}"), 0.7, 0.9),
    Row(rf"(?:yo )?{_NOW}(?:vivo|vivimos|estoy viviendo|resido)(?: ahora| actualmente)? en {{place}}",
        "{who} vive en {place}", sets("lives_in", "{place}"), 0.8, 0.9),
    Row("(?:me mudo|nos mudamos|me voy a mudar|nos vamos a mudar|me voy a vivir) a {place}",
        "{who} se muda a {place}", (), 0.7, 0.8, Lean.FUTURE),
    Row("antes vivía en {place}", "{who} vivía antes en {place}", ends("lives_in", "{place}"), 0.5, 0.7),
    Row("mi (?:nueva )?dirección(?: nueva)?(?: (?:ahora )?es:?|:) {address}",
        "La dirección de {who} es {address}",
        sets("address", "{address}"), 0.7, 0.9),
    Row(
        _tell_contact("(?:correo|email|e-mail|mail|correo electrónico)") + " {email}",
        "El correo de {who} es {email}", sets("email", "{email}"), 0.7, 0.95),
    Row(
        _tell_contact("(?:número de )?(?:teléfono|móvil|celular|número)") + " (?:el )?{phone}",
        "El teléfono de {who} es {phone}", sets("phone", "{phone}"), 0.7, 0.9),
    Row("mi (?:zona horaria|huso horario) es {zone}", "La zona horaria de {who} es {zone}",
        sets("time_zone", "{zone}"), 0.6, 0.95),
    # Work
    Row(rf"(?:yo )?{_NOW}(?:trabajo|estoy trabajando) (?:en|para) {{company}} como {{job}}",
        "{who} trabaja en {company} como {job}",
        (sets("works_at", "{company}"), sets("works_as", "{job}")), 0.8, 0.9),
    Row("ya no trabajo (?:en|para) {company}",
        "{who} ya no trabaja en {company}", ends("works_at", "{company}"), 0.8, 0.9),
    Row(rf"(?:yo )?{_NOW}(?:trabajo|estoy trabajando) (?:en|para) (?:la empresa )?{{company}}",
        "{who} trabaja en {company}", sets("works_at", "{company}"), 0.8, 0.75),
    Row(rf"(?:yo )?{_NOW}(?:trabajo|estoy trabajando) (?:como|de) {{job}}(?: en {{company}})?",
        "{who} trabaja como {job}{at_company}",
        (sets("works_as", "{job}"), sets("works_at", "{company}")), 0.7, 0.9),
    Row(rf"(?:yo )?{_NOW}soy (?:una? )?{{job}} en {{city}}{{end}}",
        "{who} trabaja como {job} y reside en {city}", sets("works_as", "{job}"), 0.7, 0.8),
    Row(rf"(?:yo )?{_NOW}soy (?:una? |la |el )?{{job}}(?: (?:en|de) {{company}})?",
        "{who} trabaja como {job}{at_company}",
        (sets("works_as", "{job}"), sets("works_at", "{company}")), 0.7, 0.8),
    Row("(?:he empezado|empecé|comencé|he entrado|entré|acabo de (?:empezar|entrar))"
        " (?:a trabajar )?en {company}(?: como {job})?",
        "{who} empezó en {company}{as_job}",
        (sets("works_at", "{company}"), sets("works_as", "{job}")), 0.8, 0.85, Lean.PAST),
    Row(rf"{_HIRED} en (?:la empresa )?{{company}}(?: (?:como|de) {{job}})?",
        "Contrataron a {who} en {company}{as_job}",
        (sets("works_at", "{company}"), sets("works_as", "{job}")), 0.8, 0.85, Lean.PAST),
    # "Me contrató un seguro" is no employment.
    Row(rf"(?:{{company}} {_HIRES}|{_HIRES} {{company2}})(?: (?:como|de) {{job}}"
        "|(?:,? {date})?(?=$|[,;.!]| (?:y|pero) ))",
        "{company}{company2} contrató a {who}{as_job}",
        (sets("works_at", "{company}{company2}"), sets("works_as", "{job}")), 0.8, 0.8, Lean.PAST),
    Row("(?:empiezo|comienzo) (?:a trabajar )?en {company}",
        "{who} empieza en {company}", (), 0.7, 0.8, Lean.FUTURE),
    Row("me (?:han ascendido|ascendieron|han promovido|promovieron) a {job}", "Ascendieron a {who} a {job}",
        sets("works_as", "{job}"), 0.8, 0.9, Lean.PAST),
    Row("mi (?:nuevo )?(?:puesto|cargo|trabajo) es (?:de )?{job}", "El puesto de {who} es {job}",
        sets("works_as", "{job}"), 0.7, 0.9),
    Row("(?:dejé|he dejado|renuncié a|he renunciado a) (?:mi (?:trabajo|puesto|empleo) en )?{company}(?! en)",
        "{who} dejó {company}", ends("works_at", "{company}"), 0.8, 0.75, Lean.PAST),
    Row("(?:dejé|he dejado|perdí|he perdido|renuncié a) (?:mi|el) (?:trabajo|empleo)(?! en)",
        "{who} dejó su trabajo",
        (ends("works_at"), ends("works_as")), 0.8, 0.8, Lean.PAST),
    Row("estudio (?:[a-záéíóúñ]+ )?en (?:la )?{company}",
        "{who} estudia en {company}", sets("studies_at", "{company}"), 0.7, 0.8),
    Row("mi (?:nuev[oa] )?{kin} (?:es|ahora es) {name}{end}", "{the_kin} de {who} es {name}",
        sets("{kin_of}", "{name}"), 0.6, 0.8),
    # Likes
    Row("ya no me (?:gustan?|encantan?|interesan?) (?:el |la |los |las )?{thing}",
        "A {who} ya no le gusta: {thing}",
        (ends("likes", "{thing}"), ends_if_known(FAVOURITE, "{thing}")), 0.6, 0.8),
    Row(rf"(?:a mí )?{_NOW}me {{verb}}(?: mucho| muchísimo)? (?P<article>el |la |los |las )?{{things}}",
        "A {who} le {verb} {article}{things}", sets("likes", "{things}"), 0.5, 0.8),
    Row("(?:odio|detesto|aborrezco) (?P<article>el |la |los |las )?{things}",
        "{who} detesta {article}{things}", sets("dislikes", "{things}"), 0.5, 0.8),
    Row("(?:a mí )?no me {verb} (?:nada )?(?P<article>el |la |los |las )?{things}",
        "A {who} no le {verb} {article}{things}",
        sets("dislikes", "{things}"), 0.5, 0.8),
    Row(rf"{_NOW}mi (?:nuev[oa] )?{{sort}} (?:favorit[oa]|preferid[oa])(?: ahora)? es (?:ahora )?"
        "(?:el |la |los |las )?{thing}",
        "Lo que más le gusta a {who} ({sort}): {thing}", sets("{favourite}", "{thing}"), 0.6, 0.85),
    Row(
        "(?:yo )?prefiero (?P<article>el |la |los |las )?{item} (?:a |antes que |en vez de |{al})"
        "(?P<article2>el |la |los |las )?{thing}",
        "{who} prefiere {article}{item} antes que"
        " {al_article}{article2}{thing}", sets("prefers", "{item}"), 0.6, 0.85),
    Row("(?:yo )?prefiero (?P<article>el |la |los |las )?{thing}", "{who} prefiere {article}{thing}",
        sets("prefers", "{thing}"), 0.6, 0.8),
    Row("(?:por favor,? )?(?:respóndeme|contéstame|responde|contesta|escríbeme) siempre en {language}",
        "{who} quiere las respuestas en {language}", sets("language", "{language_name}"), 0.8, 0.9),
    Row("(?:por favor,? )?(?:respóndeme|contéstame|escríbeme|háblame) en {language}"
        "(?=$|[,.;:!]| (?:por favor|siempre|a partir)\\b)",
        "{who} quiere las respuestas en {language}", sets("language", "{language_name}"), 0.8, 0.85),
    Row("(?:mis pronombres son|uso (?:los )?pronombres) {pronouns}{end}",
        "Los pronombres de {who}: {pronouns}", sets("pronouns", "{pronouns}"), 0.8, 0.95),
    Row("(?:yo )?(?:también )?hablo (?:también )?{languages}(?:{end}|(?= y\\b))", "{who} habla {languages}",
        sets("speaks", "{languages}"), 0.6, 0.85),
    Row("(?:yo )?(?:ya no (?:hablo|sé hablar)|he dejado de hablar|dejé de hablar) (?:ni )?{languages}{end}",
        "{who} ya no habla {languages}",
        (ends("speaks", "{languages}"), ends_if_known("speaks", "{languages_otherwise}")), 0.6, 0.85),
    Row("(?:yo )?no (?:hablo|sé hablar) (?:ni )?{languages}{end}", "",
        (ends_if_known("speaks", "{languages}"), ends_if_known("speaks", "{languages_otherwise}")), 0.6, 0.8),
    Row("(?:estoy aprendiendo|aprendo) {language}", "{who} está aprendiendo {language}",
        sets("learns", "{language}"), 0.5, 0.85),
    # Health and diet
    Row("(?:yo )?(?:ya )?no soy alérgic[oa] (?:a la|a los|a las|al|a) {substances},? (?:sino|solo|sólo)"
        " (?:que )?(?:solo )?(?:a la |a los |a las |al |a )?{allergens}{end}",
        "{who} tiene alergia: {allergens}, y no: {substances}", OTHER_ALLERGY, 0.9, 0.9),
    Row("(?:yo )?soy alérgic[oa] (?:a la|a los|a las|al|a) {allergens},? (?:y )?no (?:a la|a los|a las|al|a)"
        " {substances}{end}",
        "{who} tiene alergia: {allergens}, y no: {substances}", OTHER_ALLERGY, 0.9, 0.9),
    Row(r"(?:(?:yo )?(?:ya )?no (?:soy alérgic[oa]|tengo (?:la |mi |ninguna )?alergia)"
        rf"|{_OVER} (?:la|mi) alergia|(?:la|mi) alergia(?= .* {_OVER}{{end}})) (?:ni )?(?:a la |a los |a las"
        r" |al |a )(?!nada\b|ningun){substances}",
        "{who} ya no tiene alergia: {each_substance}",
        ends("allergic_to", "{each_substance}"), 0.9, 0.9),
    Row(
        "(?:yo )?(?:(?:también|solo|sólo|únicamente) )?soy (?:muy |también |solo |sólo )?"
        "(?P<allergic>alérgic[oa]) (?:(?:solo|sólo|únicamente) )?"
        "(?P<to>(?:tanto )?(?:a la|a los|a las|al|a)) {substances}",
        "{who} es {allergic} {to} {substances}", sets("allergic_to", "{each_substance}"), 0.9, 0.95),
    Row("(?:yo )?(?:solo |sólo )?(?:les? )?tengo (?:mucha )?alergia (?:(?:solo|sólo) )?"
        "(?P<to>(?:tanto )?(?:a la|a los|a las|al|a)) {substances}",
        "{who} tiene alergia {to} {substances}", sets("allergic_to", "{each_substance}"), 0.9, 0.95),
    Row(
        "(?:(?:yo )?soy|mi dieta es) {diet}{end}",
        "{who} es {diet}", sets("diet", "{diet}"), 0.8, 0.9),
    Row("(?:yo )?(?:también )?soy {ill}{end}",
        "{who} tiene {illness}", sets("has_condition", "{illness}"), 0.9, 0.9),
    Row("(?:yo )?(?:también )?(?:tengo|padezco|me han diagnosticado) {condition}{end}",
        "{who} tiene {condition}", sets("has_condition", "{condition}"), 0.9, 0.9),
    Row("(?:yo )?(?:ya )?no (?:soy {ill}|tengo {condition}){end}",
        "{who} no tiene {illness}{condition}", ends("has_condition", "{illness}{condition}"), 0.9, 0.85),
    Row(r"me dan? (?:mucha )?alergia (?P<article>el |la |los |las )(?!(?:lunes|martes|miércoles|jueves"
        r"|viernes|sábados?|domingos?|gente|trabajo)\b){substances}",
        "A {who} le da alergia: {article}{substances}", sets("allergic_to", "{each_substance}"), 0.9, 0.85),
    Row("{allergens} (?:(?:me (?:puede|podría)n? matar|(?:puede|podría)n? matarme)"
        "|me (?:da|dan|provocan?|causan?) (?:urticaria|ronchas|alergia|una reacción alérgica)){end}",
        "{who} tiene alergia: {allergens}", sets("allergic_to", "{allergens}"), 0.9, 0.85),
    Row(rf"(?:yo )?(?:ya |tampoco |)no puedo comer (?:ni (?=.* ni ))?{_FOOD}{{substances}}",
        "{who} no puede comer {substances}", sets("cannot_eat", "{each_substance}"), 0.9, 0.85),
    Row("(?:(?:yo )?no (?:tolero|digiero|puedo (?:tomar|beber))(?: (?:bien|nada|nada bien))? "
        "|(?:yo )?(?:soy intolerante|tengo intolerancia) (?:al|a) ){allergens}{end}",
        "{who} no tolera: {allergens}", sets("cannot_eat", "{allergens}"), 0.9, 0.85),
    Row("(?:yo )?(?:(?:ya )?no (?:soy intolerante|tengo intolerancia) (?:al|a)|ya tolero(?: bien)?)"
        " {allergens}",
        "{who} tolera: {allergens}", ends("cannot_eat", "{allergens}"), 0.9, 0.85),
    Row("(?:yo )?(?:soy (?:también )?cel[ií]ac[oa]|(?:tengo|me han diagnosticado) (?:la )?celiaquía){end}",
        "{who} no puede comer gluten (celiaquía)", sets("cannot_eat", "gluten"), 0.9, 0.9),
    Row(r"(?:yo )?(?:ya )?no soy cel[ií]ac[oa]\b",
        "{who} puede comer gluten (sin celiaquía)", ends("cannot_eat", "gluten"), 0.9, 0.85),
    Row("{allergens} me (?:sientan?|caen?) (?:muy |fatal|mal){end}",
        "{who} no tolera: {allergens}", sets("cannot_eat", "{allergens}"), 0.8, 0.85),
    Row(rf"ya puedo (?:volver a )?comer {_FOOD}{{thing}}",
        "{who} ya puede comer {thing}", ends("cannot_eat", "{thing}"), 0.8, 0.85),
    # Family and pets
    Row("mi {kin} se llama {name}",
        "{the_kin} de {who} se llama {name}", sets("{kin_of}", "{name}"), 0.7, 0.95),
    Row("tengo (?:una? ){kin},? (?:que se llama |llamad[oa] ){name}", "{the_kin} de {who} se llama {name}",
        sets("{kin_of}", "{name}"), 0.7, 0.9),
    Row("(?:mi|nuestr[oa]) {pet} se llama {name}", "{the_pet} de {who} se llama {name}",
        (sets("has_pet", "{name}"), sets("is_a", "{pet_kind}", "{name}")), 0.7, 0.95),
    Row(
        "(?:tengo|tenemos|adopté|adoptamos|hemos adoptado|he adoptado) una? {pet},? (?:que se llama "
        "|llamad[oa] ){name}",
        "{the_pet} de {who} se llama {name}",
        (sets("has_pet", "{name}"), sets("is_a", "{pet_kind}", "{name}")), 0.7, 0.9),
    Row("{name} es mi {kin}{end}", "{the_kin} de {who} es {name}", sets("{kin_of}", "{name}"), 0.7, 0.9),
    Row("(?:estoy casad[oa] con|me casé con) {name}", "{who} está en matrimonio con {name}",
        sets("married_to", "{name}"), 0.7, 0.9, Lean.PAST),
    Row(r"\bmi {kin},? {name}(?! (?:y|o) (?!yo\b))", "{the_kin} de {who} se llama {name}",
        sets("{kin_of}", "{name}"), 0.6, 0.85, anywhere=True),
    Row(r"\bmi {pet},? {name}(?! (?:y|o) (?!yo\b))", "{the_pet} de {who} se llama {name}",
        (sets("has_pet", "{name}"), sets("is_a", "{pet_kind}", "{name}")), 0.6, 0.85, anywhere=True),
    Row("mi {kin} {name} vive en {place}",
        "{the_kin} de {who}, {name}, vive en {place}",
        sets("lives_in", "{place}", "{name}"), 0.6, 0.85, Lean.PAST),
    Row("mi {kin} {name} (?:ya |)se (?:ha mudado|mudó) a {place}",
        "{the_kin} de {who}, {name}, se mudó a {place} y vive allí",
        sets("lives_in", "{place}", "{name}"), 0.6, 0.85, Lean.PAST),
    Row("mi {kin} {name} (?:es (?:muy )?alérgic[oa]|tiene (?:mucha )?alergia) (?P<to>a la|a los|a las|al|a)"
        " {substances}",
        "{the_kin} de {who}, {name}, tiene alergia {to} {substances}",
        sets("allergic_to", "{each_substance}", "{name}"), 0.8, 0.9),
    Row("mi {kin} {name} (?:ya )?no (?:es alérgic[oa]|tiene alergia) (?P<to>a la|a los|a las|al|a)"
        r" (?!nada\b|ningun){substances}",
        "{the_kin} de {who}, {name}, ya no tiene alergia {to} {substances}",
        ends("allergic_to", "{each_substance}", "{name}"), 0.9, 0.9),
    # Dates
    Row("mi cumple(?:años)? es {birthdate}",
        "El cumpleaños de {who} es el {day_name}", sets("birthday", "{birthday}"),
        0.8, 0.95, Lean.FUTURE),
    Row("(?:yo )?nací {birthdate}", "El cumpleaños de {who} es el {day_name}", sets("birthday", "{birthday}"),
        0.8, 0.95, Lean.PAST),
    Row("{birthdate} es mi cumple(?:años)?",
        "El cumpleaños de {who} es el {day_name}", sets("birthday", "{birthday}"),
        0.8, 0.9, Lean.FUTURE),
    Row("el cumpleaños de mi {kin} {name} es {birthdate}",
        "El cumpleaños de {name} ({kin} de {who}) es el {day_name}",
        (sets("{kin_of}", "{name}"), sets("birthday", "{birthday}", "{name}")), 0.7, 0.9, Lean.FUTURE),
    Row("el cumpleaños de mi {kin} es {birthdate}",
        "El cumpleaños de {kin_with_article} de {who} es el {day_name}",
        sets("birthday", "{birthday}", "{whose} {kin_english}"), 0.7, 0.9, Lean.FUTURE),
    Row(rf"mi {{event}} {{set_for}} {{date}}(?: {{time}})?{_NOT_RANGE}",
        "{the_event} de {who} {set_for} {date}{at_time}",
        (), 0.7, 0.85, Lean.FUTURE),
    Row(rf"(?P<the>el|la) {{event}} {{set_for}} {{date}}(?: {{time}})?{_NOT_RANGE}",
        "{the_event} {set_for} {date}{at_time}", (), 0.6, 0.8, Lean.FUTURE),
    Row(rf"(?:tengo|tenemos) (?P<article>una? )?{{event}} {{date}}(?: {{time}})?{_NOT_RANGE}",
        "{who} tiene {article}{event} {date}{at_time}", (), 0.7, 0.85, Lean.FUTURE),
    Row(rf"(?:vuelo|volamos|viajo|viajamos) a {{place}} {{date}}(?: {{time}})?{_NOT_RANGE}",
        "{who} viaja a {place} {date}{at_time}", (), 0.7, 0.85, Lean.FUTURE),
    # Numbers with a label
    Row(r"\bmi (?P<what>(?:(?:número|código|referencia) (?:de |del ))?{labels}) es:? (?:el |la )?{any_code}",
        "{who} indicó su {what}: {any_code}", (), 0.6, 0.9, anywhere=True),
    Row(
        r"\b(?P<what>{labels})(?: (?:número|n[º°]|nº|núm\.?|con código|código))?(?: es| era)?:? (?:el |la"
        r" )?{code}",
        "{who} mencionó {what} {code}", (), 0.6, 0.9, anywhere=True),
    Row(r"\b(?P<what>{labels}) (?:(?:número|n[º°]|núm\.?|es|es el|es la):? |#){number}",
        "{who} mencionó {what} {number}", (), 0.6, 0.85, anywhere=True),
)  # fmt: skip
