/* Walks perl values and fills the engine's tape.
 *
 * The walk is one loop with a stack of its own, so nested data takes memory, but no native
 * stack. An SV is looked up in ctx->seen only if something else may refer to it. This is so if
 * its reference count is above 1, or if a weak reference leads to it.
 *
 * Hooks, ties and magic may run any perl code, which can change or free what is being
 * walked. Before it runs, iw_protect_frames protects every open container: the container is
 * kept alive, and the remaining entries of a hash are copied to a list. */
#include "core/leaf.h"

/* Returns the next entry of a hash; NULL after the last one. The number of buckets is a power of
 * two, and `max` is this number minus 1. So the XOR of `index` and a fixed value, masked with
 * `max`, gives the number of each bucket exactly once. */
PERL_STATIC_INLINE HE *
next_bucket_entry(ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    HE *he = frame->he;
    U32 max = (U32)HvMAX(hv);
    while (!he) {
        if (frame->index > (SSize_t)max)
            return NULL;
        he = HvARRAY(hv)[(frame->index ^ frame->bucket_order) & max];
        frame->index++;
    }
    frame->he = HeNEXT(he);
    return he;
}

/* The push_key functions push a key that has no id, or must not have one, as a node before
 * the value. They return ICECORE_KEY_PRECEDES. */
static U16
push_key(pTHX_ iw_walker *w, const char *text, STRLEN len, bool is_utf8, U8 flags)
{
    iw_push_string(aTHX_ w, is_utf8 ? ICECORE_TEXT : ICECORE_BYTES, flags, ICECORE_IS_KEY, text, len);
    return ICECORE_KEY_PRECEDES;
}

static U16
push_key_sv(pTHX_ iw_walker *w, SV *key, U8 flags)
{
    STRLEN len;
    const char *text = SvPV(key, len);
    if (SvUTF8(key) && iw_format_has(w, IW_KEY_FLAGS) && ice_is_ascii((const U8 *)text, len))
        flags |= ICECORE_FLAG_WAS_TEXT;
    return push_key(aTHX_ w, text, len, SvUTF8(key), flags);
}

static U16
push_key_he(pTHX_ iw_walker *w, HE *he, U8 flags)
{
    if (HeKLEN(he) == HEf_SVKEY)
        return push_key_sv(aTHX_ w, HeKEY_sv(he), flags);
    if (HeKWASUTF8(he)) {
        STRLEN len = HeKLEN(he);
        U8 *text = bytes_to_utf8((const U8 *)HeKEY(he), &len);
        if (iw_format_has(w, IW_KEY_FLAGS) && len == (STRLEN)HeKLEN(he))
            flags |= ICECORE_FLAG_WAS_TEXT;
        push_key(aTHX_ w, (const char *)text, len, TRUE, flags);
        Safefree(text);
        return ICECORE_KEY_PRECEDES;
    }
    return push_key(aTHX_ w, HeKEY(he), HeKLEN(he), HeKUTF8(he), flags);
}

/* Returns the id of the key of an entry. If it has no id, pushes the key as a node and
 * returns ICECORE_KEY_PRECEDES. */
PERL_STATIC_INLINE U16
key_of(pTHX_ iw_walker *w, HE *he, bool has_key_ids)
{
    if (LIKELY(has_key_ids)) {
        U16 id = ice_key_id(aTHX_ w->ctx, he, iw_format_has(w, IW_KEY_FLAGS));
        if (LIKELY(id))
            return id;
    }
    return push_key_he(aTHX_ w, he, 0);
}

/* Returns the flags of a key that is allowed in a restricted hash, but absent. perl keeps
 * such keys when the restriction ends. */
PERL_STATIC_INLINE U8
absent_flags(bool is_restricted)
{
    return is_restricted ? ICECORE_FLAG_PLACEHOLDER : ICECORE_FLAG_PLACEHOLDER | ICECORE_FLAG_HINT;
}

/* ---- the loop ---------------------------------------------------------- */

/* Maximum number of levels that put_fast puts: for the root, and for values in a root that it could
 * not put. If put_fast fails, the values that it has put are walked again. Each level of the loop may
 * try put_fast, so the limit for inner values is low. */
#define ROOT_LEVELS 32
#define INNER_LEVELS 2

/* Returns the maximum number of levels that put_fast may put at the current depth. */
PERL_STATIC_INLINE int
fast_levels(const iw_walker *w)
{
    /* Without a limit max_depth is 0. Then the difference has no meaning, and it is not used. */
    const UV levels = w->settings->max_depth - w->ctx->depth;
    return iw_format_has(w, IW_EXACT_DEPTH) && w->settings->max_depth && levels < INNER_LEVELS ? (int)levels
                                                                                              : INNER_LEVELS;
}

/* Returns true if a value is a reference that put_fast may be able to put. */
PERL_STATIC_INLINE bool
may_be_plain(const iw_walker *w, SV *sv)
{
    return SvROK(sv) && SvREFCNT(sv) == 1 && SvTYPE(sv) < SVt_PVMG;
}

/* Closes the container on top, which is complete. */
static void
close_frame(iw_walker *w)
{
    const ice_walk_frame *frame = &w->ctx->frames[--w->ctx->depth].walk;
    iw_end_node(w, frame->node, (U32)frame->count, frame->wrapper_count);
}

/* The walk_ functions push the contents of the open container on top, and then end it. They
 * return early if a value opened a container of its own; the loop calls them again when that
 * container is complete. Opening a container may move the stack of frames, so the pointer to the
 * frame is computed again after each `put`. */
static void
walk_array(pTHX_ iw_walker *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    AV *av = (AV *)frame->sv;

    while (frame->index < frame->count) {
        SSize_t index = frame->index++;
        SV *sv;
        if (UNLIKELY(frame->is_tied_array)) {
            SV **found;
            iw_protect_frames(aTHX_ w);
            found = av_fetch(av, index, 0);
            sv = found ? *found : NULL;
            if (sv)
                ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(sv));
        } else
            /* Perl code may have shortened the array. Its missing items become holes. */
            sv = index <= AvFILLp(av) ? AvARRAY(av)[index] : NULL;
        if (UNLIKELY(!sv)) {
            iw_push(aTHX_ w, ICECORE_HOLE, 0, 0, 0, 0);
            continue;
        }
        if (iw_is_simple(sv)) {
            w->rules->push_scalar(aTHX_ w, sv, 0, 0, TRUE);
            continue;
        }
        if (may_be_plain(w, sv) && w->rules->put_fast(aTHX_ w, sv, 0, fast_levels(w), FALSE))
            continue;
        w->rules->put(aTHX_ w, sv, 0, TRUE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1].walk;
    }
    close_frame(w);
}

static void
walk_hash(pTHX_ iw_walker *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    HV *hv = (HV *)frame->sv;
    const bool has_key_ids = HvTOTALKEYS(hv) <= ICECORE_MAX_ENTRIES_WITH_IDS;
    const bool is_restricted = iw_is_restricted(w, hv);
    HE *he;

    while ((he = next_bucket_entry(frame))) {
        SV *value = HeVAL(he);
        U16 key;
        if (UNLIKELY(value == &PL_sv_placeholder)) {
            if (iw_format_has(w, IW_KEY_FLAGS)) {
                frame->count++;
                /* If the hash has no flags for its keys, an absent value is stored as
                 * perl's immortal undef. */
                if (is_restricted || HvHASKFLAGS(hv)) {
                    key = push_key_he(aTHX_ w, he, absent_flags(is_restricted));
                    iw_push(aTHX_ w, ICECORE_HOLE, 0, key, 0, 0);
                } else {
                    key = key_of(aTHX_ w, he, has_key_ids);
                    iw_push(aTHX_ w, ICECORE_NULL, ICECORE_FLAG_OWN, key, 0, 0);
                }
            }
            continue;
        }
        frame->count++;
        if (UNLIKELY(is_restricted && SvREADONLY(value)))
            key = push_key_he(aTHX_ w, he, ICECORE_FLAG_LOCKED);
        else
            key = key_of(aTHX_ w, he, has_key_ids);
        if (iw_is_simple(value)) {
            w->rules->push_scalar(aTHX_ w, value, 0, key, FALSE);
            continue;
        }
        if (may_be_plain(w, value) && w->rules->put_fast(aTHX_ w, value, key, fast_levels(w), FALSE))
            continue;
        w->rules->put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1].walk;
        /* Perl code ran, so the remaining entries are in a list now, and walk_listed puts them. */
        if (frame->kind != IW_HASH)
            return;
    }
    close_frame(w);
}

/* Walks a tied variable: the object of the tie, then the key of an element. */
static void
walk_tied(pTHX_ iw_walker *w)
{
    ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    /* Each of the two is set to NULL when it is put, so each call finds the next one. */
    SV **child = frame->sv ? &frame->sv : &frame->owner.key, *sv = *child;
    if (sv) {
        *child = NULL;
        frame->count++;
        w->rules->put(aTHX_ w, sv, 0, FALSE, FALSE);
        return;
    }
    if (frame->is_tied_element) {
        frame->count++;
        iw_push(aTHX_ w, ICECORE_INT, 0, 0, 0, (U64)(I64)frame->index);
    }
    close_frame(w);
}

/* Walks entries of a hash that are in a list. */
static void
walk_listed(pTHX_ iw_walker *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;

    while (frame->index <= AvFILLp((AV *)frame->sv)) {
        SV **list = AvARRAY((AV *)frame->sv);
        SV *key_text = list[frame->index], *value = list[frame->index + 1];
        U16 key;
        frame->index += 2;
        frame->count++;
        if (value == &PL_sv_placeholder) {
            if (frame->is_restricted || frame->has_key_flags) {
                key = push_key_sv(aTHX_ w, key_text, absent_flags(frame->is_restricted));
                iw_push(aTHX_ w, ICECORE_HOLE, 0, key, 0, 0);
            } else {
                key = push_key_sv(aTHX_ w, key_text, 0);
                iw_push(aTHX_ w, ICECORE_NULL, ICECORE_FLAG_OWN, key, 0, 0);
            }
            continue;
        }
        key = push_key_sv(aTHX_ w, key_text, frame->is_restricted && SvREADONLY(value) ? ICECORE_FLAG_LOCKED : 0);
        /* The list and the hash have one reference each, so nothing else refers to the value. */
        if (SvREFCNT(value) == 2 && SvTYPE(value) < SVt_PVMG && !SvROK(value)) {
            w->rules->push_scalar(aTHX_ w, value, 0, key, FALSE);
            continue;
        }
        w->rules->put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1].walk;
    }
    close_frame(w);
}

static void
walk_tied_hash(pTHX_ iw_walker *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    HV *hv = (HV *)frame->sv;
    HE *he;

    /* The position is in the iterator of the hash, so the loop continues after an early return. */
    iw_protect_frames(aTHX_ w);
    while ((he = hv_iternext(hv))) {
        SV *value = hv_iterval(hv, he);
        U16 key;
        frame = &w->ctx->frames[depth - 1].walk;
        frame->count++;
        ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(value));
        key = push_key_he(aTHX_ w, he, 0);
        w->rules->put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
    }
    close_frame(w);
}

/* Walks the container on top until no container is open. */
static void
run_frames(pTHX_ iw_walker *w)
{
    while (w->ctx->depth) {
        ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
        switch (frame->kind) {
        case IW_ARRAY:
            walk_array(aTHX_ w);
            break;
        case IW_HASH:
            walk_hash(aTHX_ w);
            break;
        case IW_LISTED:
            walk_listed(aTHX_ w);
            break;
        case IW_TIED:
            walk_tied(aTHX_ w);
            break;
        case IW_TIED_HASH:
            walk_tied_hash(aTHX_ w);
            break;
        case IW_HOOK: {
            SV *item = iw_next_hook_item(aTHX_ w);
            if (item)
                w->rules->put(aTHX_ w, item, 0, FALSE, TRUE);
            break;
        }
        default:
            close_frame(w);
        }
    }
}

static void
begin_walk(pTHX_ iw_walker *w, ice_context *ctx, icecore_tape *tape, const ice_write_settings *settings)
{
    w->ctx = ctx;
    w->tape = tape;
    w->settings = settings;
    w->last_stash = NULL;
    w->last_class = NULL;
    w->rules = settings->rules;
    w->is_list = FALSE;
    w->keeps_owner = FALSE;
    w->stage = NULL;
    iw_begin(aTHX_ w);
}

void
ice_walk(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings,
         const icecore_stage *stage)
{
    iw_walker w;
    begin_walk(aTHX_ & w, ctx, tape, settings);
    /* put_fast ignores the variable itself. This is right, because each value that it accepts has
     * only one reference, so nothing in the data refers to the variable. */
    if (SvROK(sv) && (!settings->max_depth || settings->max_depth > ROOT_LEVELS)) {
        w.stage = stage;
        if (w.rules->put_fast(aTHX_ & w, sv, 0, ROOT_LEVELS, TRUE)) {
            iw_finish(aTHX_ & w);
            return;
        }
    }
    /* Storable stores the referent. The variable with the reference is not part of the data, so it
     * is replaced by a new one. */
    if (iw_format_has(&w, IW_REFERENT) && SvREFCNT(sv) > 1)
        sv = sv_2mortal(newRV_inc(SvRV(sv)));
    w.rules->put(aTHX_ & w, sv, 0, FALSE, FALSE);
    run_frames(aTHX_ & w);
    iw_finish(aTHX_ & w);
}

bool
ice_walk_plain_value(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings)
{
    iw_walker w;
    U32 node;
    if (!SvROK(sv) || (settings->max_depth && settings->max_depth <= ROOT_LEVELS))
        return FALSE;
    begin_walk(aTHX_ & w, ctx, tape, settings);
    node = iw_push(aTHX_ & w, ICECORE_ARRAY, 0, 0, 0, 0);
    if (!w.rules->put_fast(aTHX_ & w, sv, 0, ROOT_LEVELS, TRUE))
        return FALSE;
    iw_end_node(&w, node, 1, 0);
    iw_finish(aTHX_ & w);
    return TRUE;
}

void
ice_walk_list(pTHX_ ice_context *ctx, icecore_tape *tape, AV *list, const ice_write_settings *settings)
{
    iw_walker w;
    U32 node;
    begin_walk(aTHX_ & w, ctx, tape, settings);
    w.is_list = TRUE;
    node = iw_push(aTHX_ & w, ICECORE_ARRAY, 0, 0, 0, 0);
    iw_push_frame(aTHX_ & w, IW_ARRAY, node, 0, (SV *)list)->count = AvFILLp(list) + 1;
    run_frames(aTHX_ & w);
    iw_finish(aTHX_ & w);
}

void
ice_walk_header(pTHX_ ice_context *ctx, icecore_tape *tape, SV *header, SV *body, const ice_write_settings *settings)
{
    iw_walker w;
    begin_walk(aTHX_ & w, ctx, tape, settings);
    w.rules->put(aTHX_ & w, header, 0, FALSE, FALSE);
    run_frames(aTHX_ & w);
    tape->header = 0;
    tape->root = (U32)tape->node_count;
    /* The header is a document of its own, so nothing in the body may refer to a value in it. */
    if (ctx->seen.count)
        ice_map_clear(&ctx->seen);
    w.rules->put(aTHX_ & w, body, 0, FALSE, FALSE);
    run_frames(aTHX_ & w);
    iw_finish(aTHX_ & w);
}
