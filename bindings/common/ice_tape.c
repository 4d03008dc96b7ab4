/* Filling a tape: functions that are called rarely. */
#include "common/ice_tape.h"

/* Announces to the host that a tape will grow to this size. A host with a memory limit may leave
 * by an exception here, before the memory is allocated. */
static void
announce_size(icecore_context *engine, size_t nodes, size_t bytes)
{
#ifdef ICE_HOST_COUNTS_MEMORY
    ice_host_announce_size(engine, nodes * sizeof(icecore_node) + bytes);
#else
    (void)engine, (void)nodes, (void)bytes;
#endif
}

/* The engine at least doubles the capacity, so the cost of all growing is proportional to the final
 * size. The capacity grows by at least 64 nodes, because fewer would soon be used up. */
void
ice_reserve_nodes(icecore_context *engine, icecore_tape *tape, size_t more)
{
    announce_size(engine, tape->node_count + more, tape->arena_len);
    if (icecore_grow_nodes(engine, tape, tape->node_count + (more < 64 ? 64 : more)) != ICECORE_OK)
        ice_host_fail("too many values, or not enough memory");
}

void
ice_reserve_bytes(icecore_context *engine, icecore_tape *tape, size_t more)
{
    /* announce_size adds the bytes of the nodes to this sum. The sum is limited to half of the
     * address space, so that the addition does not overflow. The real sum is checked below. */
    announce_size(engine, tape->node_count,
                  tape->arena_len > SIZE_MAX / 2 - more ? SIZE_MAX / 2 : tape->arena_len + more);
    if (more > SIZE_MAX - tape->arena_len
        || icecore_grow_arena(engine, tape, tape->arena_len + more) != ICECORE_OK)
        ice_host_fail("not enough memory");
}

void
ice_push_long_string(icecore_context *engine, icecore_tape *tape, uint8_t kind, uint8_t flags, uint16_t key,
                     uint64_t offset, size_t len)
{
    const uint32_t index = ice_push(engine, tape, kind, flags, key, 0, 0);
    icecore_node *node = &tape->nodes[index];
    if (icecore_long_string(engine, kind, offset, len, node) != ICECORE_OK)
        ice_host_fail("a string is too long");
    /* icecore_long_string wrote the whole node, without these two. */
    node->flags = flags;
    node->key = key;
}

/* A refused part leaves the tape as it is. If no part was written, the tape still has all nodes so
 * far. If a part was written, its nodes are gone, so the host must begin again. */
ice_part_result
ice_write_part(icecore_context *engine, const icecore_stage *stage, icecore_tape *tape, uint32_t *part_count)
{
    ice_tape_finish(engine, tape);
    if (icecore_write_part(engine, stage, tape) == ICECORE_OK) {
        ++*part_count;
        return ICE_PART_WRITTEN;
    }
    return *part_count ? ICE_PART_RESTART : ICE_PART_UNSUPPORTED;
}
