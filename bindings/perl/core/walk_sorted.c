/* Hashes: sorted by their keys, or in perl's order. */
#include "core/leaf.h"

static int
compare_bytes(const void *a, const void *b)
{
    const HEK *left = HeKEY_hek(*(HE *const *)a), *right = HeKEY_hek(*(HE *const *)b);
    const I32 shorter = HEK_LEN(left) < HEK_LEN(right) ? HEK_LEN(left) : HEK_LEN(right);
    const int order = memcmp(HEK_KEY(left), HEK_KEY(right), (size_t)shorter);
    return order ? order : HEK_LEN(left) - HEK_LEN(right);
}

/* Latin-1 and UTF-8 in one hash: compares character by character. */
static int
compare_characters(const void *a, const void *b)
{
    const HEK *left = HeKEY_hek(*(HE *const *)a), *right = HeKEY_hek(*(HE *const *)b);
    const U8 *l = (const U8 *)HEK_KEY(left), *lend = l + HEK_LEN(left);
    const U8 *r = (const U8 *)HEK_KEY(right), *rend = r + HEK_LEN(right);
    while (l < lend && r < rend) {
        UV lc = *l, rc = *r;
        STRLEN llen = 1, rlen = 1;
        if (HEK_UTF8(left))
            lc = valid_utf8_to_uvchr(l, &llen);
        if (HEK_UTF8(right))
            rc = valid_utf8_to_uvchr(r, &rlen);
        if (lc != rc)
            return lc < rc ? -1 : 1;
        l += llen;
        r += rlen;
    }
    return l < lend ? 1 : r < rend ? -1 : 0;
}

/* Sorts entries of a hash; none of them has an SV as its key. */
void
iw_sort(pTHX_ HE **entries, size_t count)
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
        size_t at = i;
        for (; at && compare_bytes(&entries[at - 1], &he) > 0; at--)
            entries[at] = entries[at - 1];
        entries[at] = he;
    }
}

static I32
compare_svs(pTHX_ SV *const a, SV *const b)
{
    return sv_cmp_flags(a, b, 0);
}

/* Returns the keys of a hash in the order of the caller's code. */
static AV *
keys_by(pTHX_ iw_walk *w, HV *hv)
{
    SV *argument = sv_2mortal(newRV_inc((SV *)hv)), *result;
    iw_pin(aTHX_ w);
    result = ice_call_scalar(aTHX_ w->set->sort_code, &argument, 1);
    if (!SvROK(result) || SvTYPE(SvRV(result)) != SVt_PVAV || SvMAGICAL(SvRV(result))) {
        warn("Sortkeys subroutine did not return ARRAYREF\n");
        return (AV *)sv_2mortal((SV *)newAV());
    }
    ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(result));
    return (AV *)SvRV(result);
}

/* Copies the entries of a hash to a list, sorted by key. */
static void
list_sorted(pTHX_ iw_walk *w, ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    AV *list = newAV(), *keys = (AV *)sv_2mortal((SV *)newAV());
    HE *he;
    SSize_t i;
    const bool is_tied = cBOOL(tie_of(aTHX_ (SV *)hv));

    ice_keep(aTHX_ w->ctx, (SV *)list);
    if (is_tied)
        iw_pin(aTHX_ w);
    if (w->set->sort_code)
        keys = keys_by(aTHX_ w, hv);
    else {
        (void)hv_iterinit(hv);
        while ((he = hv_iternext(hv)))
            av_push(keys, newSVsv(hv_iterkeysv(he)));
        sortsv(AvARRAY(keys), (size_t)(AvFILLp(keys) + 1), compare_svs);
    }
    for (i = 0; i <= AvFILLp(keys); i++) {
        SV *key = AvARRAY(keys)[i] ? AvARRAY(keys)[i] : &PL_sv_undef;
        he = hv_fetch_ent(hv, key, FALSE, 0);
        if (!he && !w->set->sort_code)
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
    frame->other = (SV *)hv;
    frame->sv = (SV *)list;
    frame->pinned = TRUE;
}

void
iw_open_hash(pTHX_ iw_walk *w, U32 at, U32 wraps, HV *hv)
{
    const bool is_tied = cBOOL(tie_of(aTHX_ (SV *)hv));
    ice_walk_frame *frame = iw_push_frame(aTHX_ w, is_tied ? IW_TIED_HASH : IW_HASH, at, wraps, (SV *)hv);
    if (UNLIKELY(w->set->sorted))
        list_sorted(aTHX_ w, frame);
    else if (is_tied) {
        iw_pin(aTHX_ w);
        (void)hv_iterinit(hv);
    } else if (HvTOTALKEYS(hv) == 0 || !HvARRAY(hv))
        frame->at = (SSize_t)HvMAX(hv) + 1;
    else
        frame->order = iw_start_hash(aTHX_ w, hv);
}
