"""What the rules read of allergies, intolerances, pronouns and the language of answers."""

import pytest

from tests.unit.test_rules import batch, changes, contents, extract
from varve.domain.extraction import Extraction
from varve.domain.profile import build_entries
from varve.domain.rules import RuleExtractor

STATED = [
    ("I can't eat shellfish, I get hives.", ["ADD Dana cannot_eat shellfish"]),
    ("I also can't eat pork.", ["ADD Dana cannot_eat pork"]),
    ("I cannot eat raw onions because they make me sick.", ["ADD Dana cannot_eat raw onions"]),
    ("I can't eat nuts, gluten and celery.",
     ["ADD Dana cannot_eat nuts", "ADD Dana cannot_eat gluten", "ADD Dana cannot_eat celery"]),
    ("I can't eat eggs, milk or tree nuts.",
     ["ADD Dana cannot_eat eggs", "ADD Dana cannot_eat milk", "ADD Dana cannot_eat tree nuts"]),
    ("No puedo comer huevo, leche ni gluten.",
     ["ADD Dana cannot_eat huevo", "ADD Dana cannot_eat leche", "ADD Dana cannot_eat gluten"]),
    ("I can't eat gluten any more.", ["ADD Dana cannot_eat gluten"]),
    ("I can't have dairy.", ["ADD Dana cannot_eat dairy"]),
    ("I can't tolerate lactose.", ["ADD Dana cannot_eat lactose"]),
    ("I'm gluten intolerant.", ["ADD Dana cannot_eat gluten"]),
    ("I'm intolerant to fructose.", ["ADD Dana cannot_eat fructose"]),
    ("Dairy doesn't agree with me.", ["ADD Dana cannot_eat dairy"]),
    ("Peanuts could kill me", ["ADD Dana allergic_to peanuts"]),
    ("Peanuts could kill me, I carry an EpiPen.", ["ADD Dana allergic_to peanuts"]),
    ("A wasp sting would kill me.", ["ADD Dana allergic_to wasp sting"]),
    ("Strawberries give me hives.", ["ADD Dana allergic_to strawberries"]),
    ("I get a rash from latex.", ["ADD Dana allergic_to latex"]),
    ("I break out in hives from penicillin.", ["ADD Dana allergic_to penicillin"]),
    ("I can eat shellfish again.", ["DELETE Dana cannot_eat shellfish"]),
    ("My pronouns are she/her.", ["UPDATE Dana pronouns she/her"]),
    ("I use they/them pronouns.", ["UPDATE Dana pronouns they/them"]),
    ("I go by he/him.", ["UPDATE Dana pronouns he/him"]),
    ("Please answer me in Spanish.", ["UPDATE Dana language Spanish"]),
    ("Answer me in French, please.", ["UPDATE Dana language French"]),
    ("From now on, please reply in German.", ["UPDATE Dana language German"]),
    ("Please speak Portuguese with me.", ["UPDATE Dana language Portuguese"]),
    ("Me dan alergia los gatos.", ["ADD Dana allergic_to gatos"]),
    ("Me da alergia el polen.", ["ADD Dana allergic_to polen"]),
    ("Les tengo alergia a los ácaros.", ["ADD Dana allergic_to ácaros"]),
    ("Los cacahuetes me podrían matar.", ["ADD Dana allergic_to cacahuetes"]),
    ("Los cacahuetes podrían matarme.", ["ADD Dana allergic_to cacahuetes"]),
    ("Las fresas me dan urticaria.", ["ADD Dana allergic_to fresas"]),
    ("No tolero la lactosa.", ["ADD Dana cannot_eat lactosa"]),
    ("No tolero bien el gluten.", ["ADD Dana cannot_eat gluten"]),
    ("No puedo comer marisco, me salen ronchas.", ["ADD Dana cannot_eat marisco"]),
    ("No puedo comer ni gluten ni huevo.",
     ["ADD Dana cannot_eat gluten", "ADD Dana cannot_eat huevo"]),
    ("No puedo tomar lácteos.", ["ADD Dana cannot_eat lácteos"]),
    ("Soy intolerante al gluten.", ["ADD Dana cannot_eat gluten"]),
    ("Tengo intolerancia a la fructosa.", ["ADD Dana cannot_eat fructosa"]),
    ("La leche me sienta mal.", ["ADD Dana cannot_eat leche"]),
    ("Ya puedo comer marisco.", ["DELETE Dana cannot_eat marisco"]),
    ("Mis pronombres son ella.", ["UPDATE Dana pronouns ella"]),
    ("Respóndeme en español, por favor.", ["UPDATE Dana language Spanish"]),
    ("Por favor, contéstame en inglés.", ["UPDATE Dana language English"]),
    ("Háblame en catalán.", ["UPDATE Dana language Catalan"]),
    ("I'm only allergic to latex.", ["ADD Dana allergic_to latex"]),
    ("I'm just allergic to latex and kiwi.",
     ["ADD Dana allergic_to latex", "ADD Dana allergic_to kiwi"]),
    ("I'm allergic only to latex.", ["ADD Dana allergic_to latex"]),
    ("I'm only allergic to latex, not to nuts.",
     ["DELETE Dana allergic_to nuts", "ADD Dana allergic_to latex"]),
    ("Solo soy alérgica al látex.", ["ADD Dana allergic_to látex"]),
    ("Soy alérgico sólo al polen.", ["ADD Dana allergic_to polen"]),
    ("Solo tengo alergia al polen.", ["ADD Dana allergic_to polen"]),
    ("I've been diagnosed with coeliac disease.", ["ADD Dana cannot_eat gluten"]),
    ("I was recently diagnosed as celiac.", ["ADD Dana cannot_eat gluten"]),
    ("Soy celiaca.", ["ADD Dana cannot_eat gluten"]),
    ("Tengo celiaquía.", ["ADD Dana cannot_eat gluten"]),
    ("Me han diagnosticado celiaquía.", ["ADD Dana cannot_eat gluten"]),
    ("Ya no soy celiaco.", ["DELETE Dana cannot_eat gluten"]),
]  # fmt: skip

SILENT = [
    "My sister can't eat shellfish.", "My son can't tolerate lactose.", "Can't you eat shellfish?",
    "I can't eat another bite.", "I can't eat the whole pizza.", "I can't eat any more.",
    "I can't eat lunch today.", "I can't eat dinner before nine.", "I can't eat alone.",
    "I can't eat that fast.", "I can't eat out this week.", "I can't eat bread before bed.",
    "I can't eat sushi without wasabi.", "I can't eat if I'm nervous.", "I can't eat my words.",
    "I couldn't eat anything yesterday.", "Could I eat shellfish?", "I can't eat much.",
    "I can't eat or sleep.",    "I can't eat quickly.", "I can't eat meat during Lent.",
    "This deadline could kill me.", "The deadline could kill me.", "Mondays could kill me.",
    "My boss could kill me.", "You could kill me.", "Peanuts could kill my brother.",
    "I can't tolerate rudeness.", "I can't have guests on Sunday.", "I'm intolerant of lies.",
    "That movie gives me goosebumps.", "Exams give me a headache.", "Ana doesn't agree with me.",
    "I get a rush from running.", "I can eat now.", "I can eat anything.",
    "Her pronouns are she/her.", "My pronouns are wrong in the report.", "I go by train.",
    "Please answer the customer in Spanish.", "Please answer this question in Spanish.",
    "Please answer me in five minutes.", "Can you answer me in Spanish?",
    "I answered him in French.", "Ana asked me to answer her in Spanish.",
    "A mi hermana le dan alergia los gatos.", "Mi hijo no tolera la lactosa.",
    "No tolero la mentira.", "No tolero los gritos.", "No puedo comer más.", "No puedo comer nada.",
    "No puedo comer hoy.", "No puedo comer fuera esta semana.", "No puedo comer solo.",
    "No puedo comer otro bocado.", "No puedo comer contigo el lunes.", "No puedo tomar el metro.",
    "No puedo tomar decisiones.", "No puedo comer ni dormir.", "No puedo comer tranquilamente.",
    "No puedo comer carne durante la Cuaresma.", "Me da alergia trabajar.", "Me dan alergia los lunes.",
    "Mi jefe podría matarme.", "Este plazo podría matarme.", "¿Puedo comer marisco?",
    "La reunión me sienta mal.", "Sus pronombres son ella.", "Ya puedo comer.",
    "Responde al cliente en español.", "Respóndeme en cinco minutos.", "¿Puedes responderme en inglés?",
    "Me respondió en inglés.", "My son is only allergic to latex.", "I'm not only allergic to latex.",
    "Mi hija es celiaca.", "My son was diagnosed as coeliac.",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), STATED, ids=[row[0] for row in STATED]
)
def test_what_harms_a_speaker_and_how_to_address_them_is_read(
    text: str, expected: list[str]
) -> None:
    assert changes(extract(text)) == expected


def test_a_thing_named_last_is_told_once() -> None:
    assert contents(extract("I get a rash from latex.")) == [
        "Dana is allergic to latex."
    ]


@pytest.mark.parametrize(
    ("text", "substances"),
    [
        ("Tengo alergia al huevo y a la leche.", "huevo, leche"),
        ("Soy alérgico al huevo, a la leche y a los frutos secos.", "huevo, leche, frutos secos"),
        ("Soy alérgica a los gatos, los perros y el polen.", "gatos, perros, polen"),
        ("Soy alérgica al huevo, al marisco y, sobre todo, a la leche.", "huevo, marisco, leche"),
        ("Tengo alergia tanto al huevo como a la leche.", "huevo, leche"),
        ("Soy alérgico al huevo y vivo en Vigo.", "huevo"),
        ("Soy alérgico al huevo y juego al tenis.", "huevo"),
        ("Soy alérgico al huevo y cultivo tomates.", "huevo"),
        ("Soy alérgico al huevo y a veces me salen ronchas.", "huevo"),
        ("Tengo alergia a la leche y a mi hermana le encanta.", "leche"),
        ("I'm allergic to eggs, milk and tree nuts.", "eggs, milk, tree nuts"),
        ("I'm allergic to eggs, to milk and to tree nuts.", "eggs, milk, tree nuts"),
        ("I'm allergic to nuts, especially peanuts and cashews.", "nuts, peanuts, cashews"),
        ("I'm allergic to both eggs and milk.", "eggs, milk"),
        ("I'm allergic to eggs, milk, soy.", "eggs, milk, soy"),
        ("I have an egg and milk allergy.", "egg, milk"),
        ("I have allergies to bee stings and dust mites.", "bee stings, dust mites"),
        ("I'm allergic to eggs and live in Vigo.", "eggs"),
        ("I'm allergic to eggs and play tennis.", "eggs"),
        ("I'm allergic to eggs, thanks.", "eggs"),
    ],
)  # fmt: skip
def test_a_list_of_allergies_gives_each_of_them_and_nothing_else(
    text: str, substances: str
) -> None:
    told = [one for one in changes(extract(text)) if "allergic_to" in one]
    assert told == [
        f"ADD Dana allergic_to {one}" for one in substances.split(", ")
    ]


@pytest.mark.parametrize(
    ("text", "substances"),
    [
        ("I'm not allergic to eggs or milk any more.", "eggs, milk"),
        ("Ya no soy alérgico al huevo ni a la leche.", "huevo, leche"),
        ("Forget that I'm allergic to eggs and milk.", "eggs, milk"),
    ],
)  # fmt: skip
def test_the_end_of_several_allergies_ends_each_of_them(
    text: str, substances: str
) -> None:
    assert changes(extract(text)) == [
        f"DELETE Dana allergic_to {one}" for one in substances.split(", ")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm vegan and allergic to nuts.", ["diet vegan", "allergic_to nuts"]),
        ("I'm allergic to nuts and vegan.", ["allergic_to nuts", "diet vegan"]),
        ("I'm vegan but very allergic to soy.", ["diet vegan", "allergic_to soy"]),
        ("Soy vegana y alérgica al huevo.", ["diet vegana", "allergic_to huevo"]),
        ("Soy alérgica al huevo y vegana.", ["allergic_to huevo", "diet vegana"]),
        ("My sister is vegan and allergic to nuts.", []),
        ("Mi hermana es vegana y alérgica al huevo.", []),
    ],
)  # fmt: skip
def test_two_states_of_one_subject_are_both_read(
    text: str, expected: list[str]
) -> None:
    assert changes(extract(text)) == [
        f"{'UPDATE' if one.startswith('diet') else 'ADD'} Dana {one}"
        for one in expected
    ]


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("I eat meat again.", ["vegan", "vegetarian", "pescatarian"]),
        ("I'm back to eating fish.", ["vegan", "vegetarian"]),
        ("I've started eating cheese again.", ["vegan"]),
        ("Vuelvo a comer carne.", ["vegana", "vegano", "vegetariana", "vegetariano",
            "pescetariana", "pescetariano"]),
        ("Ya como queso otra vez.", ["vegana", "vegano"]),
        ("I eat meat.", []),
        ("I eat out again.", []),
        ("Como carne.", []),
    ],
)  # fmt: skip
def test_food_that_is_eaten_again_ends_the_diets_without_it(
    text: str, ended: list[str]
) -> None:
    known = extract(text).if_known
    assert [one.object for one in known] == ended


@pytest.mark.parametrize("text", SILENT)
def test_what_looks_like_it_states_nothing(text: str) -> None:
    assert changes(extract(text)) == []


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("I can't eat shellfish, I get hives.", "cannot_eat", "shellfish"),
        ("No tolero la lactosa.", "cannot_eat", "lactosa"),
        ("Me dan alergia los gatos.", "allergies", "gatos"),
        ("My pronouns are she/her.", "pronouns", "she/her"),
        ("Please answer me in Spanish.", "language", "Spanish"),
    ],
)
def test_the_profile_has_what_the_rules_read(
    text: str, key: str, value: str
) -> None:
    said = batch(text)
    found: Extraction = RuleExtractor().extract(said)
    (entry,) = build_entries(found.operations, said.utterances)
    assert (entry.key, entry.value) == (key, value)


OF_A_CHILD = [
    ("My daughter Ida is not allergic to eggs after all.", "DELETE Ida allergic_to eggs"),
    ("My son Leo isn't allergic to cats.", "DELETE Leo allergic_to cats"),
    ("It turns out my son Leo is allergic to cats.", "ADD Leo allergic_to cats"),
    ("Mi hija Ana es alérgica a la penicilina.", "ADD Ana allergic_to penicilina"),
    ("Mi hijo Leo tiene alergia al huevo.", "ADD Leo allergic_to huevo"),
    ("Resulta que mi hija Ana no es alérgica al polen.", "DELETE Ana allergic_to polen"),
    ("Mi hijo Leo ya no tiene alergia al huevo.", "DELETE Leo allergic_to huevo"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "change"), OF_A_CHILD)
def test_the_allergy_of_a_relation_begins_and_ends(
    text: str, change: str
) -> None:
    assert change in changes(extract(text))


@pytest.mark.parametrize(
    "text",
    [
        "Turns out I'm not allergic to nuts.",
        "As it turns out, I'm not allergic to nuts.",
        "Resulta que no soy alérgica a las nueces.",
        "Al final no soy alérgico a las nueces.",
        "The doctor says I'm not allergic to nuts after all.",
        "My allergist confirmed that I'm not allergic to nuts.",
        "The tests showed I'm not allergic to nuts.",
        "According to my doctor I'm not allergic to nuts.",
        "I saw the allergist and it turns out I'm not allergic to nuts.",
        "My GP says I was never allergic to nuts.",
        "El médico dice que no soy alérgica a las nueces.",
        "La alergóloga me ha dicho que no soy alérgica a las nueces.",
        "Según el médico, no soy alérgica a las nueces.",
        "Me han hecho pruebas y resulta que no soy alérgica a las nueces.",
    ],
)
def test_an_allergy_that_turns_out_to_be_none_ends(text: str) -> None:
    (change,) = changes(extract(text))
    assert change in (
        "DELETE Dana allergic_to nuts",
        "DELETE Dana allergic_to nueces",
    )


@pytest.mark.parametrize(
    "text",
    [
        "No soy alérgica a nada.",
        "Mi hijo Leo no es alérgico a nada.",
        "Mi hermana Eva cree que es alérgica al polen.",
        "My daughter Ida can take the bus again.",
        "My son Leo could be allergic to cats.",
    ],
)
def test_what_is_no_allergy_of_a_relation_changes_none(text: str) -> None:
    assert not [one for one in changes(extract(text)) if "allergic" in one]


def test_what_a_relation_can_have_after_all_ends_a_known_allergy() -> None:
    found = extract("My daughter Ida can take penicillin after all.")
    (known,) = found.if_known
    assert (known.subject, known.object) == ("Ida", "penicillin")


@pytest.mark.parametrize(
    "text",
    [
        "I'm not allergic to nuts, right?",
        "My sister says she is not allergic to nuts.",
        "My sister says I'm not allergic to nuts.",
        "The doctor says my sister is not allergic to nuts.",
        "The doctor says I might not be allergic to nuts.",
        "The doctor never said I'm not allergic to nuts.",
        "The doctor says I'm not allergic to nuts, but I don't believe it.",
        "No soy alérgica a las nueces, ¿no?",
        "No soy alérgica a las nueces, ¿verdad?",
        "Mi madre dice que no soy alérgica a las nueces.",
        "El médico dice que mi hijo no es alérgico a las nueces.",
    ],
)
def test_hearsay_a_doubt_or_a_question_ends_no_allergy_of_the_speaker(
    text: str,
) -> None:
    assert not [one for one in changes(extract(text)) if "Dana" in one]
