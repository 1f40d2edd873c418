"""An agent that does better the second time: recall, decide, record.

With `OPENAI_API_KEY` a model decides; without it the likeliest known answer does. Run it as
it stands, twice: `python examples/experience_loop.py ./memory`.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from openai import OpenAI

from varve import Memory
from varve.api.experience import Recall

Decide = Callable[[str, Recall, Sequence[str]], str]
"""Returns one of the actions for a situation and what was recalled for it."""

INSTRUCTIONS = "Choose the one action that solves the incident. Answer with the action's words alone."
ACTIONS = ("restart the service", "raise the pool", "roll back the release")
INCIDENTS = {
    "c-1": (
        "Checkout times out, threads wait for connections. A release went out at noon.",
        "roll back the release",
        "The errors began with the release.",
    ),
    "c-2": (
        "Search times out, threads wait for connections. There was no release this week.",
        "raise the pool",
        "All connections were in use, and nothing had changed.",
    ),
    "c-3": (
        "Billing times out, threads wait for connections. A release went out an hour ago.",
        "roll back the release",
        "The errors began with the release.",
    ),
}
"""By conversation: the situation, the action that turned out right, and the reason."""


def decide_with_model(client: OpenAI, model: str) -> Decide:
    """Return a decision by a model that reads the `<experience>` block."""

    def decide(situation: str, past: Recall, actions: Sequence[str]) -> str:
        asked = f"Actions: {'; '.join(actions)}.\n{past.block}"
        reply = client.chat.completions.create(
            model=model,
            messages=[
                {"role": "system", "content": f"{INSTRUCTIONS}\n{asked}"},
                {"role": "user", "content": situation},
            ],
        )
        words = (reply.choices[0].message.content or "").casefold()
        named = [action for action in actions if action in words]
        return named[0] if named else actions[0]

    return decide


def decide_offline(_: str, past: Recall, actions: Sequence[str]) -> str:
    """Return the likeliest known answer; if nothing like this is known, the first action."""
    if not past.known:
        return actions[0]
    return next(item.answer for item in past.items if item.answer)


def solve(
    memory: Memory, conversation: str, situation: str, decide: Decide
) -> tuple[str, Recall]:
    """Recall what is like the situation, decide, and keep the conversation."""
    past = memory.recall_experience(situation, state="incident")
    action = decide(situation, past, ACTIONS)
    said = [("user", situation), ("assistant", f"Decision: {action}.")]
    messages = [
        {"role": role, "content": words, "state": "incident"}
        for role, words in said
    ]
    memory.ingest({"conversationId": conversation, "messages": messages})
    return action, past


def record(
    memory: Memory, conversation: str, action: str, past: Recall
) -> bool:
    """Record how it ended, once that is known; return whether the action was right."""
    _, truth, reason = INCIDENTS[conversation]
    is_right = action == truth
    memory.record_outcome(
        conversation,
        "SUCCESS" if is_right else "FAILURE",
        decision=action,
        resolution=truth,
        correction=None if is_right else reason,
        used=past.ids,
    )
    return is_right


def choose_decider(environment: Mapping[str, str]) -> Decide:
    """Return a model's decision if a key is set, else the offline one."""
    key = environment.get("OPENAI_API_KEY")
    if not key:
        return decide_offline
    url = environment.get("OPENAI_BASE_URL")
    model = environment.get("MODEL", "gpt-4.1-mini")
    return decide_with_model(OpenAI(api_key=key, base_url=url), model)


def main(store: str, environment: Mapping[str, str]) -> list[bool]:
    """Work through the incidents; return for each whether the action was right."""
    decide = choose_decider(environment)
    results: list[bool] = []
    with Memory.open(store, agent="operator") as memory:
        for conversation, (situation, _, _) in INCIDENTS.items():
            action, past = solve(memory, conversation, situation, decide)
            is_right = record(memory, conversation, action, past)
            print(f"{situation}\n  {action}: {is_right}\n{past.block}")
            results.append(is_right)
    return results


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./memory", os.environ)
