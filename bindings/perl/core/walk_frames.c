/* Open containers, and how they are protected from foreign code. */
#include "core/leaf.h"

/* Returns the key of an entry as an SV, marked if it was UTF-8. */
static SV *
key_sv(pTHX_ HE *he)
{
    return HeKLEN(he) == HEf_SVKEY ? newSVsv(HeKEY_sv(he)) : newSVhek(HeKEY_hek(he));
}

/* Copies the rest of a hash to a list: keys and values, alternating. */
static void
list_rest(pTHX_ iw_walk *w, ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    AV *list = newAV();
    HE *he = frame->he;
    SSize_t at = frame->at;
    U32 max = (U32)HvMAX(hv);

    frame->restricted = is_restricted(w, hv);
    frame->flagged = has_fact(w, IW_KEY_FLAGS) && HvHASKFLAGS(hv);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    while (HvARRAY(hv)) {
        for (; he; he = HeNEXT(he)) {
            SV *value = HeVAL(he);
            if (value == &PL_sv_placeholder && !has_fact(w, IW_KEY_FLAGS))
                continue;
            av_push(list, key_sv(aTHX_ he));
            av_push(list, SvREFCNT_inc_simple_NN(value));
        }
        if (at > (SSize_t)max)
            break;
        he = HvARRAY(hv)[(at ^ frame->order) & max];
        at++;
    }
    frame->kind = IW_LISTED;
    frame->sv = (SV *)list;
    frame->at = 0;
    frame->he = NULL;
}

void
iw_pin(pTHX_ iw_walk *w)
{
    U32 i;
    if (!w->owned) {
        w->owned = TRUE;
        if (w->set->owner)
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(w->set->owner));
    }
    for (i = w->ctx->depth; i--;) {
        ice_walk_frame *frame = &w->ctx->frames[i].walk;
        if (frame->pinned)
            break; /* the frames below are pinned too */
        frame->pinned = TRUE;
        if (frame->kind == IW_ARRAY || frame->kind == IW_HASH || frame->kind == IW_TIED_HASH)
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(frame->sv));
        if (frame->kind == IW_HASH)
            list_rest(aTHX_ w, frame);
        else if (frame->kind == IW_TIED) {
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc(frame->sv));
            ice_keep(aTHX_ w->ctx, SvREFCNT_inc(frame->other));
        }
    }
}

void
iw_get_magic(pTHX_ iw_walk *w, SV *sv)
{
    iw_pin(aTHX_ w);
    ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(sv));
    mg_get(sv);
}

/* Returns the order of the buckets: that of perl's own iterator, or plain order if the
 * format does not need perl's order and the hash has no magic (a restricted one has). */
U32
iw_start_hash(pTHX_ iw_walk *w, HV *hv)
{
    if (!has_fact(w, IW_IN_ORDER) && !SvMAGICAL((SV *)hv))
        return 0;
    if (!HvHasAUX(hv) && HvTOTALKEYS(hv))
        (void)hv_iterinit(hv);
#ifdef PERL_HASH_RANDOMIZE_KEYS
    return HvHasAUX(hv) ? HvAUX(hv)->xhv_rand : 0;
#else
    return 0;
#endif
}

ice_walk_frame *
iw_push_frame(pTHX_ iw_walk *w, U8 kind, U32 node, U32 wraps, SV *sv)
{
    ice_walk_frame *frame;
    if (UNLIKELY(w->set->max_depth && w->ctx->depth + wraps >= w->set->max_depth))
        w->rules->too_deep(aTHX_ w);
    frame = &ice_push_frame(aTHX_ w->ctx)->walk;
    Zero(frame, 1, ice_walk_frame);
    frame->kind = kind;
    frame->wraps = wraps;
    frame->node = node;
    frame->sv = sv;
    return frame;
}

void
iw_open_array(pTHX_ iw_walk *w, U32 at, U32 wraps, AV *av)
{
    ice_walk_frame *frame;
    if (SvRMAGICAL((SV *)av) && tie_of(aTHX_ (SV *)av)) {
        iw_pin(aTHX_ w);
        frame = iw_push_frame(aTHX_ w, IW_ARRAY, at, wraps, (SV *)av);
        frame->count = av_len(av) + 1;
        frame->is_tied = TRUE;
        return;
    }
    iw_push_frame(aTHX_ w, IW_ARRAY, at, wraps, (SV *)av)->count = AvFILLp(av) + 1;
}
