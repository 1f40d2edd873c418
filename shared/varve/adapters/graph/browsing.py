"""SQL that lists triples and entities for a reader, with or without experience's links."""

from varve.adapters.graph.walks import HOLDS
from varve.domain.experience.link_types import LINK_END, LinkType
from varve.domain.names import ALSO_KNOWN_AS, LITERAL

_LINKS = ", ".join(f"'{label}'" for label in LinkType)
_NAMES = ", ".join(f"'{label}'" for label in sorted(LITERAL))

KNOWLEDGE = f"""not (
    label in ({_LINKS}) and (
        regexp_full_match(source_id, '{LINK_END}')
        or regexp_full_match(target_id, '{LINK_END}')
    )
)"""
"""Whether a triple is no link between episodes."""

_DRAWN_NOW = (
    f"{HOLDS} and ($links or {KNOWLEDGE}) and label != '{ALSO_KNOWN_AS}'"
)

NEWEST = f"""
select * from facts where {_DRAWN_NOW}
order by valid_at desc, id limit $most"""

HOLDING = f"select count(*) from facts where {_DRAWN_NOW}"

CHANGED = f"""
select * from facts
where {KNOWLEDGE} and valid_at is distinct from invalid_at and (
    ($since <= valid_at and valid_at < $until)
    or ($since <= invalid_at and invalid_at < $until)
)
order by greatest(
    valid_at, case when invalid_at < $until then invalid_at else valid_at end
) desc, id
limit $most"""
"""Triples that began or ended in a span, the last change first."""

ENTITIES = f"""
with named as (
    select source_id as entity, id, valid_at, {HOLDS} as holds from facts
    where {KNOWLEDGE}
    union all
    select target_id, id, valid_at, {HOLDS} from facts
    where {KNOWLEDGE} and target_id not in ('', source_id) and label not in ({_NAMES})
)
select entity, count(*), count(*) filter (holds), epoch_us(max(valid_at)), arg_max(id, valid_at)
from named where contains(entity, $part)
group by entity order by count(*) desc, entity limit $most offset $skip"""

DRAWN = """
select * from facts
where list_contains(
    json_extract_string(properties, '$.evidence[*].conversationId'), $conversation
)
order by valid_at, id limit $most"""
"""Triples that a statement of a conversation made, confirmed or ended."""

BY_ID = "select * from facts where id in (select unnest($1::varchar[]))"
