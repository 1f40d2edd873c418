"""Recursive SQL for neighbours and paths, bounded in hops and in breadth.

Both directions of an edge are united before the join, because a join on either end reads
the whole table for each hop. Hubs would make a search reach almost everything: in one
graph two hops reached 99 of 100 entities. So a search follows only the newest edges of
each entity.
"""

FAN_OUT = 50
"""Edges that a search follows from one entity, newest first."""
FRONTIER = 5_000
"""Entities or unfinished paths that a search carries into its next hop."""

HOLDS = "valid_at <= $at and (invalid_at is null or $at < invalid_at)"
"""`Triple.holds` as SQL."""

_EDGES = """
edges as (
    select source_id as here, target_id as there, label, id, valid_at, true as forward
    from current
    union all
    select target_id, source_id, label, id, valid_at, false
    from current where source_id != target_id
)"""
_CURRENT = f"""
with recursive current as (
    select * from facts
    where target_id != '' and label not in ('also_known_as', 'name', 'goes_by')
      and {HOLDS}
)"""
NEIGHBOURS = f"""
{_CURRENT}, {_EDGES},
reach(entity, hops, label, other, forward) using key (entity) as (
    select $start::varchar, 0, null::varchar, null::varchar, null::boolean
    union
    (
        select there, hops + 1, label, here, forward
        from (
            select here, there, hops, edges.label, edges.id, edges.forward
            from reach join edges on here = reach.entity
            where hops < $hops and not exists (
                select 1 from recurring.reach seen where seen.entity = there
            )
            qualify row_number() over (
                partition by here order by valid_at desc, edges.id
            ) <= $fan
        )
        qualify row_number() over (partition by there order by here, id) = 1
            and row_number() over (order by there, here) <= $frontier
    )
)
select entity, hops, label, other, forward from reach
where hops > 0 order by hops, entity limit $most"""
PATHS = f"""
{_CURRENT}, {_EDGES},
walk(entity, seen, ids, forwards) as (
    select $start::varchar, [$start::varchar], []::varchar[], []::boolean[]
    union all
    (
        select there, list_append(seen, there), list_append(ids, edges.id),
            list_append(forwards, forward)
        from walk join edges on here = walk.entity
        where walk.entity != $goal and len(ids) < $hops and not list_contains(seen, there)
        qualify there = $goal or (
            row_number() over (
                partition by seen, ids order by valid_at desc, edges.id, forward
            ) <= $fan
            and row_number() over (order by seen, ids, edges.id) <= $frontier
        )
    )
)
select seen, ids, forwards from walk where entity = $goal and len(ids) > 0
order by len(ids), seen, ids limit $most"""
