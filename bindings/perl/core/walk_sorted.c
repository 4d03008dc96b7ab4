/* Hashes: sorted by their keys, or in perl's order. */
#include "core/leaf.h"

static int
compare_bytes(const void *a, const void *b)
{
    const HEK *first = HeKEY_hek(*(HE *const *)a), *second = HeKEY_hek(*(HE *const *)b);
    const I32 shorter = HEK_LEN(first) < HEK_LEN(second) ? HEK_LEN(first) : HEK_LEN(second);
    const int order = memcmp(HEK_KEY(first), HEK_KEY(second), (size_t)shorter);
    return order ? order : HEK_LEN(first) - HEK_LEN(second);
}

/* Latin-1 and UTF-8 in one hash: compares character by character. */
static int
compare_characters(const void *a, const void *b)
{
    const HEK *first = HeKEY_hek(*(HE *const *)a), *second = HeKEY_hek(*(HE *const *)b);
    const U8 *a_text = (const U8 *)HEK_KEY(first), *lend = a_text + HEK_LEN(first);
    const U8 *b_text = (const U8 *)HEK_KEY(second), *rend = b_text + HEK_LEN(second);
    while (a_text < lend && b_text < rend) {
        UV lc = *a_text, rc = *b_text;
        STRLEN llen = 1, rlen = 1;
        if (HEK_UTF8(first))
            lc = valid_utf8_to_uvchr(a_text, &llen);
        if (HEK_UTF8(second))
            rc = valid_utf8_to_uvchr(b_text, &rlen);
        if (lc != rc)
            return lc < rc ? -1 : 1;
        a_text += llen;
        b_text += rlen;
    }
    return a_text < lend ? 1 : b_text < rend ? -1 : 0;
}

/* Sorts entries of a hash; none of them has an SV as its key. */
void
iw_sort_entries(pTHX_ HE **entries, size_t count)
{
    size_t i;
    bool is_mixed = FALSE;
    PERL_UNUSED_CONTEXT;
    for (i = 0; i < count; i++)
        is_mixed |= cBOOL(HeKUTF8(entries[i]));
    if (count > 12 || is_mixed) {
        qsort(entries, count, sizeof *entries, is_mixed ? compare_characters : compare_bytes);
        return;
    }
    for (i = 1; i < count; i++) {
        HE *he = entries[i];
        size_t node = i;
        for (; node && compare_bytes(&entries[node - 1], &he) > 0; node--)
            entries[node] = entries[node - 1];
        entries[node] = he;
    }
}

static I32
compare_svs(pTHX_ SV *const a, SV *const b)
{
    return sv_cmp_flags(a, b, 0);
}

/* Returns the keys of a hash in the order of the caller's code. */
static AV *
keys_from_code(pTHX_ iw_walker *w, HV *hv)
{
    SV *argument = sv_2mortal(newRV_inc((SV *)hv)), *result;
    iw_protect_frames(aTHX_ w);
    result = ice_call_scalar(aTHX_ w->settings->sort_code, &argument, 1);
    if (!SvROK(result) || SvTYPE(SvRV(result)) != SVt_PVAV || SvMAGICAL(SvRV(result))) {
        warn("Sortkeys subroutine did not return ARRAYREF\n");
        return (AV *)sv_2mortal((SV *)newAV());
    }
    ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(result));
    return (AV *)SvRV(result);
}

/* Copies the entries of a hash to a list, sorted by key. */
static void
list_sorted_entries(pTHX_ iw_walker *w, ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    AV *list = newAV(), *keys = (AV *)sv_2mortal((SV *)newAV());
    HE *he;
    SSize_t i;
    const bool is_tied = cBOOL(iw_tie_of(aTHX_(SV *) hv));

    ice_keep_for_call(aTHX_ w->ctx, (SV *)list);
    if (is_tied)
        iw_protect_frames(aTHX_ w);
    if (w->settings->sort_code)
        keys = keys_from_code(aTHX_ w, hv);
    else {
        (void)hv_iterinit(hv);
        while ((he = hv_iternext(hv)))
            av_push(keys, newSVsv(hv_iterkeysv(he)));
        sortsv(AvARRAY(keys), (size_t)(AvFILLp(keys) + 1), compare_svs);
    }
    for (i = 0; i <= AvFILLp(keys); i++) {
        SV *key = AvARRAY(keys)[i] ? AvARRAY(keys)[i] : &PL_sv_undef;
        he = hv_fetch_ent(hv, key, FALSE, 0);
        if (!he && !w->settings->sort_code)
            continue;
        av_push(list, SvREFCNT_inc_simple_NN(key));
        if (!he) {
            av_push(list, newSV(0));
            continue;
        }
        av_push(list, is_tied ? newSVsv(HeVAL(he)) : SvREFCNT_inc_simple_NN(HeVAL(he)));
    }
    frame = &w->ctx->frames[w->ctx->depth - 1].walk; /* foreign code may have moved it */
    frame->kind = IW_LISTED;
    frame->owner.hash = (SV *)hv;
    frame->sv = (SV *)list;
    frame->is_protected = TRUE;
}

void
iw_open_hash(pTHX_ iw_walker *w, U32 node, U32 wrapper_count, HV *hv)
{
    const bool is_tied = cBOOL(iw_tie_of(aTHX_(SV *) hv));
    ice_walk_frame *frame = iw_push_frame(aTHX_ w, is_tied ? IW_TIED_HASH : IW_HASH, node, wrapper_count, (SV *)hv);
    if (UNLIKELY(w->settings->sort_keys))
        list_sorted_entries(aTHX_ w, frame);
    else if (is_tied) {
        iw_protect_frames(aTHX_ w);
        (void)hv_iterinit(hv);
    } else if (HvTOTALKEYS(hv) == 0 || !HvARRAY(hv))
        frame->index = (SSize_t)HvMAX(hv) + 1;
    else
        frame->bucket_order = iw_bucket_order(aTHX_ w, hv);
}
