/* Opens containers, and protects open containers from perl code. walk.c explains why. */
#include "core/leaf.h"

/* Returns the key of an entry as a new SV. */
static SV *
copy_key(pTHX_ HE *he)
{
    return HeKLEN(he) == HEf_SVKEY ? newSVsv(HeKEY_sv(he)) : newSVhek(HeKEY_hek(he));
}

/* Copies the remaining entries of a hash to a list of keys and values, alternating. The list owns
 * a reference to each value, so perl code may change the hash afterwards. */
static void
list_remaining_entries(pTHX_ iw_walker *w, ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    AV *list = newAV();
    HE *he = frame->he;
    SSize_t bucket = frame->index;
    U32 max = (U32)HvMAX(hv);

    frame->is_restricted = iw_is_restricted(w, hv);
    frame->has_key_flags = iw_format_has(w, IW_KEY_FLAGS) && HvHASKFLAGS(hv);
    ice_keep_for_call(aTHX_ w->ctx, (SV *)list);
    while (HvARRAY(hv)) {
        for (; he; he = HeNEXT(he)) {
            SV *value = HeVAL(he);
            if (value == &PL_sv_placeholder && !iw_format_has(w, IW_KEY_FLAGS))
                continue;
            av_push(list, copy_key(aTHX_ he));
            av_push(list, SvREFCNT_inc_simple_NN(value));
        }
        if (bucket > (SSize_t)max)
            break;
        he = HvARRAY(hv)[(bucket ^ frame->bucket_order) & max];
        bucket++;
    }
    frame->kind = IW_LISTED;
    frame->sv = (SV *)list;
    frame->index = 0;
    frame->he = NULL;
}

void
iw_protect_frames(pTHX_ iw_walker *w)
{
    U32 i;
    if (!w->keeps_owner) {
        w->keeps_owner = TRUE;
        if (w->settings->owner)
            ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(w->settings->owner));
    }
    for (i = w->ctx->depth; i--;) {
        ice_walk_frame *frame = &w->ctx->frames[i].walk;
        if (frame->is_protected)
            break; /* the frames below were protected with it */
        frame->is_protected = TRUE;
        if (frame->kind == IW_ARRAY || frame->kind == IW_HASH || frame->kind == IW_TIED_HASH)
            ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(frame->sv));
        if (frame->kind == IW_HASH)
            list_remaining_entries(aTHX_ w, frame);
        else if (frame->kind == IW_TIED) {
            ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc(frame->sv));
            ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc(frame->owner.key));
        }
    }
}

void
iw_get_magic(pTHX_ iw_walker *w, SV *sv)
{
    iw_protect_frames(aTHX_ w);
    ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(sv));
    mg_get(sv);
}

/* Returns the value whose XOR with a bucket's number gives the order of perl's own iterator.
 * Returns 0 if the format does not need perl's order and the hash has no magic. perl chooses the
 * order when the iterator is first used, so hv_iterinit is called if that has not happened. */
U32
iw_bucket_order(pTHX_ iw_walker *w, HV *hv)
{
    if (!iw_format_has(w, IW_PERL_ORDER) && !SvMAGICAL((SV *)hv))
        return 0;
    if (!HvHasAUX(hv) && HvTOTALKEYS(hv))
        (void)hv_iterinit(hv);
#ifdef PERL_HASH_RANDOMIZE_KEYS
    return HvHasAUX(hv) ? HvAUX(hv)->xhv_rand : 0;
#else
    return 0;
#endif
}

/* Pushes the frame of a container. Dies if there are too many levels. The pointer is valid
 * until the next frame is pushed. */
ice_walk_frame *
iw_push_frame(pTHX_ iw_walker *w, U8 kind, U32 node, U32 wrapper_count, SV *sv)
{
    ice_walk_frame *frame;
    const U32 wrapper_levels = iw_format_has(w, IW_BLESS_IS_NO_LEVEL) ? 0 : wrapper_count;
    if (UNLIKELY(w->settings->max_depth && w->ctx->depth + wrapper_levels >= w->settings->max_depth))
        w->rules->croak_too_deep(aTHX_ w);
    frame = &ice_push_frame(aTHX_ w->ctx)->walk;
    Zero(frame, 1, ice_walk_frame);
    frame->kind = kind;
    frame->wrapper_count = wrapper_count;
    frame->node = node;
    frame->sv = sv;
    return frame;
}

/* Opens the array that was pushed last, whose node is `node`. */
void
iw_open_array(pTHX_ iw_walker *w, U32 node, U32 wrapper_count, AV *av)
{
    ice_walk_frame *frame;
    if (SvRMAGICAL((SV *)av) && iw_tie_of(aTHX_ (SV *)av)) {
        iw_protect_frames(aTHX_ w);
        frame = iw_push_frame(aTHX_ w, IW_ARRAY, node, wrapper_count, (SV *)av);
        frame->count = av_len(av) + 1;
        frame->is_tied_array = TRUE;
        return;
    }
    iw_push_frame(aTHX_ w, IW_ARRAY, node, wrapper_count, (SV *)av)->count = AvFILLp(av) + 1;
}
