"""Fits how a text's wording tells the present: `python -m benchmarks.updates_fit_wording`.

Writes `domain/statements/texts/wording.tsv`. Of the user's lines of the fitted parts of
`benchmarks/updates`, and of the single lines in `benchmarks/updates/lines`, those of
superseded and of current values tell the speaker's own present; look-alikes and other lines
do not, and count twice. Of the former, the current values of updates tell a change. Logistic
regression on the signals that `wording.py` measures: Adam, 400 steps of 0.05, with a penalty
of an eighth of the squared weights, as a share of the sum over all lines. A phrase that fewer
than five lines have is left out, and so are weights under 0.1. Printed is, for lines of parts
that the weights were not fitted on, how often a line that tells the present gets more than a
look-alike (the area under the curve).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.updates_cases import FOLDER, read_cases
from varve.domain.statements.texts import wording
from varve.domain.statements.texts.wording import Wording, measure_wording

PARTS = (
    "fitted", "second", "third", "fourth", "fifth", "sixth", "seventh",
    "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
    "fourteenth", "fifteenth",
)  # fmt: skip
LINES = FOLDER / "lines"
"""Files of single lines, one of each hand: a mark of `updates_cases.py` and the words."""
MIN_LINES = 5
LEAST_WEIGHT = 0.1
STEPS, RATE = 400, 0.05
OTHER_LINES_COUNT = 2.0
PENALTY = 0.25
TABLE = Path(wording.__file__).parent / wording.TABLE


@dataclass(frozen=True, slots=True)
class Told:
    """A user's line with its mark and its part, or the file of single lines that has it."""

    text: str
    mark: str
    part: str

    @property
    def tells_present(self) -> bool:
        """Whether the line tells the speaker's own present."""
        return self.mark in "-+="


def main() -> None:
    """Write the table, and print how well parts apart are told."""
    lines = read_lines()
    for part in PARTS:
        table = fit_table([line for line in lines if line.part != part])
        apart = [line for line in lines if line.part == part]
        print(f"{part}: {measure_area(apart, table):.3f}")
    write_table(fit_table(lines))


def read_lines() -> list[Told]:
    """Return the user's lines of all fitted parts and the single lines, each once."""
    found: dict[str, Told] = {}
    for path in sorted(LINES.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                mark, text = line.split(maxsplit=1)
                found[text] = Told(text, mark, path.stem)
    for part in PARTS:
        for case in read_cases(f"{part}.txt"):
            for line in case.lines:
                if line.is_user:
                    found[line.text] = Told(line.text, line.mark, part)
    return list(found.values())


def fit_table(lines: Sequence[Told]) -> dict[str, Wording]:
    """Return the weights of each signal."""
    signals = [measure(line.text) for line in lines]
    counts = Counter(name for one in signals for name in one)
    names = [name for name, count in counts.items() if count >= MIN_LINES]
    is_present = np.array([line.tells_present for line in lines])
    is_change = np.array([line.mark == "+" for line in lines])
    telling = fit(
        signals,
        names,
        is_present,
        np.where(is_present, 1.0, OTHER_LINES_COUNT),
    )
    changing = fit(signals, names, is_change, is_present.astype(float))
    pairs = zip(names, telling.tolist(), changing.tolist(), strict=True)
    table = {
        name: Wording(round(first, 2), round(second, 2))
        for name, first, second in pairs
    }
    return {name: one for name, one in table.items() if _weighs(one)}


def _weighs(weights: Wording) -> bool:
    return max(abs(weights.telling), abs(weights.changing)) > LEAST_WEIGHT


@cache
def measure(text: str) -> Mapping[str, float]:
    """Return the signals of a text (`wording.measure_wording`)."""
    return measure_wording(text)


def fit(
    signals: Sequence[Mapping[str, float]],
    names: Sequence[str],
    is_right: np.ndarray,
    counts: np.ndarray,
) -> np.ndarray:
    """Return a weight for each name by logistic regression."""
    places = {name: place for place, name in enumerate(names)}
    rows, columns, values = [], [], []
    for row, one in enumerate(signals):
        for name, value in one.items():
            if name in places:
                rows.append(row)
                columns.append(places[name])
                values.append(value)
    row_of, column_of = np.array(rows), np.array(columns)
    value_of = np.array(values)
    weights = np.zeros(len(names))
    speed, spread = np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, STEPS + 1):
        odds = np.bincount(row_of, value_of * weights[column_of], len(signals))
        error = (1 / (1 + np.exp(-odds)) - is_right) * counts
        slope = np.bincount(column_of, value_of * error[row_of], len(names))
        slope += PENALTY * weights
        speed = 0.9 * speed + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        falling = RATE * (1 - step / STEPS) / (1 - 0.9**step)
        weights -= (
            falling * speed / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        )
    return weights


def score(text: str, table: Mapping[str, Wording]) -> Wording:
    """Return what `wording.read_wording` would by this table."""
    telling = changing = 0.0
    for name, value in measure(text).items():
        if name in table:
            telling += table[name].telling * value
            changing += table[name].changing * value
    return Wording(telling, changing)


def measure_area(lines: Sequence[Told], table: Mapping[str, Wording]) -> float:
    """Return the share of pairs of a telling line and a look-alike in the right order."""
    present = [
        score(line.text, table).telling for line in lines if line.tells_present
    ]
    others = [
        score(line.text, table).telling for line in lines if line.mark == "~"
    ]
    right = np.array(present)[:, None] > np.array(others)[None, :]
    return float(right.mean())


def write_table(table: Mapping[str, Wording]) -> None:
    """Write the weights, sorted by name."""
    rows = [
        f"{name}\t{one.telling:g}\t{one.changing:g}\n"
        for name, one in sorted(table.items())
    ]
    TABLE.write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
