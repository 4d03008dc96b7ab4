/* Opens hashes, whose entries are put in the order of their keys or in perl's order. */
#include "core/leaf.h"

/* Compares the keys of two entries, byte by byte. */
static int
compare_bytes(const void *a, const void *b)
{
    const HEK *first = HeKEY_hek(*(HE *const *)a), *second = HeKEY_hek(*(HE *const *)b);
    const I32 shorter = HEK_LEN(first) < HEK_LEN(second) ? HEK_LEN(first) : HEK_LEN(second);
    const int order = memcmp(HEK_KEY(first), HEK_KEY(second), (size_t)shorter);
    return order ? order : HEK_LEN(first) - HEK_LEN(second);
}

/* Compares character by character, for hashes with keys in Latin-1 and keys in UTF-8. */
static int
compare_characters(const void *a, const void *b)
{
    const HEK *first = HeKEY_hek(*(HE *const *)a), *second = HeKEY_hek(*(HE *const *)b);
    const U8 *a_text = (const U8 *)HEK_KEY(first), *a_end = a_text + HEK_LEN(first);
    const U8 *b_text = (const U8 *)HEK_KEY(second), *b_end = b_text + HEK_LEN(second);
    while (a_text < a_end && b_text < b_end) {
        UV a_char = *a_text, b_char = *b_text;
        STRLEN a_len = 1, b_len = 1;
        if (HEK_UTF8(first))
            a_char = valid_utf8_to_uvchr(a_text, &a_len);
        if (HEK_UTF8(second))
            b_char = valid_utf8_to_uvchr(b_text, &b_len);
        if (a_char != b_char)
            return a_char < b_char ? -1 : 1;
        a_text += a_len;
        b_text += b_len;
    }
    return a_text < a_end ? 1 : b_text < b_end ? -1 : 0;
}

/* Sorts entries of a hash by their keys. The hash must not be tied, because the keys of a tied
 * hash are SVs and not HEKs. If all keys have the same encoding, the order of their bytes is
 * that of their characters. */
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
    /* An insertion sort is faster for few keys. */
    for (i = 1; i < count; i++) {
        HE *he = entries[i];
        size_t position = i;
        for (; position && compare_bytes(&entries[position - 1], &he) > 0; position--)
            entries[position] = entries[position - 1];
        entries[position] = he;
    }
}

/* Compares two keys that are SVs, without calling their magic. */
static I32
compare_svs(pTHX_ SV *const a, SV *const b)
{
    return sv_cmp_flags(a, b, 0);
}

/* Returns the keys of a hash that the program's code for sorting returns. */
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

/* Copies the entries of a hash to a list, sorted by key, and changes the frame to one of the list. Code
 * of the program may return a key that the hash does not have; its value is undef, as in Data::Dumper. */
static void
list_sorted_entries(pTHX_ iw_walker *w, ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    AV *list = newAV(), *keys = (AV *)sv_2mortal((SV *)newAV());
    HE *he;
    SSize_t i;
    const bool is_tied = cBOOL(iw_tie_of(aTHX_ (SV *)hv));

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
    frame = &w->ctx->frames[w->ctx->depth - 1].walk; /* perl code may have moved the stack */
    frame->kind = IW_LISTED;
    frame->owner.hash = (SV *)hv;
    frame->sv = (SV *)list;
    frame->is_protected = TRUE;
}

/* Opens the map that was pushed last, whose node is `node`. */
void
iw_open_hash(pTHX_ iw_walker *w, U32 node, U32 wrapper_count, HV *hv)
{
    const bool is_tied = cBOOL(iw_tie_of(aTHX_ (SV *)hv));
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
