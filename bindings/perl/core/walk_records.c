/* Records: objects of classes that were not allowed, written as they were read. */
#include "core/leaf.h"

static SV *
field(pTHX_ HV *record, const char *name)
{
    SV **found = hv_fetch(record, name, (I32)strlen(name), 0);
    if (!found || !SvOK(*found) || SvMAGICAL(*found))
        return NULL;
    return *found;
}

/* Returns a body of the type that a hook record names. */
static SV *
record_type(pTHX_ iw_walk *w, HV *record)
{
    SV *body = field(aTHX_ record, "body"), *made;
    if (body && SvROK(body))
        return SvRV(body);
    if (body && strEQ(SvPV_nolen(body), "HASH"))
        made = (SV *)newHV();
    else if (body && strEQ(SvPV_nolen(body), "ARRAY"))
        made = (SV *)newAV();
    else if (body || !hv_exists(record, "body", 4))
        made = newSV(0);
    else
        return *hv_fetchs(record, "body", 0); /* a tied scalar */
    ice_keep(aTHX_ w->ctx, made);
    return made;
}

/* Puts a regexp that was not compiled, as it was read. */
static void
put_recorded_regexp(pTHX_ iw_walk *w, HV *record, SV *pattern, U8 flags, U16 key, U32 wraps)
{
    SV *class = field(aTHX_ record, "class"), *letters = field(aTHX_ record, "flags");
    SV *bare = field(aTHX_ record, "bare");
    STRLEN len;
    const char *text;
    U32 at;
    if (class && strNE(SvPV_nolen(class), "Regexp")) {
        push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, ICE_CLASS(iw_named_class(aTHX_ w, class)));
        wraps++;
        key = 0;
        flags = 0;
    }
    if (bare)
        flags = (strEQ(SvPV_nolen(bare), "reference") ? flags : flags & ~REFERENCE) | ICECORE_FLAG_BARE;
    at = push(aTHX_ w, ICECORE_REGEXP, flags, key, 2, 0);
    text = SvPV(pattern, len);
    push_string(aTHX_ w, SvUTF8(pattern) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, text, len);
    text = letters ? SvPV(letters, len) : (len = 0, "");
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    end_node(w, at, 2, wraps);
}

/* Whether an object is the record of a regexp that was not compiled. */
bool
iw_is_regexp_record(pTHX_ SV *sv)
{
    SV *kind;
    if (SvTYPE(sv) != SVt_PVHV || SvSTASH(sv) != gv_stashpvs("Icecore::Record", 0))
        return FALSE;
    kind = field(aTHX_ (HV *)sv, "kind");
    return kind && strEQ(SvPV_nolen(kind), "regexp");
}

/* Puts an object of a class that was not allowed, as it was read. Returns the value to
 * put into it; NULL if it is complete or has a frame. */
SV *
iw_put_record(pTHX_ iw_walk *w, SV *rv, U16 *key, U32 *wraps, record_body *inside, bool remember)
{
    HV *record = (HV *)SvRV(rv);
    SV *class = field(aTHX_ record, "class"), *kind = field(aTHX_ record, "kind");
    SV **value = hv_fetchs(record, "value", 0);
    const char *how;
    U8 flags = inside->is_body ? 0 : REFERENCE, node = ICECORE_OBJECT, form = ICECORE_FORM_USUAL;
    U32 id;
    size_t i;

    inside->is_body = inside->hint = FALSE;
    if (w->set->croak_on_bless)
        iw_refuse_object(aTHX);
    if (!kind || !value || !(class || iw_is_regexp_record(aTHX_ (SV *)record)))
        croak("Icecore: a record without a class, a kind or a value");
    if (SvWEAKREF(rv))
        flags |= ICECORE_FLAG_WEAK;
    if (field(aTHX_ record, "overloaded"))
        flags |= ICECORE_FLAG_OVERLOAD;
    how = SvPV_nolen(kind);
    if (SvREFCNT((SV *)record) > 1 || remember || has_backrefs(aTHX_ (SV *)record)) {
        ice_slot *slot = ice_map_find(&w->ctx->seen, record);
        if (slot) {
            push_again(aTHX_ w, ICECORE_LINK, flags, *key, slot->value, *wraps);
            return NULL;
        }
        ice_map_add(&w->ctx->seen, record, (U32)w->t->node_count);
        inside->hint = has_fact(w, IW_HINTS);
    }
    if (strEQ(how, "regexp")) {
        put_recorded_regexp(aTHX_ w, record, *value, flags, *key, *wraps);
        return NULL;
    }
    if (w->set->no_bless)
        return *value;
    id = iw_named_class(aTHX_ w, class);
    if (strEQ(how, "hook")) {
        AV *list = newAV();
        SV *references = field(aTHX_ record, "references");
        ice_keep(aTHX_ w->ctx, (SV *)list);
        av_push(list, newSVsv_nomg(*value));
        if (references && SvROK(references) && SvTYPE(SvRV(references)) == SVt_PVAV && !SvMAGICAL(SvRV(references))) {
            AV *from = (AV *)SvRV(references);
            SSize_t i;
            for (i = 0; i <= AvFILLp(from); i++)
                av_push(list, AvARRAY(from)[i] ? SvREFCNT_inc_simple_NN(AvARRAY(from)[i]) : newSV(0));
        }
        iw_put_hook(aTHX_ w, record_type(aTHX_ w, record), list, id, flags, *key, *wraps);
        return NULL;
    }
    for (i = 0; i < ICE_RECORD_KINDS && strNE(how, ice_record_kinds[i].word); i++)
        ;
    if (i < ICE_RECORD_KINDS) {
        node = ice_record_kinds[i].node;
        form = ice_record_kinds[i].form;
    }
    if (form == ICECORE_FORM_VARIABLE)
        flags = 0;
    push(aTHX_ w, node, flags, *key, 1, ICE_CLASS(id) | ICE_FORM(form));
    if (node == ICECORE_OBJECT && form != ICECORE_FORM_VARIABLE)
        inside->is_body = TRUE;
    ++*wraps;
    *key = 0;
    return *value;
}
