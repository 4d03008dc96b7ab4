/* Functions that fill a tape: they push nodes and strings, end containers, grow the tape, and
 * write a large document in parts.
 *
 * Ownership: the memory of a tape belongs to its engine's context. The caller may use it from
 * ice_tape_begin until the next call of the engine with this context. When the tape grows, its
 * memory may move: the index of a node stays valid, a pointer to it does not. Values of the
 * host are copied.
 *
 * `flags` are ICECORE_FLAG_… bits. `key` is the id of the node's key in a map, or
 * ICECORE_NO_KEY (0). The meaning of `aux` and `payload` depends on the kind: docs/tape.md.
 *
 *   icecore_tape tape;
 *   const uint8_t no_flags = 0;
 *   ice_tape_begin(engine, &tape);
 *   list = ice_push(engine, &tape, ICECORE_ARRAY, no_flags, ICECORE_NO_KEY, 0, 0);
 *   ice_push(engine, &tape, ICECORE_INT, no_flags, ICECORE_NO_KEY, 0, 42);
 *   ice_push_string(engine, &tape, ICECORE_TEXT, no_flags, ICECORE_NO_KEY, "text", 4);
 *   ice_end_node(&tape, list, 2, 0);   // 2 items, no wrappers
 *   ice_tape_finish(engine, &tape);
 *   icecore_write(engine, stage, &tape, &out, NULL, &error);
 */
#ifndef ICE_TAPE_H
#define ICE_TAPE_H
#include "common/ice_bytes.h"
#include "common/ice_host.h"
#include "icecore.h"

/* Number of bytes that stay free after the last string, because writers copy short strings in
 * blocks, and may read beyond the end of a string. */
#define ICE_SLACK 32

/* The bits for a class or a form in the payload of a node. */
#define ICE_CLASS(id) ((uint64_t)(id) << ICECORE_CLASS_SHIFT)
#define ICE_FORM(form) ((uint64_t)(form) << ICECORE_FORM_SHIFT)

/* Makes room for at least `more` additional nodes or bytes. */
void ice_reserve_nodes(icecore_context *engine, icecore_tape *tape, size_t more);
void ice_reserve_bytes(icecore_context *engine, icecore_tape *tape, size_t more);
/* Pushes the node for a string of 4 GB or more. Its bytes must be in the arena already. */
void ice_push_long_string(icecore_context *engine, icecore_tape *tape, uint8_t kind, uint8_t flags, uint16_t key,
                          uint64_t offset, size_t len);

typedef enum {
    ICE_PART_WRITTEN,     /* the part is written and the tape is empty: continue to fill it */
    ICE_PART_UNSUPPORTED, /* the first part was refused: continue, and write the whole tape at the end */
    ICE_PART_RESTART      /* a later part was refused: begin again, and write no parts */
} ice_part_result;

/* Writes the nodes so far as one part of the document, adds 1 to `part_count`, and empties the
 * tape. So a large document needs no memory for all of its nodes. The nodes of open containers
 * must already have their number of children. */
ice_part_result ice_write_part(icecore_context *engine, const icecore_stage *stage, icecore_tape *tape,
                               uint32_t *part_count);

/* Fills a tape without checking the capacity at each node. A cursor is a local copy of the
 * positions in a tape. No pointer leads to the copy, so the compiler knows that a store to a node
 * or to text can't change it, and keeps it in registers.
 *
 *   ice_tape_cursor cursor = ice_tape_cursor_begin(engine, tape, nodes);
 *   ice_tape_cursor_push(&cursor, ICECORE_INT, 0, key, 0, 42);
 *   if (ice_tape_cursor_fits(&cursor, len))   // otherwise: ice_tape_cursor_end, then ice_push_string
 *       ice_tape_cursor_push_string(&cursor, ICECORE_BYTES, key, text, len);
 *   ice_tape_cursor_end(&cursor, tape);          // the tape is consistent again
 */
typedef struct {
    icecore_node *node;
    uint8_t *arena, *text, *text_end;
} ice_tape_cursor;

/* Returns the end of the text that a cursor may write. Fewer than ICECORE_LONG bytes are before
 * it, so a string that needs ice_push_long_string never fits. */
static inline uint8_t *
ice_tape_cursor_text_end(const icecore_tape *tape)
{
    const size_t available = tape->arena_capacity - tape->arena_len;
    return tape->arena + tape->arena_len + (available < ICECORE_LONG ? available : ICECORE_LONG - 1);
}

/* Returns a cursor at the end of a tape, after making room for `nodes` nodes. */
static inline ice_tape_cursor
ice_tape_cursor_begin(icecore_context *engine, icecore_tape *tape, size_t nodes)
{
    if (ICE_UNLIKELY(tape->node_capacity - tape->node_count < nodes))
        ice_reserve_nodes(engine, tape, nodes);
    return (ice_tape_cursor){ tape->nodes + tape->node_count, tape->arena, tape->arena + tape->arena_len,
                              ice_tape_cursor_text_end(tape) };
}

/* Stores the positions of a cursor in its tape. */
static inline void
ice_tape_cursor_end(const ice_tape_cursor *cursor, icecore_tape *tape)
{
    tape->node_count = (size_t)(cursor->node - tape->nodes);
    tape->arena_len = (size_t)(cursor->text - cursor->arena);
}

/* Pushes a node without flags. */
static inline void
ice_tape_cursor_push(ice_tape_cursor *cursor, uint8_t kind, uint16_t key, uint32_t aux, uint64_t payload)
{
    *cursor->node++ = (icecore_node){ .kind = kind, .flags = 0, .key = key, .aux = aux, .payload = payload };
}

/* Returns 1 if a string of this length fits in the arena. */
static inline int
ice_tape_cursor_fits(const ice_tape_cursor *cursor, size_t len)
{
    return (size_t)(cursor->text_end - cursor->text) >= len + ICE_SLACK;
}

/* Pushes a string for which ice_tape_cursor_fits returned 1. */
static inline void
ice_tape_cursor_push_string(ice_tape_cursor *cursor, uint8_t kind, uint16_t key, const char *text, size_t len)
{
    ice_copy((char *)cursor->text, text, len);
    ice_tape_cursor_push(cursor, kind, key, (uint32_t)len,
                         (uint64_t)(cursor->text - cursor->arena) | ICECORE_IN_ARENA);
    cursor->text += len;
}

/* Begins an empty tape. Tapes and views that the context lent before become invalid. */
static inline void
ice_tape_begin(icecore_context *engine, icecore_tape *tape)
{
    if (ICE_UNLIKELY(icecore_begin(engine, tape) != ICECORE_OK))
        ice_host_fail("not enough memory");
}

/* Adds the slack after the last string. Must be called before the tape is written. The slack is
 * filled with zeros, because writers may read it. */
static inline void
ice_tape_finish(icecore_context *engine, icecore_tape *tape)
{
    if (ICE_UNLIKELY(tape->arena_capacity - tape->arena_len < ICE_SLACK))
        ice_reserve_bytes(engine, tape, ICE_SLACK);
    memset(tape->arena + tape->arena_len, 0, ICE_SLACK);
    tape->arena_len += ICE_SLACK;
}

/* Pushes a node, and returns its index. */
static inline uint32_t
ice_push(icecore_context *engine, icecore_tape *tape, uint8_t kind, uint8_t flags, uint16_t key, uint32_t aux,
         uint64_t payload)
{
    icecore_node *node;
    if (ICE_UNLIKELY(tape->node_count == tape->node_capacity))
        ice_reserve_nodes(engine, tape, 1);
    node = &tape->nodes[tape->node_count];
    node->kind = kind;
    node->flags = flags;
    node->key = key;
    node->aux = aux;
    node->payload = payload;
    return (uint32_t)tape->node_count++;
}

/* Copies a string to the arena, and pushes its node. The slack is reserved too, so it is free
 * after each string. */
static inline void
ice_push_string(icecore_context *engine, icecore_tape *tape, uint8_t kind, uint8_t flags, uint16_t key,
                const char *text, size_t len)
{
    uint64_t offset;
    if (ICE_UNLIKELY(tape->arena_capacity - tape->arena_len < len + ICE_SLACK))
        ice_reserve_bytes(engine, tape, len + ICE_SLACK);
    offset = tape->arena_len;
    ice_copy((char *)tape->arena + offset, text, len);
    tape->arena_len += len;
    if (ICE_UNLIKELY(len >= ICECORE_LONG))
        ice_push_long_string(engine, tape, kind, flags, key, offset, len);
    else
        ice_push(engine, tape, kind, flags, key, (uint32_t)len, offset | ICECORE_IN_ARENA);
}

/* Ends the container `index`, which has `count` children or entries. The `wrapper_count` nodes
 * directly before it end too: they are wrappers, such as an object around its body, each with
 * the next node as its only child. */
static inline void
ice_end_node(icecore_tape *tape, uint32_t index, uint32_t count, uint32_t wrapper_count)
{
    const uint64_t end = tape->node_count;
    icecore_node *node = &tape->nodes[index];
    node->aux = count;
    node->payload = (node->payload & ~UINT64_C(0xFFFFFFFF)) | end;
    while (wrapper_count--) {
        node--;
        node->aux = 1;
        node->payload = (node->payload & ~UINT64_C(0xFFFFFFFF)) | end;
    }
}

/* Ends the `wrapper_count` wrapper nodes around the leaf that was pushed last. The innermost wrapper
 * is the node before the leaf, and ice_end_node ends the others with it. */
static inline void
ice_end_wrappers(icecore_tape *tape, uint32_t wrapper_count)
{
    if (wrapper_count)
        ice_end_node(tape, (uint32_t)tape->node_count - 2, 1, wrapper_count - 1);
}

/* Pushes a link, an alias or a copy, depending on `kind`. `target` is the index of its target,
 * an earlier node. */
static inline void
ice_push_link(icecore_context *engine, icecore_tape *tape, uint8_t kind, uint8_t flags, uint16_t key,
              uint32_t target)
{
    tape->nodes[target].flags |= ICECORE_FLAG_TARGET;
    ice_push(engine, tape, kind, flags, key, 0, target);
}

#endif
