"""The `<experience>` block behind a context: what was right in situations like the prompt's."""

from varve.domain.block import EXPERIENCE_UNKNOWN
from varve.domain.context import ContextBlock, ContextRequest
from varve.domain.experience.block import MAX_TOKENS, build_experience_block
from varve.domain.experience.recall import recollect
from varve.domain.text import estimated_tokens
from varve.ports.search import word_embedding
from varve.usecases.context.gathering import Sources
from varve.usecases.experience.learnt import limit_to_user

MAX_EPISODES = 200
"""The newest episodes that a prompt is compared with: a prompt must not wait for all."""
MAX_PROMPT = 600
"""Characters of a prompt that are compared, as many as a situation has."""
MAX_BUDGET_SHARE = 0.25


def recall_for_context(request: ContextRequest, sources: Sources) -> str:
    """Return the block of experience with situations like the prompt's.

    Empty if no episode has a known answer, or the budget has no room. Lessons have a
    block of their own. If the request names a user, only that user's episodes count.
    """
    history = limit_to_user(sources.past(), request.user_id)
    resolved = any(past.resolution for past in history.past_episodes)
    prompt = request.prompt.strip()[:MAX_PROMPT]
    if not resolved or not prompt:
        return ""
    embedder = sources.embedder
    (vector,) = embedder.embed([prompt])
    found = recollect(
        prompt,
        vector,
        history,
        [],
        embedder.embed,
        words=word_embedding(embedder),
        most=MAX_EPISODES,
    )
    room = int(MAX_BUDGET_SHARE * request.budget)
    block = build_experience_block(found, min(MAX_TOKENS, room))
    return block if estimated_tokens(block) <= room else ""


def leave_room(request: ContextRequest, experience: str) -> ContextRequest:
    """Return the request with a budget that leaves room for the block."""
    if not experience:
        return request
    left = request.budget - estimated_tokens(experience) - 1
    return request.model_copy(update={"max_tokens": left})


def with_experience(block: ContextBlock, experience: str) -> ContextBlock:
    """Return the context with the block behind it.

    That nothing is known does not make a block of an empty one.
    """
    if not experience or (block.empty and EXPERIENCE_UNKNOWN in experience):
        return block
    text = f"{block.text}\n{experience}".lstrip()
    return block.model_copy(
        update={
            "text": text,
            "tokens": estimated_tokens(text),
            "empty": False,
            "reason": None,
        }
    )
