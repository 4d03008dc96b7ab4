/* Walks perl values and fills the engine's tape.
 *
 * One loop with a stack of its own: depth takes memory, but no native stack. An SV is
 * looked up only if something else may refer to it, according to its reference count or
 * its weak references.
 *
 * Hooks, ties and magic may run any code, and it can change or free what is being
 * walked. Before it runs, `iw_pin` protects every open container: it is kept alive, and
 * the rest of a hash is copied to a list. */
#include "core/leaf.h"

PERL_STATIC_INLINE HE *
next_entry(ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    HE *he = frame->he;
    U32 max = (U32)HvMAX(hv);
    while (!he) {
        if (frame->at > (SSize_t)max)
            return NULL;
        he = HvARRAY(hv)[(frame->at ^ frame->order) & max];
        frame->at++;
    }
    frame->he = HeNEXT(he);
    return he;
}

/* Pushes a key that has no id, or must not have one, as a node before the value. */
static U16
push_key(pTHX_ iw_walk *w, const char *text, STRLEN len, bool is_utf8, U8 flags)
{
    push_string(aTHX_ w, is_utf8 ? ICECORE_TEXT : ICECORE_BYTES, flags, ICECORE_IS_KEY, text, len);
    return ICECORE_KEY_NODE;
}

static U16
push_key_sv(pTHX_ iw_walk *w, SV *key, U8 flags)
{
    STRLEN len;
    const char *text = SvPV(key, len);
    if (SvUTF8(key) && has_fact(w, IW_KEY_FLAGS) && ice_is_ascii((const U8 *)text, len))
        flags |= ICECORE_FLAG_WAS_TEXT;
    return push_key(aTHX_ w, text, len, SvUTF8(key), flags);
}

static U16
push_key_he(pTHX_ iw_walk *w, HE *he, U8 flags)
{
    if (HeKLEN(he) == HEf_SVKEY)
        return push_key_sv(aTHX_ w, HeKEY_sv(he), flags);
    if (HeKWASUTF8(he)) {
        STRLEN len = HeKLEN(he);
        U8 *text = bytes_to_utf8((const U8 *)HeKEY(he), &len);
        if (has_fact(w, IW_KEY_FLAGS) && len == (STRLEN)HeKLEN(he))
            flags |= ICECORE_FLAG_WAS_TEXT;
        push_key(aTHX_ w, (const char *)text, len, TRUE, flags);
        Safefree(text);
        return ICECORE_KEY_NODE;
    }
    return push_key(aTHX_ w, HeKEY(he), HeKLEN(he), HeKUTF8(he), flags);
}

/* Returns the key of an entry: its id, or ICECORE_KEY_NODE after pushing it. */
PERL_STATIC_INLINE U16
key_of(pTHX_ iw_walk *w, HE *he, bool ids)
{
    if (LIKELY(ids)) {
        U16 id = ice_key_id(aTHX_ w->ctx, he, has_fact(w, IW_KEY_FLAGS));
        if (LIKELY(id))
            return id;
    }
    return push_key_he(aTHX_ w, he, 0);
}

/* Returns the flags of a key that is allowed, but absent; the hash may no longer be
 * restricted. */
PERL_STATIC_INLINE U8
absent_flags(bool restricted)
{
    return restricted ? ICECORE_FLAG_PLACEHOLDER : ICECORE_FLAG_PLACEHOLDER | ICECORE_FLAG_HINT;
}

/* ---- the loop ---------------------------------------------------------- */

/* Maximum levels that are put without frames: of the whole value, and of a part of a
 * value that could not be put as a whole. A failed attempt is walked twice. */
#define LEVELS 32
#define FEW_LEVELS 2

PERL_STATIC_INLINE int
few_levels(const iw_walk *w)
{
    const UV left = w->set->max_depth - w->ctx->depth;
    return has_fact(w, IW_EXACT_DEPTH) && w->set->max_depth && left < FEW_LEVELS ? (int)left : FEW_LEVELS;
}

/* Whether a reference may lead to plain data. */
PERL_STATIC_INLINE bool
is_plain_ref(const iw_walk *w, SV *sv)
{
    return SvROK(sv) && SvREFCNT(sv) == 1 && SvTYPE(sv) < SVt_PVMG;
}

/* Closes the container on top, which is complete. */
static void
close_frame(iw_walk *w)
{
    const ice_walk_frame *frame = &w->ctx->frames[--w->ctx->depth].walk;
    end_node(w, frame->node, (U32)frame->count, frame->wraps);
}

static void
walk_array(pTHX_ iw_walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    AV *av = (AV *)frame->sv;

    while (frame->at < frame->count) {
        SSize_t at = frame->at++;
        SV *sv;
        if (UNLIKELY(frame->is_tied)) {
            SV **found;
            iw_pin(aTHX_ w);
            found = av_fetch(av, at, 0);
            sv = found ? *found : NULL;
            if (sv)
                ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(sv));
        } else
            sv = at <= AvFILLp(av) ? AvARRAY(av)[at] : NULL;
        if (UNLIKELY(!sv)) {
            push(aTHX_ w, ICECORE_HOLE, 0, 0, 0, 0);
            continue;
        }
        if (is_simple(sv)) {
            w->rules->leaf(aTHX_ w, sv, 0, 0, TRUE);
            continue;
        }
        if (is_plain_ref(w, sv) && w->rules->put_fast(aTHX_ w, sv, 0, few_levels(w), FALSE))
            continue;
        w->rules->put(aTHX_ w, sv, 0, TRUE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1].walk;
    }
    close_frame(w);
}

static void
walk_hash(pTHX_ iw_walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    HV *hv = (HV *)frame->sv;
    const bool ids = HvTOTALKEYS(hv) <= ICECORE_MOST_IDS;
    const bool restricted = is_restricted(w, hv);
    HE *he;

    while ((he = next_entry(frame))) {
        SV *value = HeVAL(he);
        U16 key;
        if (UNLIKELY(value == &PL_sv_placeholder)) {
            if (has_fact(w, IW_KEY_FLAGS)) {
                frame->count++;
                /* Without flags for keys, an absent one is stored as if it were perl's
                 * own undef. */
                if (restricted || HvHASKFLAGS(hv)) {
                    key = push_key_he(aTHX_ w, he, absent_flags(restricted));
                    push(aTHX_ w, ICECORE_HOLE, 0, key, 0, 0);
                } else {
                    key = key_of(aTHX_ w, he, ids);
                    push(aTHX_ w, ICECORE_NULL, ICECORE_FLAG_OWN, key, 0, 0);
                }
            }
            continue;
        }
        frame->count++;
        if (UNLIKELY(restricted && SvREADONLY(value)))
            key = push_key_he(aTHX_ w, he, ICECORE_FLAG_LOCKED);
        else
            key = key_of(aTHX_ w, he, ids);
        if (is_simple(value)) {
            w->rules->leaf(aTHX_ w, value, 0, key, FALSE);
            continue;
        }
        if (is_plain_ref(w, value) && w->rules->put_fast(aTHX_ w, value, key, few_levels(w), FALSE))
            continue;
        w->rules->put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
        frame = &w->ctx->frames[depth - 1].walk;
        if (frame->kind != IW_HASH)
            return;
    }
    close_frame(w);
}

static void
walk_tied(pTHX_ iw_walk *w)
{
    ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    SV **part = frame->sv ? &frame->sv : &frame->other, *sv = *part;
    if (sv) {
        *part = NULL;
        frame->count++;
        w->rules->put(aTHX_ w, sv, 0, FALSE, FALSE);
        return;
    }
    if (frame->by_index) {
        frame->count++;
        push(aTHX_ w, ICECORE_INT, 0, 0, 0, (U64)(I64)frame->at);
    }
    close_frame(w);
}

static void
walk_listed(pTHX_ iw_walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;

    while (frame->at <= AvFILLp((AV *)frame->sv)) {
        SV **list = AvARRAY((AV *)frame->sv);
        SV *key_text = list[frame->at], *value = list[frame->at + 1];
        U16 key;
        frame->at += 2;
        frame->count++;
        if (value == &PL_sv_placeholder) {
            if (frame->restricted || frame->flagged) {
                key = push_key_sv(aTHX_ w, key_text, absent_flags(frame->restricted));
                push(aTHX_ w, ICECORE_HOLE, 0, key, 0, 0);
            } else {
                key = push_key_sv(aTHX_ w, key_text, 0);
                push(aTHX_ w, ICECORE_NULL, ICECORE_FLAG_OWN, key, 0, 0);
            }
            continue;
        }
        key = push_key_sv(aTHX_ w, key_text, frame->restricted && SvREADONLY(value) ? ICECORE_FLAG_LOCKED : 0);
        /* The list holds a reference too. */
        if (SvREFCNT(value) == 2 && SvTYPE(value) < SVt_PVMG && !SvROK(value)) {
            w->rules->leaf(aTHX_ w, value, 0, key, FALSE);
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
walk_tied_hash(pTHX_ iw_walk *w)
{
    const U32 depth = w->ctx->depth;
    ice_walk_frame *frame = &w->ctx->frames[depth - 1].walk;
    HV *hv = (HV *)frame->sv;
    HE *he;

    iw_pin(aTHX_ w);
    while ((he = hv_iternext(hv))) {
        SV *value = hv_iterval(hv, he);
        U16 key;
        frame = &w->ctx->frames[depth - 1].walk;
        frame->count++;
        ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(value));
        key = push_key_he(aTHX_ w, he, 0);
        w->rules->put(aTHX_ w, value, key, FALSE, FALSE);
        if (w->ctx->depth != depth)
            return;
    }
    close_frame(w);
}

static void
run(pTHX_ iw_walk *w)
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
            SV *item = iw_hook_item(aTHX_ w);
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
begin(pTHX_ iw_walk *w, ice_context *ctx, icecore_tape *tape, const ice_write_settings *settings)
{
    w->ctx = ctx;
    w->t = tape;
    w->set = settings;
    w->last_stash = NULL;
    w->last_class = NULL;
    w->rules = settings->rules;
    w->is_list = FALSE;
    w->owned = FALSE;
    w->stage = NULL;
    iw_begin(aTHX_ w);
}

void
ice_walk(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings,
         const icecore_stage *stage)
{
    iw_walk w;
    begin(aTHX_ & w, ctx, tape, settings);
    /* If everything in it has one reference only, nothing in it refers to the variable. */
    if (SvROK(sv) && (!settings->max_depth || settings->max_depth > LEVELS)) {
        w.stage = stage;
        if (w.rules->put_fast(aTHX_ & w, sv, 0, LEVELS, TRUE)) {
            iw_finish(aTHX_ & w);
            return;
        }
    }
    /* Storable stores the referent: the variable that holds the reference is not part of
     * it. */
    if (has_fact(&w, IW_REFERENT) && SvREFCNT(sv) > 1)
        sv = sv_2mortal(newRV_inc(SvRV(sv)));
    w.rules->put(aTHX_ & w, sv, 0, FALSE, FALSE);
    run(aTHX_ & w);
    iw_finish(aTHX_ & w);
}

bool
ice_walk_only(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings)
{
    iw_walk w;
    U32 at;
    if (!SvROK(sv) || (settings->max_depth && settings->max_depth <= LEVELS))
        return FALSE;
    begin(aTHX_ & w, ctx, tape, settings);
    at = push(aTHX_ & w, ICECORE_ARRAY, 0, 0, 0, 0);
    if (!w.rules->put_fast(aTHX_ & w, sv, 0, LEVELS, TRUE))
        return FALSE;
    end_node(&w, at, 1, 0);
    iw_finish(aTHX_ & w);
    return TRUE;
}

void
ice_walk_list(pTHX_ ice_context *ctx, icecore_tape *tape, AV *list, const ice_write_settings *settings)
{
    iw_walk w;
    U32 at;
    begin(aTHX_ & w, ctx, tape, settings);
    w.is_list = TRUE;
    at = push(aTHX_ & w, ICECORE_ARRAY, 0, 0, 0, 0);
    iw_push_frame(aTHX_ & w, IW_ARRAY, at, 0, (SV *)list)->count = AvFILLp(list) + 1;
    run(aTHX_ & w);
    iw_finish(aTHX_ & w);
}

void
ice_walk_header(pTHX_ ice_context *ctx, icecore_tape *tape, SV *header, SV *body, const ice_write_settings *settings)
{
    iw_walk w;
    begin(aTHX_ & w, ctx, tape, settings);
    w.rules->put(aTHX_ & w, header, 0, FALSE, FALSE);
    run(aTHX_ & w);
    tape->header = 0;
    tape->root = (U32)tape->node_count;
    /* The header has offsets of its own: nothing in the body refers to it. */
    if (ctx->seen.count)
        ice_map_clear(&ctx->seen);
    w.rules->put(aTHX_ & w, body, 0, FALSE, FALSE);
    run(aTHX_ & w);
    iw_finish(aTHX_ & w);
}
