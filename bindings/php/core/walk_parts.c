/* Parts of a large value: the nodes so far are written, and their text is taken away. */
#include "core/memory.h"
#include "core/walk.h"

/* Estimates the final length of the text from the outermost container; excess room is
 * given back. */
static size_t
expected_len(const ice_walker *w, size_t len)
{
    const ice_walk_frame *outermost = w->ctx->walk_depth ? &w->ctx->walking[0] : NULL;
    const size_t done = outermost ? outermost->count : 0, most = 8 * len;
    size_t expected = len + len / 8;
    if (done && outermost->total > done)
        expected = MAX(expected, (size_t)(1.1 * (double)len / done * outermost->total));
    return MIN(expected, most);
}

/* Whether this size is far from the limit of the request. */
static bool
is_affordable(size_t size)
{
    const size_t limit = (size_t)PG(memory_limit), used = zend_memory_usage(1);
    return PG(memory_limit) <= 0 || (used < limit && size <= (limit - used) / 2);
}

/* Appends the text of the nodes that were handed over. Near the memory limit the engine
 * keeps it, and it is taken at the end as one piece. */
static void
take_part(ice_walker *w)
{
    smart_str *text = &w->ctx->text;
    icecore_bytes part;
    size_t len;
    if (w->keeps_text) {
        const size_t bytes = icecore_context_memory(w->engine);
        /* In few steps. */
        if (bytes > w->ctx->engine_bytes)
            ice_memory_count(w->ctx, bytes + bytes / 8);
        return;
    }
    if (icecore_take_part(w->engine, &part) != ICECORE_OK)
        return;
    len = (text->s ? ZSTR_LEN(text->s) : 0) + part.len;
    if (!text->s || len > text->a) {
        const size_t expected = expected_len(w, len);
        w->keeps_text = !is_affordable(expected);
        ice_memory_need(w->keeps_text ? len : expected);
        smart_str_erealloc(text, w->keeps_text ? len : expected);
    }
    smart_str_appendl(text, (const char *)part.bytes, part.len);
}

/* Writes the nodes so far. */
bool
ice_walk_hand_over(ice_walker *w)
{
    const uint32_t count = (uint32_t)w->tape->node_count;
    switch (ice_write_part(w->engine, w->stage, w->tape, &w->parts)) {
    case ICE_PART_WRITTEN:
        w->base += count;
        w->tape->has_own_names = 1;
        take_part(w);
        return true;
    case ICE_PART_UNSUPPORTED: w->part = UINT32_MAX; return true;
    default: return ice_walk_stop(w, ICE_LEFT_OFF);
    }
}
