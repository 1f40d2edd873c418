"""Time words in questions: what is understood, to the instant, and what is left alone."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.calendar import Grain
from varve.domain.language.grammar import installed_grammar
from varve.domain.language.timewords import TimeWords, understand
from varve.domain.language.vocabulary import hints_at_time

UTC_ZONE = ZoneInfo("UTC")
QUESTIONS = Path(__file__).parents[1] / "corpus" / "questions.json"

# Each block: when and where it is asked; each line: the words, the first day, the last day (exclusive), the
# grain. "-" is no limit. The days are the zone's own.
UNDERSTOOD = """
@ 2026-11-21T15:30:00Z UTC
What did Dana say last week about the boiler? | 2026-11-09 | 2026-11-16 | weekly
this week | 2026-11-16 | 2026-11-23 | weekly
What happened last weekend? | 2026-11-14 | 2026-11-16 | daily
What did I do this weekend? | 2026-11-21 | 2026-11-23 | daily
next weekend | 2026-11-28 | 2026-11-30 | daily
¿Qué pasó el fin de semana pasado? | 2026-11-14 | 2026-11-16 | daily
¿Qué hago este fin de semana? | 2026-11-21 | 2026-11-23 | daily
week 53 of 2026 | 2026-12-28 | 2027-01-04 | weekly
What happened in week 12 of 2025? | 2025-03-17 | 2025-03-24 | weekly
week 12, 2026 | 2026-03-16 | 2026-03-23 | weekly
week 12 | 2026-03-16 | 2026-03-23 | weekly
What did Dana say in week 12? | 2026-03-16 | 2026-03-23 | weekly
in ISO week 5 | 2026-01-26 | 2026-02-02 | weekly
Which notes from week 46 mention Lisbon? | 2026-11-09 | 2026-11-16 | weekly
What did I do in 2026-W47? | 2026-11-16 | 2026-11-23 | weekly
2026-W12 | 2026-03-16 | 2026-03-23 | weekly
What happened in week 50? | 2025-12-08 | 2025-12-15 | weekly
in week 53 | 2020-12-28 | 2021-01-04 | weekly
since week 40 | 2026-09-28 | - | weekly
before week 10 of 2026 | - | 2026-03-02 | weekly
between week 10 and week 12 of 2026 | 2026-03-02 | 2026-03-23 | weekly
week 5 and week 6 of 2026 | 2026-01-26 | 2026-02-09 | weekly
semana 12 de 2026 | 2026-03-16 | 2026-03-23 | weekly
¿Qué pasó en la semana 12? | 2026-03-16 | 2026-03-23 | weekly
la semana 12 del 2025 | 2025-03-17 | 2025-03-24 | weekly
en la semana ISO 7 | 2026-02-09 | 2026-02-16 | weekly
in Woche 12 | 2026-03-16 | 2026-03-23 | weekly
next week | 2026-11-23 | 2026-11-30 | weekly
What happened in the first week of March? | 2026-03-01 | 2026-03-09 | weekly
the second week of May 2025 | 2025-05-05 | 2025-05-15 | weekly
the last week of May | 2026-05-25 | 2026-06-01 | weekly
the last week of June | 2026-06-22 | 2026-07-01 | weekly
since the first week of March | 2026-03-01 | - | weekly
from the first week of March to the last week of May | 2026-03-01 | 2026-06-01 | weekly
¿Qué pasó la primera semana de marzo? | 2026-03-01 | 2026-03-09 | weekly
la ultima semana de diciembre de 2025 | 2025-12-22 | 2026-01-01 | weekly
What happened in March? | 2026-03-01 | 2026-04-01 | monthly
What did we decide in december? | 2025-12-01 | 2026-01-01 | monthly
yesterday's meeting | 2026-11-20 | 2026-11-21 | daily
What did I do today? | 2026-11-21 | 2026-11-22 | daily
What do I have to do tomorrow? | 2026-11-22 | 2026-11-23 | daily
the day before yesterday | 2026-11-19 | 2026-11-20 | daily
What did we eat last night? | 2026-11-20 | 2026-11-21 | daily
yesterday morning | 2026-11-20 | 2026-11-21 | daily
2025 | 2025-01-01 | 2026-01-01 | yearly
In 2025 Dana moved. Where? | 2025-01-01 | 2026-01-01 | yearly
since 2024 | 2024-01-01 | - | yearly
before 2024 | - | 2024-01-01 | yearly
after 2024 | 2025-01-01 | - | yearly
late 2025 | 2025-01-01 | 2026-01-01 | yearly
last year | 2025-01-01 | 2026-01-01 | yearly
a year ago | 2025-01-01 | 2026-01-01 | yearly
three months ago | 2026-08-01 | 2026-09-01 | monthly
What did we talk about 3 months ago? | 2026-08-01 | 2026-09-01 | monthly
what did I say about 3 weeks ago | 2026-10-26 | 2026-11-02 | weekly
And what did I tell you about two weeks ago? | 2026-11-02 | 2026-11-09 | weekly
last month | 2026-10-01 | 2026-11-01 | monthly
two weeks ago | 2026-11-02 | 2026-11-09 | weekly
10 days ago | 2026-11-11 | 2026-11-12 | daily
between May and July | 2026-05-01 | 2026-08-01 | monthly
from May to July 2025 | 2025-05-01 | 2025-08-01 | monthly
May to July 2025 | 2025-05-01 | 2025-08-01 | monthly
from November to February 2025 | 2024-11-01 | 2025-03-01 | monthly
between 2023 and 2025 | 2023-01-01 | 2026-01-01 | yearly
from 3 March to 5 April | 2026-03-03 | 2026-04-06 | daily
since March until yesterday | 2026-03-01 | 2026-11-21 | daily
in March and April | 2026-03-01 | 2026-05-01 | monthly
in March, April and May | 2026-03-01 | 2026-06-01 | monthly
yesterday and today | 2026-11-20 | 2026-11-22 | daily
since March | 2026-03-01 | - | monthly
before June | - | 2026-06-01 | monthly
after 3 March | 2026-03-04 | - | daily
until last Friday | - | 2026-11-21 | daily
before the end of March | - | 2026-04-01 | monthly
on 2026-03-02 | 2026-03-02 | 2026-03-03 | daily
in 2026-03 | 2026-03-01 | 2026-04-01 | monthly
March 3rd | 2026-03-03 | 2026-03-04 | daily
What happened on May 3 in Lisbon? | 2026-05-03 | 2026-05-04 | daily
on 3 December | 2025-12-03 | 2025-12-04 | daily
3 Mar 2025 | 2025-03-03 | 2025-03-04 | daily
29 February | 2024-02-29 | 2024-03-01 | daily
on Friday, 13 November 2026 | 2026-11-13 | 2026-11-14 | daily
last Friday | 2026-11-20 | 2026-11-21 | daily
What did we discuss on Monday? | 2026-11-16 | 2026-11-17 | daily
next Friday | 2026-11-27 | 2026-11-28 | daily
What did Dana say the week before last? | 2026-11-02 | 2026-11-09 | weekly
the month before last | 2026-09-01 | 2026-10-01 | monthly
since the year before last | 2024-01-01 | - | yearly
el mes antepasado | 2026-09-01 | 2026-10-01 | monthly
Friday of last week | 2026-11-13 | 2026-11-14 | daily
in March last year | 2025-03-01 | 2025-04-01 | monthly
last March | 2026-03-01 | 2026-04-01 | monthly
next March | 2027-03-01 | 2027-04-01 | monthly
in mid-March | 2026-03-01 | 2026-04-01 | monthly
the past 10 days | 2026-11-11 | 2026-11-22 | daily
What happened in the last three months? | 2026-08-21 | 2026-11-22 | monthly
last three months | 2026-08-21 | 2026-11-22 | monthly
over the last month | 2026-10-21 | 2026-11-22 | monthly
the next 3 days | 2026-11-21 | 2026-11-25 | daily
last quarter | 2026-07-01 | 2026-10-01 | quarterly
Q3 2025 | 2025-07-01 | 2025-10-01 | quarterly
in the third quarter of 2025 | 2025-07-01 | 2025-10-01 | quarterly
in Q4 | 2026-10-01 | 2027-01-01 | quarterly
Where did Marco work in the summer of 2025? | 2025-06-01 | 2025-09-22 | monthly
Where did Dana live before the summer of 2025? | - | 2025-06-01 | monthly
What did I do last summer? | 2026-06-01 | 2026-09-22 | monthly
Where did we go two summers ago? | 2025-06-01 | 2025-09-22 | monthly
this winter | 2026-12-01 | 2027-03-22 | monthly
last winter | 2025-12-01 | 2026-03-22 | monthly
next spring | 2027-03-01 | 2027-06-22 | monthly
what happened in summer? | 2026-06-01 | 2026-09-22 | monthly
What did I plant in the spring? | 2026-03-01 | 2026-06-22 | monthly
What happened in the fall? | 2026-09-01 | 2026-12-22 | monthly
Where were we in winter? | 2025-12-01 | 2026-03-22 | monthly
Where did we go from spring to autumn? | 2026-03-01 | 2026-12-22 | monthly
¿qué pasó en verano? | 2026-06-01 | 2026-09-22 | monthly
¿Qué planté en primavera? | 2026-03-01 | 2026-06-22 | monthly
¿Qué pasó en el otoño? | 2026-09-01 | 2026-12-22 | monthly
¿Dónde estuvimos en invierno? | 2025-12-01 | 2026-03-22 | monthly
¿Qué hice el verano pasado? | 2026-06-01 | 2026-09-22 | monthly
¿Adónde fuimos hace dos veranos? | 2025-06-01 | 2025-09-22 | monthly
en la primavera de 2025 | 2025-03-01 | 2025-06-22 | monthly
What happened the week of 16 March? | 2026-03-16 | 2026-03-23 | weekly
What happened in the week of 3 March? | 2026-03-02 | 2026-03-09 | weekly
the week of March 18th | 2026-03-16 | 2026-03-23 | weekly
since the week of 18 March | 2026-03-16 | - | weekly
the week beginning 2026-03-16 | 2026-03-16 | 2026-03-23 | weekly
the week of last Tuesday | 2026-11-16 | 2026-11-23 | weekly
¿Qué pasó la semana del 16 de marzo? | 2026-03-16 | 2026-03-23 | weekly
en la semana del miércoles 18 de marzo | 2026-03-16 | 2026-03-23 | weekly
la semana que empezó el 16 de marzo | 2026-03-16 | 2026-03-23 | weekly
What happened between 16 and 20 March 2026? | 2026-03-16 | 2026-03-21 | daily
between March 16 and 20 | 2026-03-16 | 2026-03-21 | daily
from 3 to 5 March | 2026-03-03 | 2026-03-06 | daily
What did I do from March 16 to 20 with Ana? | 2026-03-16 | 2026-03-21 | daily
on March 3 and 4 | 2026-03-03 | 2026-03-05 | daily
3, 4 and 7 December | 2025-12-03 | 2025-12-08 | daily
16-20 March 2026 | 2026-03-16 | 2026-03-21 | daily
¿Qué pasó entre el 16 y el 20 de marzo? | 2026-03-16 | 2026-03-21 | daily
del 16 al 20 de marzo de 2025 | 2025-03-16 | 2025-03-21 | daily
What did I buy about three weeks ago? | 2026-10-24 | 2026-11-08 | weekly
I think about 3 weeks ago the boiler broke. Why? | 2026-10-24 | 2026-11-08 | weekly
around two months ago | 2026-08-22 | 2026-10-22 | monthly
roughly 3 days ago | 2026-11-17 | 2026-11-20 | daily
about 12 days ago | 2026-11-06 | 2026-11-13 | daily
almost a week ago | 2026-11-09 | 2026-11-19 | weekly
a couple of weeks ago | 2026-10-31 | 2026-11-15 | weekly
a few weeks ago | 2026-10-10 | 2026-11-08 | weekly
the last few days | 2026-11-15 | 2026-11-22 | daily
three weeks ago or so | 2026-10-24 | 2026-11-08 | weekly
two weekends ago | 2026-11-07 | 2026-11-09 | daily
a fortnight ago | 2026-11-02 | 2026-11-09 | weekly
¿Qué dije hace unas tres semanas? | 2026-10-24 | 2026-11-08 | weekly
hace más o menos dos meses | 2026-08-22 | 2026-10-22 | monthly
hace dos meses más o menos | 2026-08-22 | 2026-10-22 | monthly
casi hace tres meses | 2026-07-22 | 2026-09-21 | monthly
hace unas semanas | 2026-10-10 | 2026-11-08 | weekly
hace un par de semanas | 2026-10-31 | 2026-11-15 | weekly
¿Qué he hecho estos últimos días? | 2026-11-15 | 2026-11-22 | daily
dos semanas atrás | 2026-11-02 | 2026-11-09 | weekly
hace dos fines de semana | 2026-11-07 | 2026-11-09 | daily
Which notes from last week mention Lisbon? | 2026-11-09 | 2026-11-16 | weekly
¿Qué dijo Dana la semana pasada? | 2026-11-09 | 2026-11-16 | weekly
esta semana | 2026-11-16 | 2026-11-23 | weekly
la semana que viene | 2026-11-23 | 2026-11-30 | weekly
¿Qué hicimos ayer? | 2026-11-20 | 2026-11-21 | daily
ayer por la tarde | 2026-11-20 | 2026-11-21 | daily
anteayer | 2026-11-19 | 2026-11-20 | daily
anoche | 2026-11-20 | 2026-11-21 | daily
¿Qué he dicho hoy? | 2026-11-21 | 2026-11-22 | daily
mañana | 2026-11-22 | 2026-11-23 | daily
pasado mañana | 2026-11-23 | 2026-11-24 | daily
¿Qué compró Marco en marzo? | 2026-03-01 | 2026-04-01 | monthly
en marzo de 2025 | 2025-03-01 | 2025-04-01 | monthly
en marzo del año pasado | 2025-03-01 | 2025-04-01 | monthly
hace tres meses | 2026-08-01 | 2026-09-01 | monthly
hace un año | 2025-01-01 | 2026-01-01 | yearly
desde hace dos semanas | 2026-11-02 | - | weekly
¿De qué hablamos el viernes pasado? | 2026-11-20 | 2026-11-21 | daily
el lunes | 2026-11-16 | 2026-11-17 | daily
la reunión del miercoles | 2026-11-18 | 2026-11-19 | daily
el próximo viernes | 2026-11-27 | 2026-11-28 | daily
el mes pasado | 2026-10-01 | 2026-11-01 | monthly
el año pasado | 2025-01-01 | 2026-01-01 | yearly
en 2025 | 2025-01-01 | 2026-01-01 | yearly
entre mayo y julio | 2026-05-01 | 2026-08-01 | monthly
de mayo a julio de 2025 | 2025-05-01 | 2025-08-01 | monthly
desde el 3 de marzo hasta el 5 de abril | 2026-03-03 | 2026-04-06 | daily
después del 3 de marzo | 2026-03-04 | - | daily
antes de junio | - | 2026-06-01 | monthly
hasta el viernes pasado | - | 2026-11-21 | daily
los últimos 10 días | 2026-11-11 | 2026-11-22 | daily
en las últimas dos semanas | 2026-11-07 | 2026-11-22 | weekly
el trimestre pasado | 2026-07-01 | 2026-10-01 | quarterly
en el tercer trimestre de 2025 | 2025-07-01 | 2025-10-01 | quarterly
a finales de 2025 | 2025-01-01 | 2026-01-01 | yearly
Was habe ich letzte Woche gesagt? | 2026-11-09 | 2026-11-16 | weekly
vor drei Monaten | 2026-08-01 | 2026-09-01 | monthly
im März 2025 | 2025-03-01 | 2025-04-01 | monthly
qu'est-ce que j'ai fait hier ? | 2026-11-20 | 2026-11-21 | daily
la semaine dernière | 2026-11-09 | 2026-11-16 | weekly
la settimana scorsa | 2026-11-09 | 2026-11-16 | weekly
há 3 dias | 2026-11-18 | 2026-11-19 | daily
vorige week | 2026-11-09 | 2026-11-16 | weekly

What did Dana say half a year ago? | 2026-04-06 | 2026-07-06 | monthly
¿Qué hice hace medio año? | 2026-04-06 | 2026-07-06 | monthly
hace un año y medio | 2025-01-06 | 2025-10-04 | monthly
What did I do last Christmas? | 2025-12-24 | 2025-12-27 | daily
What did we eat on Christmas Day? | 2025-12-25 | 2025-12-26 | daily
What happened on New Year’s Eve? | 2025-12-31 | 2026-01-02 | daily
What did I do New Year's Eve? | 2025-12-31 | 2026-01-02 | daily
What did I do two Christmases ago? | 2024-12-24 | 2024-12-27 | daily
the Christmas before last | 2024-12-24 | 2024-12-27 | daily
What did I wear last Halloween? | 2026-10-31 | 2026-11-01 | daily
next Valentine's Day | 2027-02-14 | 2027-02-15 | daily
in the Christmas of 2023 | 2023-12-24 | 2023-12-27 | daily
¿Qué hice el día de Navidad? | 2025-12-25 | 2025-12-26 | daily
¿Qué hice las navidades pasadas? | 2025-12-24 | 2026-01-07 | daily
¿Qué cenamos en Nochevieja? | 2025-12-31 | 2026-01-02 | daily
¿Qué me dijo el día de Reyes? | 2026-01-06 | 2026-01-07 | daily
¿Adónde fuimos en San Valentín? | 2026-02-14 | 2026-02-15 | daily
¿Qué hice en la Navidad de 2024? | 2024-12-24 | 2024-12-27 | daily
¿Qué hice la Navidad del año pasado? | 2025-12-24 | 2025-12-27 | daily
What did I do in the Christmas holidays? | 2025-12-24 | 2026-01-07 | daily
What did I do at Easter? | 2026-04-03 | 2026-04-07 | daily
What did we do two Easters ago? | 2025-04-18 | 2025-04-22 | daily
Where did we go on Good Friday? | 2026-04-03 | 2026-04-04 | daily
What did I do on Easter Monday 2024? | 2024-04-01 | 2024-04-02 | daily
What did I do since Easter? | 2026-04-03 | - | daily
¿Qué hice en Semana Santa? | 2026-03-29 | 2026-04-06 | daily
¿Qué hicimos la Semana Santa pasada? | 2026-03-29 | 2026-04-06 | daily
¿Qué hice el Viernes Santo? | 2026-04-03 | 2026-04-04 | daily
What did I say at the beginning of the year? | 2026-01-01 | 2027-01-01 | yearly
What have I done since the start of the year? | 2026-01-01 | - | yearly
What did I do at the end of the month? | 2026-10-01 | 2026-12-01 | monthly
What did I do at the end of last year? | 2025-01-01 | 2026-01-01 | yearly
¿Qué dije a principios de año? | 2026-01-01 | 2027-01-01 | yearly
¿Qué hice al principio del mes? | 2026-11-01 | 2026-12-01 | monthly
¿Qué hice a principios del año pasado? | 2025-01-01 | 2026-01-01 | yearly
¿Qué hice a finales de año? | 2025-01-01 | 2027-01-01 | yearly
What did I buy in March '26? | 2026-03-01 | 2026-04-01 | monthly
¿Qué hice en marzo de ’26? | 2026-03-01 | 2026-04-01 | monthly
What did I do on the 16th? | 2026-11-16 | 2026-11-17 | daily
What did I do on the 30th? | 2026-10-30 | 2026-10-31 | daily
What happened between the 3rd and the 5th? | 2026-11-03 | 2026-11-06 | daily
What did I buy on the 16th of last month? | 2026-10-16 | 2026-10-17 | daily
¿Qué hice el día 16? | 2026-11-16 | 2026-11-17 | daily
¿Qué pasó entre el 3 y el 5? | 2026-11-03 | 2026-11-06 | daily
¿Qué hice el 16 del mes pasado? | 2026-10-16 | 2026-10-17 | daily
What did I do on the first of March? | 2026-03-01 | 2026-03-02 | daily
¿Qué hice el uno de marzo? | 2026-03-01 | 2026-03-02 | daily
What did I do on 16/03/2026? | 2026-03-16 | 2026-03-17 | daily
What did I do on 3/16/2026? | 2026-03-16 | 2026-03-17 | daily
What did I do on 5/5/26? | 2026-05-05 | 2026-05-06 | daily
What did I do on 16.3.2026? | 2026-03-16 | 2026-03-17 | daily
¿Qué hice el 03/04/2026? | 2026-04-03 | 2026-04-04 | daily
¿Qué hice el 16/03? | 2026-03-16 | 2026-03-17 | daily
on 2026/03/16 | 2026-03-16 | 2026-03-17 | daily
What did I do on Friday the 13th? | 2026-11-13 | 2026-11-14 | daily
¿Qué hice el martes 16? | 2026-06-16 | 2026-06-17 | daily
¿Qué hice el día 16 de marzo? | 2026-03-16 | 2026-03-17 | daily
What did I do the last day of March? | 2026-03-31 | 2026-04-01 | daily
¿Qué hice el primer día de marzo? | 2026-03-01 | 2026-03-02 | daily
¿Qué hice la semana del 16? | 2026-11-16 | 2026-11-23 | weekly
What did I do between Christmas and New Year? | 2025-12-24 | 2026-01-02 | daily
¿Qué hice entre Navidad y Reyes? | 2025-12-24 | 2026-01-07 | daily
What did I do over the weekend? | 2026-11-21 | 2026-11-23 | daily
¿Qué hice el finde? | 2026-11-21 | 2026-11-23 | daily
the weekend before last | 2026-11-07 | 2026-11-09 | daily
What did I do Monday? | 2026-11-16 | 2026-11-17 | daily
What did I say an hour ago? | 2026-11-20 | 2026-11-22 | daily
¿Qué dije en las últimas 24 horas? | 2026-11-20 | 2026-11-22 | daily
¿Qué hice anteanoche? | 2026-11-19 | 2026-11-20 | daily
¿Qué hice del 3 al 5? | 2026-11-03 | 2026-11-06 | daily

@ 2026-02-10T12:00:00Z Europe/Lisbon
in March | 2025-03-01 | 2025-04-01 | monthly
in February | 2026-02-01 | 2026-03-01 | monthly
between May and July | 2025-05-01 | 2025-08-01 | monthly
between November and February | 2025-11-01 | 2026-03-01 | monthly
last quarter | 2025-10-01 | 2026-01-01 | quarterly
last February | 2025-02-01 | 2025-03-01 | monthly

@ 2026-01-01T00:30:00Z America/New_York
today | 2025-12-31 | 2026-01-01 | daily
this year | 2025-01-01 | 2026-01-01 | yearly
in January | 2025-01-01 | 2025-02-01 | monthly
last week | 2025-12-22 | 2025-12-29 | weekly
this week | 2025-12-29 | 2026-01-05 | weekly

@ 2025-12-31T23:30:00Z Europe/Madrid
hoy | 2026-01-01 | 2026-01-02 | daily
ayer | 2025-12-31 | 2026-01-01 | daily
el mes pasado | 2025-12-01 | 2026-01-01 | monthly
en enero | 2026-01-01 | 2026-02-01 | monthly
la semana pasada | 2025-12-22 | 2025-12-29 | weekly

@ 2027-01-03T10:00:00Z Asia/Kolkata
last week | 2026-12-21 | 2026-12-28 | weekly
next year | 2028-01-01 | 2029-01-01 | yearly
two months ago | 2026-11-01 | 2026-12-01 | monthly

@ 2026-03-29T12:00:00Z Europe/Lisbon
today | 2026-03-29 | 2026-03-30 | daily
this week | 2026-03-23 | 2026-03-30 | weekly
in March | 2026-03-01 | 2026-04-01 | monthly

@ 2026-11-20T12:00:00Z America/New_York
on Friday | 2026-11-13 | 2026-11-14 | daily
this Friday | 2026-11-20 | 2026-11-21 | daily
in November | 2026-11-01 | 2026-12-01 | monthly

@ 2028-02-29T12:00:00Z UTC
a year ago | 2027-01-01 | 2028-01-01 | yearly
29 February | 2028-02-29 | 2028-03-01 | daily
"""

LEFT_ALONE = """
When did Dana move?
When did Marco lose his job at Kestrel?
Where may I park?
May I see the invoice?
What may Dana eat?
The 3 may be wrong
the 3rd may be wrong
May 3 people come?
How old is May?
When did May call?
What hangs in May's room?
What did Dana do before April left?
Does Dana remember anything of June Miller?
Who will march in the parade?
Did they march 3 miles?
the march on Washington
Who wants to live in Mars?
What is the second item?
Who sat down?
Does Dana like the sun?
Mon ami
What is order NW-2025?
What does error 2025 mean?
Who paid 2025 euros?
in 2025 euros
a budget of 2025 dollars
out of 2025 requests
Which room is 1999?
Who slept in room 1999?
Did Dana read the book 1984?
the class of 2010
the winter of 2025
in the 1990s
in 1899
in 2101
Does version 2025.1 run?
What changed in version 2.2025?
https://example.com/2025/03/04
file-2026-03-02.txt
c-2026-03-02-1
What is the meaning of 3/4/2025?
on 30 February
What is planned for week 3 of the course?
What hurt in week 12 of my pregnancy?
¿Qué comí en la semana 20 de embarazo?
week 53 of 2025
in week 60
this week 12 people came
I train in the week 3 times
the week 3 days before the trip
Which version is week 7 pinned to?
What comes next?
What is the next step?
What happened the next day?
What happened the next week?
What is Dana's last name?
When was the last time Dana called?
Does the warranty last two years?
Did the battery last three months?
What did Marco learn in his last week?
What happened in Dana's last year at school?
the last week of the course
Who is Priya's manager today?
What is Dana's job title today?
¿Dónde vive Marco hoy?
Wo wohnt Dana heute?
Who reads USA Today articles?
Who sang Yesterday Once More?
every Friday
Who does Dana see on Monday evenings?
What is on Saturday the 21st?
Does Dana work from Monday to Friday?
Does she work on Fridays?
What does Dana do every week?
Which level does Priya hold from November 2026?
What was owed as of the end of August?
Since which year had Priya been vegetarian?
Who is Lee's manager since the change of team?
more than three months ago
What did Dana say the week before last Monday?
a year and two months ago
a week and a day ago
two or three weeks ago
between two and three weeks ago
What changed in the past year and a half?
the past 2 years and 3 months
¿Qué cambió en el último año y medio?
What do we do at Christmas?
What did I plan for Christmas?
Did I buy the Christmas Eve pajamas?
What did I eat before the Christmas party?
When do I water my Christmas cactus?
Christmas
16/03 is my lucky number
What did I do on 03/04/2026?
What happened on the 16th floor?
What do I do at the weekend?
Did the battery last two hours?
What did I sing on Friday 13 times?
¿Cuántas horas duermo?
What appointment do I have on the 16th?
Is 16.3.2026 the newest version?
What happened half a week ago?
Who should march first?
¿Qué compré para Navidad?
Where did I hide the Easter egg?
What did I put in the Easter egg?
What did I say about Easter Island?
What do we do at Easter?
¿Dónde compré el huevo de Pascua?
What did I read at the beginning of the book?
What do I pay at the beginning of the month?
¿Qué pago a principios de mes?
¿Qué estudié a principios del año escolar?
What did I say of the class of '98?
¿Cuál es la receta de la cena de Navidad?
¿Qué hago en Navidad?
¿Qué hice las semanas pasadas?
¿Cuánto tardó el 16 hasta Gracia?
¿Qué cita tengo el día 16?
hace medio año que no llama
hace un año y dos meses
vor einem Jahr und zwei Monaten
What did Dana do in March 2 years ago?
Compare last week with this week
Was it more than last month?
two weeks later
in a week
What did Marco finish within two weeks?
a three month contract
How many weeks of holiday does Dana have?
What was the answer to Q1?
Is it quarter past three?
between 30 and 3 March
Rooms 3 and 4 may be free
more than a few weeks ago
less than two weeks ago
the week of Dana's tour
la semana del curso
Did Dana fall in 2025 puddles?
Where do we go in summer?
¿Qué hago en verano?
Who hung up the spring coat?
What did I learn in summer school?
What happened in Spring Street?
What did I do after the fall?
summer
hace más de dos meses
los últimos días del curso
What hurts in the last week of May's tour?
the first week of the course
la primera semana del curso
el coche de Julio
¿Qué hace Marco por la mañana?
¿Vive aquí hace tres meses?
Hace tres meses que no llama
¿Cuándo nació la hija de Marco?
¿Qué dijo la hija de Marco ese día?
¿Qué coche de segunda mano vio ese mes?
cinco de mayo
¿Qué hace Dana todos los viernes?
Was ist hier passiert?
Guten Morgen
"""


def _understood() -> Iterator[tuple[str, str, str, str, str, str]]:
    asked = zone = ""
    for line in filter(None, UNDERSTOOD.splitlines()):
        if line.startswith("@"):
            _, asked, zone = line.split()
        else:
            words, first, last, grain = line.split(" | ")
            yield asked, zone, words, first, last, grain


def _midnight(day: str, zone: ZoneInfo) -> datetime | None:
    return (
        None
        if day == "-"
        else datetime.combine(
            date.fromisoformat(day), datetime.min.time(), zone
        )
    )


def _asked(
    text: str, now: str = "2026-11-21T15:30:00+00:00"
) -> TimeWords | None:
    return understand(text, datetime.fromisoformat(now), UTC_ZONE)


@pytest.mark.parametrize(
    ("asked", "zone", "words", "first", "last", "grain"), list(_understood())
)
def test_understands_the_window(
    asked: str, zone: str, words: str, first: str, last: str, grain: str
) -> None:
    where = ZoneInfo(zone)
    found = understand(words, datetime.fromisoformat(asked), where)
    assert found is not None
    assert (found.since, found.until) == (
        _midnight(first, where),
        _midnight(last, where),
    )
    assert found.grain == grain
    assert {limit.tzinfo for limit in (found.since, found.until) if limit} == {
        UTC
    }
    assert found.phrase in words


@pytest.mark.parametrize("text", list(filter(None, LEFT_ALONE.splitlines())))
def test_leaves_alone_what_may_mean_something_else(text: str) -> None:
    assert _asked(text) is None


def test_a_verb_does_not_widen_the_window() -> None:
    found = _asked("in March and may have left")
    assert found is not None
    assert found.phrase == "in March"


@pytest.mark.parametrize(
    ("text", "phrase", "rest"),
    [
        (
            "What did Dana say last week about the boiler?",
            "last week",
            "What did Dana say about the boiler?",
        ),
        ("In March, where did Dana live?", "In March", "where did Dana live?"),
        ("yesterday's meeting", "yesterday's", "meeting"),
        ("¿Qué pasó entre mayo y julio?", "entre mayo y julio", "¿Qué pasó?"),
        (
            "Which notes (from last week) mention Lisbon?",
            "from last week",
            "Which notes mention Lisbon?",
        ),
        ("last week", "last week", "last week"),
        ("Yesterday?", "Yesterday", "Yesterday?"),
    ],
)
def test_gives_back_the_words_that_are_left(
    text: str, phrase: str, rest: str
) -> None:
    found = _asked(text)
    assert found is not None
    assert (found.phrase, found.rest) == (phrase, rest)


def test_days_begin_at_local_midnight_across_a_change_of_the_clocks() -> None:
    found = understand(
        "today",
        datetime(2026, 3, 29, 12, tzinfo=UTC),
        ZoneInfo("Europe/Lisbon"),
    )
    assert found is not None
    assert found.since == datetime(2026, 3, 29, 0, tzinfo=UTC)
    assert found.until == datetime(2026, 3, 29, 23, tzinfo=UTC)


def test_a_day_that_the_zone_skipped_has_no_window() -> None:
    now = datetime(2012, 3, 1, tzinfo=UTC)
    assert (
        understand("on 30 December 2011", now, ZoneInfo("Pacific/Apia"))
        is None
    )


@pytest.mark.parametrize(
    "zone", ["America/Argentina/Buenos_Aires", "Australia/Sydney"]
)
def test_seasons_south_of_the_equator_are_those_of_the_south(
    zone: str,
) -> None:
    where = ZoneInfo(zone)
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    found = understand("el verano pasado", now, where)
    assert found is not None
    assert found.since == datetime(2025, 12, 1, tzinfo=where)
    assert found.until == datetime(2026, 3, 22, tzinfo=where)


def test_understands_only_what_the_corpus_questions_say() -> None:
    questions = [
        entry["question"]
        for entry in json.loads(QUESTIONS.read_text(encoding="utf-8"))
    ]
    found = {q: words.phrase for q in questions if (words := _asked(q))}
    assert found == {
        "On which day was Dana's dentist appointment in October 2025?": "in October 2025",
        "Where was Dana living in April 2026?": "in April 2026",
        "Where did Marco work in the summer of 2025?": "in the summer of 2025",
        "¿En qué vuelo fue Marco a Valencia por Navidad y con qué localizador?": "por Navidad",
    }


def test_a_text_without_a_hint_does_not_build_the_grammar() -> None:
    program = (
        "from datetime import UTC, datetime; from zoneinfo import ZoneInfo\n"
        "from varve.domain.language.grammar import installed_grammar\n"
        "from varve.domain.language.timewords import understand\n"
        "assert understand('Where does Dana live?', datetime.now(UTC), ZoneInfo('UTC')) is None\n"
        "assert installed_grammar.cache_info().currsize == 0"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )


WORDS = """last this next past the in on of since before after until between and to from ago three 10 2025
March may Friday week months year quarter Q3 today yesterday hace tres meses el pasado viernes de marzo a y
semana 3rd , ? 's 9999 0 999 early end of letzte Woche hier vor drei Monaten 31 30 February -"""
TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from(WORDS.split()), max_size=9
).map(" ".join)
MOMENTS = st.integers(-62_000_000_000, 253_000_000_000).map(
    lambda s: datetime.fromtimestamp(s, UTC)
)
ZONES = st.sampled_from(
    [
        "UTC",
        "America/New_York",
        "Asia/Kolkata",
        "Pacific/Apia",
        "Europe/Lisbon",
    ]
)


@given(TEXTS, MOMENTS, ZONES)
def test_never_raises_and_is_deterministic(
    text: str, now: datetime, zone: str
) -> None:
    found = understand(text, now, ZoneInfo(zone))
    assert found == understand(text, now, ZoneInfo(zone))
    if found is not None:
        assert found.since or found.until
        assert (
            found.since is None
            or found.until is None
            or found.since < found.until
        )
        assert found.phrase in text
        assert found.rest
        assert found.grain in Grain


WORDS = st.sampled_from([
    "yesterday", "ayer", "Q3", "2026", "x2026", "1999y", "segunda-feira", "feira", "lunes", "mar.",
    "hier,", "aujourd'hui", "may", "two", "semanas", "sowohl", "Dienstag", "(ontem)",
])  # fmt: skip


@given(st.lists(WORDS | st.text(max_size=6), max_size=8).map(" ".join))
def test_every_text_with_an_expression_of_time_hints_at_time(
    text: str,
) -> None:
    if installed_grammar().scan.search(text):
        assert hints_at_time(text)


@pytest.mark.parametrize(
    "text",
    ["yesterday", "x 2026 y", "segunda-feira", "(ontem)", "aujourd'hui", "Q3"],
)
def test_a_word_of_time_hints_at_time(text: str) -> None:
    assert hints_at_time(text)


@pytest.mark.parametrize("text", ["12026", "feira", "Where does Dana live?"])
def test_other_words_do_not_hint_at_time(text: str) -> None:
    assert not hints_at_time(text)
