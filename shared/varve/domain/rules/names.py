"""Closed classes of words that the rules rely on: places, jobs, languages, words of no value."""

from collections.abc import Iterable


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split("|"))


DEPARTMENTS = _set(
    "marketing|sales|logistics|accounting|procurement|facilities|security|compliance|infrastructure"
    "|data|engineering|product|finance|hr|support|operations|legal|design|research|management|ventas"
    "|finanzas|logística|contabilidad|informática|recursos humanos|compras|operaciones"
)
NOT_PLACES = _set(
    "linux|windows|mac|macos|ubuntu|debian|android|ios|iphone|chrome|firefox|safari|edge|gmail"
    "|outlook|slack|teams|zoom|discord|telegram|whatsapp|signal|notion|obsidian|jira|trello|asana"
    "|linear|github|gitlab|bitbucket|docker|kubernetes|terraform|aws|azure|gcp|google|microsoft|apple"
    "|amazon|python|java|kotlin|swift|rust|go|golang|ruby|php|javascript|typescript|react|vue|angular"
    "|svelte|node|postgres|postgresql|mysql|sqlite|mongodb|redis|kafka|vim|neovim|emacs|vscode|vs"
    "|excel|sheets|word|dropbox|spotify|netflix|plan|phase|step|part|section|chapter|version|option"
    "|tab|page|row|column|level|room|table|group|building|pro|premium|enterprise|team|monday|cloud"
    "|done|review|progress|in progress|backlog|trash|spam|inbox|archive|drafts|production|staging"
    "|claude|chatgpt|gpt|openai|sql|api|html|css|markdown|pdf|csv|ci|it|qa|icu"
)
NOT_EMPLOYERS = _set(
    "home|night|nights|day|days|weekends|christmas|easter|height|sea|school|university|college|hospital"
    "|freelance|remote|remotely|linux|windows|python|java|excel|monday|pm|am|covid|cet|utc|gmt|est|pst|casa"
)
PLACES = _set(
    "madrid|barcelona|valencia|sevilla|zaragoza|málaga|bilbao|granada|murcia|alicante|vigo|gijón|oviedo|cádiz"
    "|córdoba|valladolid|santander|salamanca|lisboa|oporto|porto|lisbon|london|londres|paris|parís|berlin"
    "|berlín|múnich|munich|hamburgo|frankfurt|roma|rome|milán|milan|nápoles|turín|viena|vienna|zúrich|zurich"
    "|ginebra|geneva|bruselas|brussels|ámsterdam|amsterdam|rotterdam|dublín|dublin|edimburgo|edinburgh|praga"
    "|prague|varsovia|warsaw|budapest|atenas|athens|estocolmo|stockholm|oslo|copenhague|copenhagen|helsinki"
    "|moscú|estambul|istanbul|tokio|tokyo|pekín|beijing|shanghái|shanghai|singapur|singapore|sídney|sydney"
    "|melbourne|toronto|montreal|vancouver|nueva york|new york|boston|chicago|los ángeles|los angeles|miami"
    "|seattle|austin|denver|san francisco|washington|méxico|ciudad de méxico|guadalajara|monterrey|bogotá"
    "|medellín|cali|lima|quito|guayaquil|santiago|buenos aires|rosario|mendoza|montevideo|asunción|la paz"
    "|caracas|la habana|san josé|panamá|são paulo|rio de janeiro|río de janeiro|españa|spain|portugal|francia"
    "|france|italia|italy|alemania|germany|suiza|switzerland|austria|bélgica|belgium|holanda|irlanda|ireland"
    "|inglaterra|england|escocia|scotland|reino unido|uk|eeuu|estados unidos|usa|us|canadá|canada|argentina"
    "|chile|perú|peru|colombia|ecuador|uruguay|paraguay|bolivia|venezuela|cuba|brasil|brazil|japón|japan"
    "|lugo|león|burgos|palencia|zamora|ávila|segovia|soria|logroño|pamplona|vitoria|san sebastián|a coruña"
    "|la coruña|ourense|pontevedra|santiago de compostela|huesca|teruel|lleida|girona|tarragona|castellón"
    "|cuenca|toledo|ciudad real|albacete|badajoz|cáceres|mérida|huelva|jaén|almería|palma de mallorca|ibiza"
    "|tenerife|elche|florencia|florence|venecia|venice|lyon|marsella|cracovia|gante|ghent|amberes|antwerp"
    "|utrecht|leeds|manchester|liverpool|bristol|glasgow|cardiff"
    "|china|india|australia|europa|europe|galicia|asturias|cataluña|andalucía|el centro|polonia|suecia"
)

LIKE_NATIONS = _set(
    "adrian|bess|brian|christian|cristian|damian|dean|dorian|duncan|elian|fabian|florian|gillian|jean|jess"
    "|jillian|julian|kian|lilian|lillian|lucian|marian|ross|russ|sean|sebastian|tess|trish|vivian"
)
"""Given names that end as nationalities do."""

NOT_GIVEN_NAMES = _set(
    "catholic|muslim|hindu|buddhist|sikh|protestant|baptist|mormon|atheist|agnostic|evangelical|orthodox"
    "|quaker|methodist|sunni|shia|democrat|tory|labour|marxist|aries|taurus|gemini|cancer|virgo|libra"
    "|scorpio|sagittarius|capricorn|aquarius|pisces|tauro|géminis|cáncer|escorpio|sagitario|capricornio"
    "|acuario|piscis|black|white|latino|latina|latinx|hispanic|arab|kurd|iraqi|israeli|pakistani|bangladeshi"
    "|saudi|kuwaiti|qatari|emirati|nepali|filipino|filipina|afghan|kazakh|uzbek|swede|turk|scot|brit"
    "|spaniard|pole|serb|croat|slav|ok|okay|done|fine|tired|new|home|vegan|vegetarian|pescatarian|diabetic"
    "|coeliac|celiac|premium|pro|admin|staff|support|user|customer|mom|mum|dad|mother|father|gen|millennial"
    "|boomer|monday|tuesday|wednesday|thursday|friday|saturday|sunday|dios|erasmus|internet"
)
"""Words with a capital after "I'm" that tell what a speaker is, not a name."""

UNSTABLE = _set(
    "i|me|my|mine|myself|we|us|our|ours|you|your|yours|it|its|this|that|these|those|they|them|their|he|him"
    "|his"
    "|she|her|hers|here|there|what|which|who|how|when|where|why|whatever|everything|something|anything"
    "|nothing"
    "|someone|anyone|all|both|either|neither|none|one|ones|option|options|version|first|second|third|former"
    "|latter|last|next|same|other|idea|ideas|approach|suggestion|draft|answer|plan|way|thing|things|stuff|not"
    "|never|more|most|less|idk|lol|the|such|so|if"
    "|yo|mí|tú|ti|usted|él|ella|ello|eso|esto|esa|ese|aquello|esta|este|estas|estos|esas|esos|lo|la|las|los"
    "|le"
    "|les|nos|te|se|tu|tus|su|sus|mi|mis|nuestro|nuestra|qué|que|cómo|cuando|cuándo|donde|dónde|todo|toda"
    "|todos"
    "|nada|algo|alguien|nadie|así|opción|versión|primera|primero|segunda|segundo|tercera|otra|otro|misma"
    "|mismo"
    "|respuesta|propuesta|manera|forma|cosa|cosas|aquí|allí|allá|ahí|cual|ambos|ambas|ninguno|ninguna|no|más"
)
"""A value with one of these words in it leans on the conversation around it."""

MODIFIERS_OF_NO_JOB = _set(
    "former|retired|ex|aspiring|wannabe|would-be|future|amateur|hobby|good|great|bad|terrible|lousy|better"
    "|best"
    "|worse|fake|not|huge|big|born|self-proclaimed|bit|trained|fan|son|daughter|wife|husband|friend|client|no"
    "|never|your|his|her|their|kind|sort|such|potential|unemployed|failed|real|true|natural|ex-"
)
JOBS_EN = (
    "accountant|actor|actress|actuary|administrator|advisor|adviser|analyst|animator|anesthesiologist"
    "|apprentice"
    "|archaeologist|architect|archivist|artist|assistant|astronomer|attorney|auditor|author|baker|banker"
    "|barber|barista|bartender|biologist|bookkeeper|bricklayer|broker|builder|butcher|buyer|captain"
    "|cardiologist"
    "|caregiver|carpenter|cashier|chef|chemist|cleaner|coach|composer|consultant|contractor|controller"
    "|coordinator|copywriter|counselor|counsellor|curator|dancer|dentist|dermatologist|designer|dev|developer"
    "|dietitian|director|doctor|economist|editor|electrician|engineer|entrepreneur|estimator|executive|farmer"
    "|filmmaker|firefighter|fisherman|florist|founder|gardener|geologist|geophysicist|guide|hairdresser"
    "|historian|illustrator|instructor|interpreter|investigator|janitor|jeweler|journalist|judge|lawyer|lead"
    "|lecturer|librarian|linguist|locksmith|machinist|manager|mason|mathematician|mechanic|midwife|miner"
    "|musician|neurologist|notary|nurse|nutritionist|optician|optometrist|painter|paralegal|paramedic|pastor"
    "|pathologist|pediatrician|pharmacist|photographer|physician|physicist|physiotherapist|pilot|plumber"
    "|policeman|postdoc|potter|principal|producer|professor|programmer|psychiatrist|psychologist|radiologist"
    "|realtor|receptionist|recruiter|reporter|researcher|sailor|scientist|sculptor|secretary|social worker"
    "|sociologist|soldier|specialist|statistician|strategist|supervisor|surgeon|surveyor|tailor|teacher"
    "|technician|technologist|tester|therapist|translator|tutor|undertaker|veterinarian|vet|waiter|waitress"
    "|warden|welder|writer|cto|ceo|cfo|coo|sre|head of [a-z]+(?: [a-z]+)?|vp of [a-z]+|chief [a-z]+ officer"
)
JOBS_ES = (
    "abogad[oa]|actor|actriz|administrador[a]?|administrativ[oa]|albañil|analista|arquitect[oa]|artista"
    "|asesor[a]?"
    "|auditor[a]?|autor[a]?|bailarín|bailarina|bibliotecari[oa]|biólog[oa]|bomber[oa]|cajer[oa]|camarer[oa]"
    "|camioner[oa]|carpinter[oa]|científic[oa](?: de datos)?|ciruj?an[oa]|cociner[oa]|comercial"
    "|consultor[a]?|contable"
    "|contador[a]?|coordinador[a]?|dentista|dependient[ea]|desarrollador[a]?|dietista|director[a]?"
    "|diseñador[a]?"
    "|economista|editor[a]?|electricista|enfermer[oa]|escritor[a]?|farmacéutic[oa]|físic[oa]|fisioterapeuta"
    "|fontaner[oa]|fotógraf[oa]|funcionari[oa]|geólog[oa]|gerente|guía|historiador[a]?|ilustrador[a]?"
    "|ingenier[oa]|investigador[a]?|jardiner[oa]|jef[ea] de [a-záéíóúñ]+|juez[a]?|logopeda|maestr[oa]"
    "|matron[oa]|mecánic[oa]"
    "|médic[oa]|músic[oa]|notari[oa]|obrer[oa]|panader[oa]|pediatra|peluquer[oa]|periodista|pilot[oa]"
    "|pintor[a]?"
    "|policía|procurador[a]?|productor[a]?|profesor[a]?|programador[a]?|psicólog[oa]|psiquiatra|publicista"
    "|químic[oa]"
    "|recepcionista|redactor[a]?|secretari[oa]|soldador[a]?|soldado|sociólog[oa]|técnic[oa]|terapeuta"
    "|traductor[a]?"
    "|veterinari[oa]"
)
ALLERGENS_EN = (
    "(?:pea|tree |hazel|wal|chest|coco)?nuts?|almonds?|cashews?|pistachios?|pecans?|shell ?fish|seafood"
    "|fish|prawns?|shrimps?|crab|lobster|mussels|oysters|squid|dairy|(?:cow's )?milk|lactose|cheese|butter"
    "|cream|eggs?|gluten|wheat|rye|barley|soya?|sesame|celery|mustard|lupin|sulphites|sulfites|fructose"
    "|sorbitol|msg|strawberr(?:y|ies)|kiwis?|bananas?|peach(?:es)?|tomato(?:es)?|onions?|garlic|mushrooms?"
    "|chocolate|caffeine|alcohol|coffee|red meat|pork|beef|chicken|beans|lentils|spicy food|bee stings?"
    "|wasp stings?|bees|wasps|pollen|dust|dust mites|mould|mold|latex|nickel|penicillin|amoxicillin|aspirin"
    "|ibuprofen|codeine|sulfa drugs|cats?|dogs?|horses|feathers|wool|cat hair|dog hair|perfumes?"
)
ALLERGENS_ES = (
    "cacahuetes?|maní|nuez|nueces|frutos secos|almendras?|avellanas?|anacardos?|pistachos?|mariscos?|pescado"
    "|gambas?|langostinos?|mejillones|calamares|lácteos|leche|lactosa|queso|nata|mantequilla|huevos?|gluten"
    "|trigo|centeno|cebada|soja|sésamo|apio|mostaza|sulfitos|fructosa|sorbitol|fresas?|kiwis?|plátanos?"
    "|melocotón|melocotones|tomates?|cebolla|ajo|setas|champiñones|chocolate|cafeína|alcohol|café|cerdo"
    "|ternera|pollo|carne roja|legumbres|lentejas|picante|comida picante|abejas|avispas|polen|polvo|ácaros"
    "|moho|látex|níquel|penicilina|amoxicilina|aspirina|ibuprofeno|codeína|gatos?|perros?|caballos|plumas"
    "|lana|perfumes?"
)
LANGUAGES_EN = (
    "English|Spanish|Portuguese|French|German|Italian|Dutch|Catalan|Basque|Galician|Polish|Czech|Slovak"
    "|Hungarian|Romanian|Bulgarian|Greek|Turkish|Russian|Ukrainian|Serbian|Croatian|Slovenian|Swedish"
    "|Norwegian"
    "|Danish|Finnish|Icelandic|Estonian|Latvian|Lithuanian|Arabic|Hebrew|Persian|Farsi|Urdu|Hindi|Bengali"
    "|Punjabi|Tamil|Telugu|Mandarin|Cantonese|Chinese|Japanese|Korean|Vietnamese|Thai|Indonesian|Malay"
    "|Tagalog"
    "|Swahili|Amharic|Yoruba|Irish|Welsh|Latin|Esperanto|Albanian|Quechua|Afrikaans|Gujarati|Marathi"
)
LANGUAGES_ES = (
    "inglés|español|castellano|portugués|francés|alemán|italiano|neerlandés|holandés|catalán|euskera|vasco"
    "|gallego|polaco|checo|húngaro|rumano|búlgaro|griego|turco|ruso|ucraniano|serbio|croata|sueco|noruego"
    "|danés"
    "|finlandés|árabe|hebreo|persa|hindi|bengalí|mandarín|chino|japonés|coreano|vietnamita|tailandés|suajili"
    "|latín|esperanto|quechua|guaraní|irlandés"
)
LANGUAGE_NAMES = {
    "inglés": "English", "español": "Spanish", "castellano": "Spanish", "portugués": "Portuguese",
    "francés": "French", "alemán": "German", "italiano": "Italian", "neerlandés": "Dutch",
    "holandés": "Dutch", "catalán": "Catalan", "euskera": "Basque", "vasco": "Basque", "gallego":
    "Galician", "polaco": "Polish", "checo": "Czech", "húngaro": "Hungarian", "rumano": "Romanian",
    "búlgaro": "Bulgarian", "griego": "Greek", "turco": "Turkish", "ruso": "Russian", "ucraniano":
    "Ukrainian", "serbio": "Serbian", "croata": "Croatian", "sueco": "Swedish", "noruego":
    "Norwegian", "danés": "Danish", "finlandés": "Finnish", "árabe": "Arabic", "hebreo": "Hebrew",
    "persa": "Persian", "hindi": "Hindi", "bengalí": "Bengali", "mandarín": "Mandarin", "chino":
    "Chinese", "japonés": "Japanese", "coreano": "Korean", "vietnamita": "Vietnamese", "tailandés":
    "Thai", "suajili": "Swahili", "latín": "Latin", "esperanto": "Esperanto", "quechua": "Quechua",
    "guaraní": "Guarani", "irlandés": "Irish",
}  # fmt: skip


def name_otherwise(languages: Iterable[str]) -> str:
    """Return the other names of languages, those of the other tongue among them."""
    found: dict[str, None] = {}
    for said in map(str.lower, languages):
        english = LANGUAGE_NAMES.get(said, said.capitalize())
        other = [
            one for one, told in LANGUAGE_NAMES.items() if told == english
        ]
        for name in (english, *other):
            if name.lower() != said:
                found[name] = None
    return ", ".join(found)
