/* What JSON makes of references and objects: as JSON::XS, which does not care
 * whether something was seen before. */
#include "leaf.h"
#include "json.h"

HV *
ij_boolean_stash(const ice_json *json)
{
    return json->boolean_stash;
}

bool
ij_is_sorted(const ice_json *json)
{
    return (json->flags & J_CANONICAL) != 0;
}

/* ---- sorted keys ------------------------------------------------------- */

static int
compare_bytes(const void *a, const void *b)
{
    const HEK *left = HeKEY_hek(*(HE *const *)a), *right = HeKEY_hek(*(HE *const *)b);
    const I32 shorter = HEK_LEN(left) < HEK_LEN(right) ? HEK_LEN(left) : HEK_LEN(right);
    const int order = memcmp(HEK_KEY(left), HEK_KEY(right), (size_t)shorter);
    return order ? order : HEK_LEN(left) - HEK_LEN(right);
}

/* Latin-1 and UTF-8 in one hash: character by character. */
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

/* Sorts entries of a hash, none of which has an SV for its key. */
void
ij_sort(pTHX_ HE **entries, size_t count)
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

/* Puts what is in a hash into a list, by key. */
void
ij_list_sorted(pTHX_ walk *w, ice_walk_frame *frame)
{
    HV *hv = (HV *)frame->sv;
    AV *list = newAV(), *keys = (AV *)sv_2mortal((SV *)newAV());
    HE *he;
    SSize_t i;
    const bool is_tied = cBOOL(tie_of(aTHX_ (SV *)hv));

    ice_keep(aTHX_ w->ctx, (SV *)list);
    if (is_tied)
        iw_pin(aTHX_ w);
    (void)hv_iterinit(hv);
    while ((he = hv_iternext(hv)))
        av_push(keys, newSVsv(hv_iterkeysv(he)));
    sortsv(AvARRAY(keys), (size_t)(AvFILLp(keys) + 1), compare_svs);
    for (i = 0; i <= AvFILLp(keys); i++) {
        SV *key = AvARRAY(keys)[i];
        he = hv_fetch_ent(hv, key, FALSE, 0);
        if (!he)
            continue;
        av_push(list, SvREFCNT_inc_simple_NN(key));
        av_push(list, is_tied ? newSVsv(HeVAL(he)) : SvREFCNT_inc_simple_NN(HeVAL(he)));
    }
    frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    frame->kind = LISTED;
    frame->sv = (SV *)list;
    frame->pinned = TRUE;
}

/* ---- references -------------------------------------------------------- */

static void
put_array(pTHX_ walk *w, AV *av, U16 key)
{
    U32 at = push(aTHX_ w, ICECORE_ARRAY, 0, key, 0, 0);
    ice_walk_frame *frame;
    if (SvRMAGICAL((SV *)av) && tie_of(aTHX_ (SV *)av)) {
        iw_pin(aTHX_ w);
        frame = iw_push_frame(aTHX_ w, ARRAY, at, 0, (SV *)av);
        frame->count = av_len(av) + 1;
        frame->is_tied = TRUE;
        return;
    }
    iw_push_frame(aTHX_ w, ARRAY, at, 0, (SV *)av)->count = AvFILLp(av) + 1;
}

static void
put_hash(pTHX_ walk *w, HV *hv, U16 key)
{
    U32 at = push(aTHX_ w, ICECORE_MAP, 0, key, 0, 0);
    const bool is_tied = cBOOL(tie_of(aTHX_ (SV *)hv));
    ice_walk_frame *frame = iw_push_frame(aTHX_ w, is_tied ? TIED_HASH : HASH, at, 0, (SV *)hv);
    if (w->sorted)
        ij_list_sorted(aTHX_ w, frame);
    else if (is_tied) {
        iw_pin(aTHX_ w);
        (void)hv_iterinit(hv);
    } else if (HvTOTALKEYS(hv) == 0 || !HvARRAY(hv))
        frame->at = (SSize_t)HvMAX(hv) + 1;
    else
        frame->order = iw_start_hash(aTHX_ w, hv);
}

/* What FREEZE returned, behind the name of the class. */
static void
put_tagged(pTHX_ walk *w, SV *sv, CV *method, U16 key)
{
    const U32 id = iw_class_of(aTHX_ w, SvSTASH(sv))->id;
    SV *arguments[2];
    AV *list;
    SSize_t i;
    U32 at;
    ice_keep(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep(aTHX_ w->ctx, arguments[1] = newSVpvs("JSON"));
    iw_pin(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)method, arguments, 2);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    w->last_stash = NULL;
    for (i = 0; i <= AvFILLp(list); i++)
        if (SvROK(AvARRAY(list)[i]) && SvRV(AvARRAY(list)[i]) == sv)
            croak("%s::FREEZE method returned same object as was passed instead of a new one", HvNAME_get(SvSTASH(sv)));
    push(aTHX_ w, ICECORE_OPAQUE, ICECORE_FORM_FREEZE << 4, key, 1, (U64)id << 32);
    at = push(aTHX_ w, ICECORE_ARRAY, 0, 0, 0, 0);
    iw_push_frame(aTHX_ w, ARRAY, at, 1, (SV *)list)->count = AvFILLp(list) + 1;
}

static SV *
converted(pTHX_ walk *w, SV *sv, CV *method)
{
    SV *argument = newRV_inc(sv), *result;
    ice_keep(aTHX_ w->ctx, argument);
    iw_pin(aTHX_ w);
    result = ice_call_scalar(aTHX_ (SV *)method, &argument, 1);
    ice_keep(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(result));
    w->last_stash = NULL;
    if (SvROK(result) && SvRV(result) == sv)
        croak("%s::TO_JSON method returned same object as was passed instead of a new one", HvNAME_get(SvSTASH(sv)));
    return result;
}

static bool
is_boolean_class(pTHX_ const ice_json *json, HV *stash)
{
    const char *name;
    if (stash == json->boolean_stash)
        return TRUE;
    name = HvNAME_get(stash);
    return name && (strEQ(name, "JSON::PP::Boolean") || strEQ(name, "Types::Serialiser::Boolean"));
}

/* An object. Returns what is to be put in its place; NULL, if it was put. */
static SV *
put_object(pTHX_ walk *w, SV *rv, SV *sv, U16 key)
{
    const ice_json *json = w->set->json;
    HV *stash = SvSTASH(sv);
    CV *method;
    if (is_boolean_class(aTHX_ json, stash)) {
        push(aTHX_ w, ICECORE_BOOL, 0, key, 0, SvIV_nomg(sv) != 0);
        return NULL;
    }
    if (json->flags & J_ALLOW_TAGS && (method = ice_method(aTHX_ stash, "FREEZE"))) {
        put_tagged(aTHX_ w, sv, method, key);
        return NULL;
    }
    if (json->flags & J_CONVERT_BLESSED && (method = ice_method(aTHX_ stash, "TO_JSON")))
        return converted(aTHX_ w, sv, method);
    if (json->flags & J_ALLOW_STRINGIFY && Gv_AMG(stash)) {
        STRLEN len;
        const char *text;
        iw_pin(aTHX_ w);
        text = SvPV(rv, len);
        push_string(aTHX_ w, SvUTF8(rv) ? ICECORE_TEXT : ICECORE_BYTES, 0, key, text, len);
        return NULL;
    }
    if (!(json->flags & J_ALLOW_BLESSED))
        croak("encountered object '%" SVf "', but neither allow_blessed, convert_blessed nor allow_tags settings are "
              "enabled (or TO_JSON/FREEZE method missing)", SVfARG(rv));
    push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
    return NULL;
}

/* What a reference to this scalar says: 1 for true, 0 for false, -1 for neither. */
int
ij_word_of(pTHX_ SV *sv)
{
    STRLEN len;
    const char *text;
    if (SvTYPE(sv) >= SVt_PVAV || SvTYPE(sv) == SVt_NULL || SvROK(sv) || !SvOK(sv) || isGV_with_GP(sv))
        return -1;
    text = SvPV_nomg(sv, len);
    if (len != 1)
        return -1;
    return *text == '1' ? 1 : *text == '0' ? 0 : -1;
}

/* Puts any value. */
void
ij_put(pTHX_ walk *w, SV *sv, U16 key)
{
    const ice_json *json = w->set->json;
    UV conversions = 0;
    for (;;) {
        SV *referent;
        if (SvGMAGICAL(sv))
            iw_get_magic(aTHX_ w, sv);
        if (!SvROK(sv)) {
            if (SvOK(sv) && !(SvFLAGS(sv) & (SVp_POK | SVp_NOK | SVp_IOK)) && !(json->flags & J_ALLOW_UNKNOWN))
                croak("encountered perl type (%" SVf ",0x%x) that JSON cannot handle, check your input data",
                      SVfARG(sv), (unsigned)SvFLAGS(sv));
            json_leaf(aTHX_ w, sv, 0, key);
            return;
        }
        referent = SvRV(sv);
        if (SvOBJECT(referent)) {
            sv = put_object(aTHX_ w, sv, referent, key);
            if (!sv)
                return;
            if (++conversions > json->max_depth)
                croak(IJ_TOO_DEEP);
            continue;
        }
        if ((SvTYPE(referent) == SVt_PVAV || SvTYPE(referent) == SVt_PVHV) && w->ctx->depth >= json->max_depth)
            croak(IJ_TOO_DEEP);
        switch (SvTYPE(referent)) {
        case SVt_PVAV:
            put_array(aTHX_ w, (AV *)referent, key);
            return;
        case SVt_PVHV:
            put_hash(aTHX_ w, (HV *)referent, key);
            return;
        default: {
            const int word = ij_word_of(aTHX_ referent);
            if (word >= 0)
                push(aTHX_ w, ICECORE_BOOL, 0, key, 0, (U64)word);
            else if (json->flags & J_ALLOW_UNKNOWN)
                push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
            else if (SvTYPE(referent) < SVt_PVAV)
                croak("cannot encode reference to scalar '%" SVf "' unless the scalar is 0 or 1", SVfARG(sv));
            else
                croak("encountered %" SVf ", but JSON can only represent references to arrays or hashes", SVfARG(sv));
            return;
        }
        }
    }
}
