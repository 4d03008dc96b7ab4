/* Puts records: objects whose classes were not allowed are written as they were read. */
#include "core/leaf.h"

/* Returns the value of a field; NULL if it is missing, undefined or has magic. */
static SV *
record_field(pTHX_ HV *record, const char *name)
{
    SV **found = hv_fetch(record, name, (I32)strlen(name), 0);
    if (!found || !SvOK(*found) || SvMAGICAL(*found))
        return NULL;
    return *found;
}

/* Returns the body of an object whose hook was not called: a value of the type that the
 * record has in `body`, or the tied value in it. */
static SV *
record_body(pTHX_ iw_walker *w, HV *record)
{
    SV *body = record_field(aTHX_ record, "body"), *new_body;
    if (body && SvROK(body))
        return SvRV(body);
    if (body && strEQ(SvPV_nolen(body), "HASH"))
        new_body = (SV *)newHV();
    else if (body && strEQ(SvPV_nolen(body), "ARRAY"))
        new_body = (SV *)newAV();
    else if (body || !hv_exists(record, "body", 4))
        new_body = newSV(0);
    else
        return *hv_fetchs(record, "body", 0); /* a tied scalar */
    ice_keep_for_call(aTHX_ w->ctx, new_body);
    return new_body;
}

/* Puts the record of a regexp that was not compiled. The nodes are equal to those from which the
 * record was built. */
static void
put_recorded_regexp(pTHX_ iw_walker *w, HV *record, SV *pattern, U8 flags, U16 key, U32 wrapper_count)
{
    SV *class = record_field(aTHX_ record, "class"), *letters = record_field(aTHX_ record, "flags");
    SV *bare = record_field(aTHX_ record, "bare");
    STRLEN len;
    const char *text;
    U32 node;
    /* A regexp of another class than perl's own has an object node. */
    if (class && strNE(SvPV_nolen(class), "Regexp")) {
        iw_push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, ICE_CLASS(iw_class_id(aTHX_ w, class)));
        wrapper_count++;
        key = 0;
        flags = 0;
    }
    /* `bare` is set for a regexp that is not blessed: to "reference" if a reference led to it. */
    if (bare)
        flags = (strEQ(SvPV_nolen(bare), "reference") ? flags : flags & ~IW_FLAG_REF) | ICECORE_FLAG_BARE;
    node = iw_push(aTHX_ w, ICECORE_REGEXP, flags, key, 2, 0);
    text = SvPV(pattern, len);
    iw_push_string(aTHX_ w, SvUTF8(pattern) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, text, len);
    text = letters ? SvPV(letters, len) : (len = 0, "");
    iw_push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    iw_end_node(w, node, 2, wrapper_count);
}

/* Returns true if an object is the record of a regexp that was not compiled. */
bool
iw_is_regexp_record(pTHX_ SV *sv)
{
    SV *kind;
    if (SvTYPE(sv) != SVt_PVHV || SvSTASH(sv) != gv_stashpvs("Icecore::Record", 0))
        return FALSE;
    kind = record_field(aTHX_ (HV *)sv, "kind");
    return kind && strEQ(SvPV_nolen(kind), "regexp");
}

/* Puts a record as the object that was read. Returns the value that comes next, which is the
 * content of the object. Returns NULL if the object is complete or has a frame. Changes `*key`
 * and `*wrapper_count` to those of the next value. */
SV *
iw_put_record(pTHX_ iw_walker *w, SV *rv, U16 *key, U32 *wrapper_count, iw_record_body *body, bool may_repeat)
{
    HV *record = (HV *)SvRV(rv);
    SV *class = record_field(aTHX_ record, "class"), *kind = record_field(aTHX_ record, "kind");
    SV **value = hv_fetchs(record, "value", 0);
    const char *kind_name;
    U8 flags = body->is_body ? 0 : IW_FLAG_REF, node_kind = ICECORE_OBJECT, form = ICECORE_FORM_USUAL;
    U32 id;
    size_t i;

    body->is_body = body->has_hint = FALSE;
    if (w->settings->croak_on_bless)
        iw_croak_on_bless(aTHX);
    if (!kind || !value || !(class || iw_is_regexp_record(aTHX_ (SV *)record)))
        croak("Icecore: a record without a class, a kind or a value");
    if (SvWEAKREF(rv))
        flags |= ICECORE_FLAG_WEAK;
    if (record_field(aTHX_ record, "overloaded"))
        flags |= ICECORE_FLAG_OVERLOAD;
    kind_name = SvPV_nolen(kind);
    if (SvREFCNT((SV *)record) > 1 || may_repeat || iw_has_backrefs(aTHX_ (SV *)record)) {
        ice_slot *slot = ice_map_find(&w->ctx->seen, record);
        if (slot) {
            iw_push_link(aTHX_ w, ICECORE_LINK, flags, *key, slot->value, *wrapper_count);
            return NULL;
        }
        ice_map_add(&w->ctx->seen, record, (U32)w->tape->node_count);
        body->has_hint = iw_format_has(w, IW_HINTS);
    }
    if (strEQ(kind_name, "regexp")) {
        put_recorded_regexp(aTHX_ w, record, *value, flags, *key, *wrapper_count);
        return NULL;
    }
    if (w->settings->no_bless)
        return *value;
    id = iw_class_id(aTHX_ w, class);
    if (strEQ(kind_name, "hook")) {
        AV *list = newAV();
        SV *references = record_field(aTHX_ record, "references");
        ice_keep_for_call(aTHX_ w->ctx, (SV *)list);
        av_push(list, newSVsv_nomg(*value));
        if (references && SvROK(references) && SvTYPE(SvRV(references)) == SVt_PVAV && !SvMAGICAL(SvRV(references))) {
            AV *referents = (AV *)SvRV(references);
            SSize_t i;
            for (i = 0; i <= AvFILLp(referents); i++)
                av_push(list, AvARRAY(referents)[i] ? SvREFCNT_inc_simple_NN(AvARRAY(referents)[i]) : newSV(0));
        }
        iw_put_hook_result(aTHX_ w, record_body(aTHX_ w, record), list, id, flags, *key, *wrapper_count);
        return NULL;
    }
    /* A record whose kind is not in the table is put as an ordinary object. */
    for (i = 0; i < ICE_RECORD_KINDS && strNE(kind_name, ice_record_kinds[i].name); i++)
        ;
    if (i < ICE_RECORD_KINDS) {
        node_kind = ice_record_kinds[i].node_kind;
        form = ice_record_kinds[i].form;
    }
    /* This object is a blessed variable, and no reference leads to it. */
    if (form == ICECORE_FORM_VARIABLE)
        flags = 0;
    iw_push(aTHX_ w, node_kind, flags, *key, 1, ICE_CLASS(id) | ICE_FORM(form));
    if (node_kind == ICECORE_OBJECT && form != ICECORE_FORM_VARIABLE)
        body->is_body = TRUE;
    ++*wrapper_count;
    *key = 0;
    return *value;
}
