"""Which statements of a speaker the words of a request to forget name."""

from __future__ import annotations

import pytest

from varve.domain.statements.forget_topics import read_topics
from varve.domain.statements.told_sentences import read_sentence


def names(request: str, said: str, speaker: str = "Dana") -> bool:
    """Return whether a request names what its speaker, or another one, said."""
    sentence = read_sentence(said, speaker)
    return any(topic.is_told_in(sentence) for topic in read_topics(request))


NAMED = [
    ("I live at Calle Luna 4 in Madrid.", "Please forget where I live."),
    ("My address is 4 Moon Street.", "Please forget where I live."),
    ("My salary is 50000 euros.", "Forget my salary."),
    ("My monthly salary went up to 4200.", "Hey, can you forget my salary?"),
    ("I earn 50000 euros a year.", "Forget my salary, please."),
    ("I earn 50000 euros a year.", "Please forget how much I earn."),
    ("I have a daughter called Nora.", "Forget what I told you about my daughter."),
    ("Can my daughter take ibuprofen?", "Forget what I said about my daughter."),
    ("I've got two daughters.", "Forget everything about my daughters."),
    ("My wife and daughter live in Oslo.", "Forget what I said about my daughter."),
    ("My daughter's school is Lincoln.", "Forget what you know about my daughter."),
    ("My daughter is called Nora.", "Please forget my daughter's name."),
    ("I was fired from Globex in May.", "Forget that I was fired from Globex."),
    ("I had surgery on my knee.", "Please forget everything I told you about my knee surgery."),
    ("Ana owes me 200 euros.", "Forget everything I told you about Ana."),
    ("I'm dating Pablo.", "Forget who I'm dating."),
    ("I parked on level 3.", "Forget where I parked."),
    ("My blood type is A negative.", "Please delete my blood type from your memory."),
    ("My address is 4 Moon Street.", "Delete my address."),
    ("I live at 4 Moon Street.", "Please erase my address."),
    ("My account number is 4451.", "I want you to forget my account number."),
    ("I don't drink because of my liver.", "Do not remember what I told you about my liver."),
    ("My PIN is 4411.", "Stop remembering my PIN."),
    ("I still live in Ghent, near the docks.", "Please forget where I live."),
    ("I'm pregnant.", "Forget that I'm pregnant."),
    ("I have a dog and a cat.", "Forget that I have a dog."),
    ("Ya no vivo en Ghent.", "Olvida dónde vivo."),
    ("Ana's number is 600 123 456.", "Forget Ana's number."),
    ("Ana lives at 4 Moon Street.", "Please forget where Ana lives."),
    ("Ana lives in Oslo.", "Forget that Ana lives in Oslo."),
    ("El número de Ana es 600 123 456.", "Olvida el número de Ana."),
    ("Vivo en la calle Luna 4.", "Olvida dónde vivo, por favor."),
    ("Mi dirección es Calle Sol 5, Bilbao.", "Borra mi dirección, por favor."),
    ("Mi sueldo es de 2100 euros.", "Olvida mi sueldo."),
    ("Gano 2100 euros al mes.", "Por favor, olvida cuánto gano."),
    ("Cobro 2100 euros al mes.", "Olvida mi sueldo."),
    ("Tengo una hija que se llama Nora.", "Olvida lo que te dije de mi hija."),
    ("Mi hija toca el violín.", "Olvida todo lo que te he contado sobre mi hija."),
    ("Me despidieron de Globex en mayo.", "Olvida que me despidieron de Globex."),
    ("Salgo con Pablo desde marzo.", "Quiero que olvides con quién salgo."),
    ("Mi grupo sanguíneo es A negativo.", "Borra mi grupo sanguíneo de tu memoria."),
    ("Mi cuenta acaba en 4451.", "¿Puedes olvidar mi cuenta?"),
    ("My therapist is Dr. Vega.", "Forget the therapist thing."),
    ("I see a therapist on Mondays.", "Can you forget that whole therapist thing, please?"),
    ("I was on sertraline.", "Forget the thing about the sertraline."),
    ("My salary is 50000 euros.", "Forget the part about my salary."),
    ("My ankle hurts.", "Forget the knee and ankle thing, ok?"),
    ("Tomo sertralina.", "Olvida lo de la sertralina."),
    ("Mi ex se llama Paco.", "Olvida lo que te dije de mi ex."),
    ("El divorcio sale en mayo.", "Quiero que olvides lo del divorcio, por favor."),
    ("Marcos me debe dinero.", "Olvida el asunto de Marcos."),
    ("Tengo ansiedad.", "Olvida lo de la sertralina y la ansiedad."),
    ("I see a therapist on Mondays.", "Forget my salary and the therapist thing."),
    ("My salary is 50000 euros.", "Forget the therapist thing and my salary, please."),
    ("The divorce is in May.", "Forget the therapist thing and the divorce stuff."),
    ("I see a therapist on Mondays.", "Forget my salary, my age and the therapist thing."),
    ("I live in Ghent.", "Forget my salary, my phone number, and where I live."),
    ("I was fired from Globex.", "Forget my salary and that I was fired from Globex."),
    ("Ana owes me 200 euros.", "Forget everything I told you about my son, my job and Ana."),
    ("Voy a la terapeuta los martes.", "Olvida mi sueldo y lo de la terapeuta."),
    ("Voy a la terapeuta los martes.", "Olvida lo de la terapeuta y mi sueldo, por favor."),
    ("Vivo en Gijón.", "Olvida mi sueldo, mi teléfono y dónde vivo."),
    ("Marcos me debe dinero.", "Olvida lo de la sertralina y lo de Marcos."),
    ("Estoy embarazada.", "Olvida que me despidieron y que estoy embarazada."),
    ("My salary is 50000 euros.", "One thing: forget my salary."),
    ("My salary is 50000 euros.", "I told you already: forget my salary."),
    ("My salary is 50000 euros.", "My boss said I'm overpaid; please forget my salary."),
    ("My salary is 50000 euros.", "Forget my salary, as my lawyer said."),
    ("My salary is 50000 euros.", '"Forget my salary."'),
    ("Mi sueldo es de 2100 euros.", "Te lo pido: olvida mi sueldo."),
    ("Mi sueldo es de 2100 euros.", "Me han robado el móvil: olvida mi sueldo."),
    ("Mi sueldo es de 2100 euros.", "Olvida mi sueldo, como me dijo mi abogada."),
]  # fmt: skip
BESIDE = [
    ("My sister lives in Oslo.", "Please forget where I live."),
    ("I live with Ana.", "Please forget where I live."),
    ("I think Ana lives in Rome.", "Please forget where I live."),
    ("My boss's salary is 90000 euros.", "Forget my salary."),
    ("My boss has a salary of 90000 euros.", "Forget my salary."),
    ("Mi jefe tiene un sueldo de 90000 euros.", "Olvida mi sueldo."),
    ("The average salary in Spain is 28000 euros.", "Forget my salary."),
    ("I earn respect at work.", "Forget my salary."),
    ("My sister has a daughter called Mia.", "Forget what I told you about my daughter."),
    ("Ana's daughter is called Mia.", "Forget what I told you about my daughter."),
    ("My son plays the violin.", "Forget what I told you about my daughter."),
    ("My daughter plays the violin.", "Please forget my daughter's name."),
    ("My dog is called Rex.", "Please forget my daughter's name."),
    ("My knee hurts.", "Please forget everything I told you about my knee surgery."),
    ("My brother was fired from Globex.", "Forget that I was fired from Globex."),
    ("What is my salary?", "Forget my salary."),
    ("¿Dónde vivo?", "Olvida dónde vivo."),
    ("The shop where I work shuts at six.", "Forget where I work."),
    ("My flatmate pays 510 euros for her room.", "Forget my salary."),
    ("I was out and by nine the dog had eaten a shoe.", "Forget that I have a dog."),
    ("Voy al trabajo en bici.", "Olvida dónde trabajo."),
    ("Cobro 25 euros por cortar el pelo.", "Olvida mi sueldo."),
    ("Mi hijo juega al tenis.", "Olvida lo que te dije de mi hija."),
    ("Ana likes jazz.", "Forget Ana's number."),
    ("Bo's number is 600 123 456.", "Forget Ana's number."),
    ("Ana likes jazz.", "Forget Ana, she's wrong."),
    ("I ate at Pizza Hut.", "Forget Pizza Hut."),
    ("I have a meeting with Ana.", "Forget about the meeting with Ana."),
    ("I like jazz.", "Forget what happened."),
    ("I like jazz.", "Forget it."),
    ("I like jazz.", "Forget about it, thanks."),
    ("I like jazz.", "Forget that."),
    ("I like jazz.", "Forget jazz, play something else."),
    ("I want pizza tonight.", "Forget pizza, let's get sushi."),
    ("My salary is 50000 euros.", "Don't forget my salary."),
    ("My salary is 50000 euros.", "I always forget my salary."),
    ("My salary is 50000 euros.", "Did you forget my salary?"),
    ("My salary is 50000 euros.", "If you forget my salary, ask me."),
    ("My salary is 50000 euros.", "I forgot my salary."),
    ("My draft is about whales.", "Delete my draft."),
    ("My email is dana@example.org.", "Delete my email."),
    ("My account number is 4451.", "Remove my name from the list."),
    ("Call my mother at noon.", "Forget to call my mother."),
    ("Mi hermana vive en Sevilla.", "Olvida dónde vivo."),
    ("Vivo con Ana.", "Olvida dónde vivo."),
    ("Mi hermana tiene una hija.", "Olvida lo que te dije de mi hija."),
    ("La hija de Ana se llama Mia.", "Olvida lo que te dije de mi hija."),
    ("Mi sueldo es de 2100 euros.", "No olvides mi sueldo."),
    ("Mi sueldo es de 2100 euros.", "Siempre se me olvida mi sueldo."),
    ("Mi borrador va de ballenas.", "Borra mi borrador."),
    ("Quiero pizza.", "Olvida la pizza, mejor sushi."),
    ("Me gusta el jazz.", "Olvídalo."),
    ("My therapist is Dr. Vega.", "I forgot the therapist's number."),
    ("My therapist is Dr. Vega.", "Don't forget the therapist thing."),
    ("My therapist is Dr. Vega.", "Never forget the therapist thing."),
    ("My therapist is Dr. Vega.", "Forget the whole thing."),
    ("My boss was the last to go.", "Forget the last thing."),
    ("The header is blue.", "Delete the header thing."),
    ("I want pizza tonight.", "Forget the pizza thing, let's get sushi."),
    ("On Monday I see the dentist.", "Forget the Monday thing."),
    ("Tengo cita el lunes.", "No olvides lo de la cita."),
    ("Tengo cita el lunes.", "Se me olvidó lo de la cita."),
    ("Quiero galletas.", "Olvida lo de las galletas, mejor un bizcocho."),
    ("Mañana voy a Lugo.", "Olvida lo de mañana."),
    ("La otra vez fui a Lugo.", "Olvida lo de la otra vez."),
    ("I want pizza.", "Forget the pizza thing and the taco thing, let's get sushi."),
    ("My boss is angry.", "Forget my salary, my boss is angry."),
    ("I told a joke.", "Forget my salary and tell me a joke."),
    ("I live with my wife.", "Forget my salary, my wife left me."),
    ("Mi jefe está enfadado.", "Olvida mi sueldo, mi jefe está enfadado."),
    ("I see a therapist on Mondays.", "She told me: forget the therapist thing."),
    ("I see a therapist on Mondays.", 'She told me "forget the therapist thing".'),
    ("I see a therapist on Mondays.", "She messaged me on Monday: forget the therapist thing."),
    ("My salary is 50000 euros.", "My boss: forget my salary."),
    ("My salary is 50000 euros.", '"Forget my salary," he said.'),
    ("My salary is 50000 euros.", "Forget my salary, said my sister."),
    ("My salary is 50000 euros.", "Mum wrote:\nforget my salary"),
    ("My salary is 50000 euros.", "I told Ana: forget my salary."),
    ("My salary is 50000 euros.", "Translate: forget my salary."),
    ("My salary is 50000 euros.", "The note says: forget my salary."),
    ("Voy a la terapeuta los martes.", "Ella me dijo: olvida lo de la terapeuta."),
    ("Voy a la terapeuta los martes.", "Mi madre: olvida lo de la terapeuta."),
    ("Mi sueldo es de 2100 euros.", "«Olvida mi sueldo», me dijo mi jefe."),
    ("Mi sueldo es de 2100 euros.", "Olvida mi sueldo, dijo ella."),
    ("Mi sueldo es de 2100 euros.", "Le dije a Ana: olvida mi sueldo."),
    ("Mi sueldo es de 2100 euros.", "Escríbele a Ana: olvida mi sueldo."),
]  # fmt: skip


@pytest.mark.parametrize(("said", "request_"), NAMED)
def test_a_request_names_the_statement(said: str, request_: str) -> None:
    assert names(request_, said)


@pytest.mark.parametrize(("said", "request_"), BESIDE)
def test_a_request_names_no_other_statement(said: str, request_: str) -> None:
    assert not names(request_, said)


@pytest.mark.parametrize(
    ("said", "request_"),
    [
        ("Dana's salary is 50000 euros.", "Forget my salary."),
        ("Dana lives at Calle Luna 4.", "Please forget where I live."),
        ("Nora is Dana's daughter.", "Forget what I told you about my daughter."),
        ("La dirección de Dana es Calle Sol 5.", "Borra mi dirección."),
    ],
)  # fmt: skip
def test_a_request_names_what_is_told_of_its_speaker_by_name(
    said: str, request_: str
) -> None:
    assert names(request_, said)
    assert not names(request_, said, "Lena")
