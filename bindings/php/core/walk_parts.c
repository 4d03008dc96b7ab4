/* Writes a large output in parts: the nodes so far are written, and their text is taken from the
 * engine. So the engine never has all nodes or all text of a large value in memory. */
#include "core/memory.h"
#include "core/walk.h"

/* Estimates the final length of the text. `len` is the length so far. The estimate is the length
 * for each entry of the outermost container, multiplied by the number of entries, and a tenth
 * more. It is at least len + len / 8, and at most 8 * len. */
static size_t
estimate_len(const ice_walker *w, size_t len)
{
    const ice_walk_frame *outermost = w->ctx->walk_depth ? &w->ctx->walk_frames[0] : NULL;
    const size_t pushed_count = outermost ? outermost->pushed_count : 0, max_len = 8 * len;
    size_t expected = len + len / 8;
    if (pushed_count && outermost->announced_count > pushed_count)
        expected = MAX(expected, (size_t)(1.1 * (double)len / pushed_count * outermost->announced_count));
    return MIN(expected, max_len);
}

/* Returns true if this size is at most half of what memory_limit leaves. */
static bool
is_affordable(size_t size)
{
    const size_t limit = (size_t)PG(memory_limit), used = zend_memory_usage(1);
    return PG(memory_limit) <= 0 || (used < limit && size <= (limit - used) / 2);
}

/* Appends the text of the part that was just written. Near memory_limit, the text stays in the
 * engine, and is taken at the end as one piece. */
static void
take_part(ice_walker *w)
{
    smart_str *text = &w->ctx->written_text;
    icecore_bytes part;
    size_t len;
    if (w->engine_keeps_text) {
        const size_t bytes = icecore_context_memory(w->engine);
        /* The new count is an eighth larger than needed, so that it changes rarely. */
        if (bytes > w->ctx->engine_bytes)
            ice_memory_count_engine(w->ctx, bytes + bytes / 8);
        return;
    }
    if (icecore_take_part(w->engine, &part) != ICECORE_OK)
        return;
    len = (text->s ? ZSTR_LEN(text->s) : 0) + part.len;
    if (!text->s || len > text->a) {
        const size_t expected = estimate_len(w, len);
        w->engine_keeps_text = !is_affordable(expected);
        ice_memory_check(w->engine_keeps_text ? len : expected);
        smart_str_erealloc(text, w->engine_keeps_text ? len : expected);
    }
    smart_str_appendl(text, (const char *)part.bytes, part.len);
}

bool
ice_walk_write_part(ice_walker *w)
{
    const uint32_t count = (uint32_t)w->tape->node_count;
    switch (ice_write_part(w->engine, w->stage, w->tape, &w->part_count)) {
    case ICE_PART_WRITTEN:
        w->written_node_count += count;
        w->tape->has_own_names = 1;
        take_part(w);
        return true;
    case ICE_PART_UNSUPPORTED: w->part_end = UINT32_MAX; return true;
    default: return ice_walk_stop(w, ICE_NEEDS_WHOLE);
    }
}
