"""Everyday kinds of things: what a question asks for by the kind's name is told by the names of its members.

"What hobbies does Dana have?" is answered by "we went hiking", which shares no word with it and, for static
word vectors, little meaning. Each row has the words that ask for a kind, and words of it.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from varve.domain.search.lexical import stems

_ROWS = (
    (
        "activity activities hobby hobbies pastime leisure fun actividad aficion pasatiempo ocio",
        "hike camp swim run jog walk bike cycling climb ski surf kayak fishing paint draw pottery knit "
        "sew cook bake garden read dance sing photography game chess yoga gym volunteer museum concert "
        "movie beach picnic travel senderismo acampar nadar correr pasear pintar cocinar leer bailar "
        "cantar juego playa viajar",
    ),
    (
        "event celebration celebrate ceremony occasion evento fiesta celebracion",
        "party wedding birthday concert festival parade conference meeting workshop fair show exhibition "
        "gala graduation race marathon fundraiser tournament reunion anniversary boda cumpleanos "
        "concierto feria",
    ),
    (
        "pet animal mascota",
        "dog puppy pup cat kitten bird parrot hamster rabbit horse fish turtle snake perro cachorro gato "
        "pajaro conejo",
    ),
    (
        "food meal dish eat cuisine diet recipe snack comida plato comer dieta receta",
        "pizza pasta bread cake pie soup salad chicken beef pork fish rice sushi curry taco burger "
        "sandwich cheese chocolate cookie dessert breakfast lunch dinner vegetable fruit pan sopa "
        "ensalada pollo arroz queso postre cena",
    ),
    (
        "meat carne",
        "chicken beef pork steak lamb turkey bacon ham sausage pollo ternera cerdo cordero jamon",
    ),
    (
        "drink beverage bebida beber",
        "coffee tea wine beer juice water cocktail smoothie milk cafe te vino cerveza zumo",
    ),
    (
        "sport exercise workout fitness deporte ejercicio",
        "football soccer basketball tennis baseball golf hockey volleyball run swim cycling boxing yoga "
        "gym climb ski surf marathon race hike futbol baloncesto tenis correr nadar gimnasio",
    ),
    (
        "instrument instrumento",
        "guitar piano violin drum flute clarinet saxophone cello trumpet ukulele bass guitarra bateria "
        "flauta",
    ),
    (
        "music musician band genre musica musico",
        "rock pop jazz classical rap blues country metal folk album singer song concert cancion concierto",
    ),
    (
        "art artwork craft arte",
        "paint draw sketch sculpture pottery clay canvas mural watercolor photograph portrait abstract "
        "landscape cuadro",
    ),
    (
        "book reading author literature libro lectura autor",
        "novel story series chapter library fantasy mystery biography poetry novela cuento poesia",
    ),
    (
        "movie film show tv pelicula serie",
        "documentary comedy drama thriller episode cinema watch documental comedia cine",
    ),
    (
        "game juego",
        "chess video board card console puzzle tournament poker ajedrez cartas",
    ),
    (
        "job career work profession occupation employment trabajo empleo profesion carrera",
        "engineer teacher doctor nurse lawyer manager banker designer developer writer chef artist "
        "counselor accountant analyst scientist business company office boss salary intern consultant "
        "coach ingeniero profesor medico enfermera abogado jefe empresa oficina sueldo",
    ),
    (
        "business company store shop brand negocio empresa tienda",
        "startup studio restaurant cafe client customer marketing product investor launch cliente producto",
    ),
    (
        "family relative familia pariente",
        "mother mom mum father dad parent son daughter brother sister wife husband kid child grandmother "
        "grandma grandfather aunt uncle cousin nephew niece madre padre hijo hija hermano hermana mujer "
        "marido abuela tio prima",
    ),
    (
        "kid child hijo nino",
        "son daughter boy girl baby toddler kid child hijo hija nino nina bebe",
    ),
    (
        "who whom quien",
        "friend mother mom father dad brother sister wife husband boyfriend girlfriend partner colleague "
        "neighbor mentor teacher boss family cousin buddy amigo madre padre hermano hermana vecino jefe "
        "companero",
    ),
    (
        "relationship married dating romantic relacion casado",
        "single divorce breakup boyfriend girlfriend husband wife partner engaged wedding soltero "
        "divorcio novio novia",
    ),
    (
        "where place location live city area donde lugar sitio vivir ciudad",
        "town village country state street park beach museum restaurant cafe school hospital library "
        "mountain lake river island church hotel airport downtown neighborhood home house apartment "
        "pueblo pais calle parque playa barrio casa piso",
    ),
    (
        "country nationality pais nacionalidad",
        "england france spain italy germany sweden norway portugal ireland japan china india canada "
        "mexico brazil australia america europe francia espana italia alemania",
    ),
    (
        "travel trip vacation holiday visit viaje vacaciones",
        "flight hotel beach mountain road train airport tour island camp abroad vuelo playa tren "
        "aeropuerto isla",
    ),
    (
        "symbol symbolize mean represent simbolo significar",
        "stand meaning reminder remind represent symbol freedom love hope strength courage recuerdo "
        "libertad amor",
    ),
    (
        "health illness sick disease condition injury salud enfermedad",
        "hospital doctor surgery pain injury cold flu allergy asthma diabetes therapy medication "
        "diagnosis hurt broke medico operacion dolor gripe alergia",
    ),
    (
        "stress relax unwind calm cope estres relajar",
        "meditation yoga calm therapy peaceful headspace escape relief walk run read bath nature calma paz",
    ),
    (
        "feel emotion mood sentir emocion",
        "happy sad excited nervous anxious proud grateful thankful scared worried relieved angry "
        "frustrated lonely inspired amazed joy upset feliz triste nervioso orgulloso contento",
    ),
    (
        "personality trait describe quality personalidad caracter",
        "kind caring thoughtful brave honest patient strong creative funny smart supportive passionate "
        "amable valiente",
    ),
    (
        "problem issue challenge difficulty setback struggle frustration problema dificultad",
        "hard tough lost stuck fail broke trouble worry expensive accident injury stress struggle "
        "obstacle dificil",
    ),
    (
        "goal dream plan ambition meta sueno plan",
        "want wish hope plan aim dream someday goal save start quiero espero",
    ),
    (
        "gift present regalo",
        "gave given gift birthday bought necklace ring card surprise regalo regalaron",
    ),
    (
        "clothes clothing wear outfit fashion ropa",
        "shirt dress shoes hat jacket jeans coat skirt sweater boots camisa",
    ),
    (
        "vehicle transport car vehiculo coche",
        "car truck bike motorcycle bus train van engine coche moto tren",
    ),
    (
        "school study education degree course class learn estudio curso clase",
        "college university exam workshop training teacher lesson certificate graduate student "
        "universidad examen",
    ),
    (
        "field subject major asignatura",
        "psychology engineering law medicine history math biology computer art business education derecho "
        "medicina",
    ),
    (
        "weather season tiempo estacion",
        "rain snow sunny winter summer spring autumn cold storm lluvia nieve verano",
    ),
    (
        "nature outdoor outdoors scenery naturaleza",
        "mountain lake forest sea ocean river trail park waterfall sunset beach woods camp hike montana "
        "lago bosque mar",
    ),
    (
        "religion religious faith spiritual religion fe",
        "church prayer bible god temple mosque pray iglesia dios rezar",
    ),
    (
        "politics political politica",
        "vote election government rights liberal conservative policy campaign voto",
    ),
    (
        "money financial finance dinero",
        "pay cost price dollar euro salary debt loan bank save budget donation pagar",
    ),
    (
        "technology device gadget aparato",
        "phone laptop computer app camera tablet software internet website movil",
    ),
    (
        "plant flower planta flor",
        "rose tulip sunflower orchid lily daisy tree garden rosa arbol jardin",
    ),
)


@cache
def _kinds() -> Mapping[str, tuple[str, ...]]:
    """The words of a kind by each stem that asks for it."""
    found: dict[str, dict[str, None]] = {}
    for asking, members in _ROWS:
        for word in asking.split():
            for stem in stems(word):
                found.setdefault(stem, {}).update(dict.fromkeys(members.split()))
    return {stem: tuple(members) for stem, members in found.items()}


def kinds_asked(words: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """For each of the folded words that asks for a kind the words of that kind; each kind once."""
    kinds = _kinds()
    found = (kinds.get(stem) for word in words for stem in stems(word))
    return tuple(dict.fromkeys(members for members in found if members))
