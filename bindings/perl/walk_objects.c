/* What a walk meets seldom: hooks, ties, regexps, code, and records of objects. */
#include "leaf.h"

/* Where the walk is, when nothing or only wrappers were pushed for a value: as
 * `$.staff[3]`. A mortal. */
static SV *
path_here(pTHX_ walk *w, U16 key, U32 wraps)
{
    SV *path = sv_2mortal(newSVpvs("$"));
    U32 i;
    for (i = 0; i < w->ctx->depth; i++) {
        const ice_walk_frame *frame = &w->ctx->frames[i].walk;
        const ice_walk_frame *inner = i + 1 < w->ctx->depth ? &w->ctx->frames[i + 1].walk : NULL;
        U32 first = inner ? inner->node - inner->wraps : (U32)w->t->node_count - wraps;
        U16 id = first < w->t->node_count ? w->t->nodes[first].key : key;
        if (frame->kind == ARRAY)
            sv_catpvf(path, "[%" IVdf "]", (IV)frame->at - 1);
        else if (id == ICECORE_KEY_NODE && first > 0 && w->t->nodes[first - 1].key == ICECORE_IS_KEY) {
            const icecore_node *node = &w->t->nodes[first - 1];
            if (node->aux != ICECORE_LONG)
                sv_catpvf(path, ".%" SVf, SVfARG(sv_2mortal(newSVpvn_utf8(
                    (char *)w->t->arena + (node->payload & ICECORE_OFFSET), node->aux, node->kind == ICECORE_TEXT))));
        } else if (id && id < w->ctx->keys.room && w->ctx->keys.by_id[id])
            sv_catpvf(path, ".%" SVf, SVfARG(w->ctx->keys.by_id[id]));
    }
    return path;
}

/* Code, globs, handles and so on. */
void
iw_put_unknown(pTHX_ walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps)
{
    const char *type = sv_reftype(sv, FALSE);
    if (w->dumper && iw_put_dumped(aTHX_ w, sv, flags, key, wraps))
        return;
    if (w->storable) {
        char text[80];
        if (!w->set->forgive)
            croak("Can't store %s items", type);
        warn("Can't store item %s(0x%" UVxf ")", type, PTR2UV(sv));
        my_snprintf(text, sizeof text, "You lost %s(0x%" UVxf ")", type, PTR2UV(sv));
        push(aTHX_ w, ICECORE_REF, flags, key, 1, 0);
        push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, strlen(text));
        end_node(w, (U32)w->t->node_count - 2, 1, wraps);
        return;
    }
    if (w->set->undef_unknown || w->set->stringify_unknown) {
        bool undef = w->set->undef_unknown;
        if (w->set->warn_unknown
            && (undef || w->set->warn_unknown != 2 || !SvOBJECT(sv) || !Gv_AMG(SvSTASH(sv))))
            warn("Found type %u %s(0x%p), but it is not representable by the Sereal encoding format; will encode as %s",
                 (unsigned)SvTYPE(sv), type, (void *)sv, undef ? "an undefined value" : "a stringified form");
        /* The class, if one was written, is taken back. */
        if (wraps) {
            w->t->node_count -= wraps;
            key = w->t->nodes[w->t->node_count].key;
        }
        if (undef)
            push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
        else {
            STRLEN len;
            const char *text;
            iw_pin(aTHX_ w);
            text = SvPV(rv ? rv : sv, len);
            push_string(aTHX_ w, SvUTF8(rv ? rv : sv) ? ICECORE_TEXT : ICECORE_BYTES, 0, key, text, len);
        }
        return;
    }
    if (w->sereal)
        croak("Found type %u %s(0x%p), but it is not representable by the Sereal encoding format", (unsigned)SvTYPE(sv),
              type, (void *)sv);
    croak("Icecore: %s can't be encoded, at %" SVf, type, SVfARG(path_here(aTHX_ w, key, wraps)));
}

void
iw_put_code(pTHX_ walk *w, SV *rv, SV *cv, U8 flags, U16 key, U32 wraps)
{
    SV *text;
    STRLEN len;
    const char *pv;
    if (!w->storable || !w->set->deparse) {
        iw_put_unknown(aTHX_ w, rv, cv, flags, key, wraps);
        return;
    }
    iw_pin(aTHX_ w);
    {
        SV *code = newRV_inc(cv);
        AV *result;
        ice_keep(aTHX_ w->ctx, code);
        result = ice_call_list(aTHX_ (SV *)get_cv("Icecore::_deparse", GV_ADD), &code, 1);
        ice_keep(aTHX_ w->ctx, (SV *)result);
        text = AvFILLp(result) >= 0 ? AvARRAY(result)[0] : &PL_sv_undef;
    }
    pv = SvPV(text, len);
    if (len == 0 || pv[len - 1] == ';')
        croak("The result of B::Deparse::coderef2text was empty - maybe you're trying to serialize an XS function?\n");
    push(aTHX_ w, ICECORE_CODE, flags, key, 1, 0);
    push_string(aTHX_ w, SvUTF8(text) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, pv, len);
    end_node(w, (U32)w->t->node_count - 2, 1, wraps);
}

/* The letters that stand behind a pattern. */
static STRLEN
regexp_flags(pTHX_ REGEXP *re, char *to)
{
    STRLEN count = 0;
    const char *letters = INT_PAT_MODS;
    U32 bits = (RX_EXTFLAGS(re) & RXf_PMf_COMPILETIME) >> RXf_PMf_STD_PMMOD_SHIFT;
    switch (get_regex_charset(RX_EXTFLAGS(re))) {
    case REGEX_LOCALE_CHARSET:
        to[count++] = 'l';
        break;
    case REGEX_UNICODE_CHARSET:
        to[count++] = 'u';
        break;
    case REGEX_ASCII_MORE_RESTRICTED_CHARSET:
        to[count++] = 'a';
        /* FALLTHROUGH */
    case REGEX_ASCII_RESTRICTED_CHARSET:
        to[count++] = 'a';
        break;
    default:
        break;
    }
    for (; *letters; letters++, bits >>= 1)
        if (bits & 1)
            to[count++] = *letters;
    return count;
}

void
iw_put_regexp(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps)
{
    REGEXP *re = SvTYPE(sv) == SVt_REGEXP ? (REGEXP *)sv : SvRX(sv);
    char letters[64];
    STRLEN count = regexp_flags(aTHX_ re, letters);
    U32 at = push(aTHX_ w, ICECORE_REGEXP, flags, key, 2, 0);
    push_string(aTHX_ w, RX_UTF8(re) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, RX_PRECOMP(re), RX_PRELEN(re));
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, letters, count);
    end_node(w, at, 2, wraps);
}

/* Says that Storable's hook of this class is to be called, and calls it. NULL:
 * the object is stored as if there were none. */
AV *
iw_call_freeze(pTHX_ walk *w, SV *sv, U32 class_index)
{
    ice_class *class = &w->ctx->classes[class_index];
    SV *arguments[2];
    AV *list;
    bool storing = !w->set->cloning;

    ice_keep(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep(aTHX_ w->ctx, arguments[1] = newSViv(w->set->cloning ? ICE_CLONING : 0));
    iw_pin(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)class->hook, arguments, 2);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    class = &w->ctx->classes[class_index];
    if (AvFILLp(list) < 0) {
        if (class->hook_used)
            croak("Too late to ignore hooks for %s class \"%s\"", storing ? "storing" : "cloning",
                  HvNAME_get(class->stash));
        class->hook_ignored = TRUE;
        return NULL;
    }
    if (AvFILLp(list) > 0 && ice_method(aTHX_ class->stash, "STORABLE_attach"))
        croak("Freeze cannot return references if %s class is using STORABLE_attach", HvNAME_get(class->stash));
    class->hook_used = TRUE;
    return list;
}

void
iw_put_hook(pTHX_ walk *w, SV *sv, AV *list, U32 class_id, U8 flags, U16 key, U32 wraps)
{
    U32 at = push(aTHX_ w, ICECORE_OPAQUE, flags, key, 0, ICE_CLASS(class_id) | ICE_FORM(ICECORE_FORM_HOOK));
    ice_walk_frame *frame;
    STRLEN len;
    const char *text = SvPV(AvARRAY(list)[0], len);
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    frame = iw_push_frame(aTHX_ w, HOOK, at, wraps, (SV *)list);
    frame->pinned = TRUE; /* the list is kept */
    frame->at = 1;
    frame->count = 1;
    frame->other = sv;
}

/* What FREEZE of its class returns for an object. */
void
iw_put_frozen(pTHX_ walk *w, SV *sv, const ice_class *class, U8 flags, U16 key, U32 wraps)
{
    const U32 id = class->id;
    SV *arguments[2];
    AV *list;
    U32 at;
    ice_keep(aTHX_ w->ctx, arguments[0] = newRV_inc(sv));
    ice_keep(aTHX_ w->ctx, arguments[1] = newSVpvs("Sereal"));
    iw_pin(aTHX_ w);
    list = ice_call_list(aTHX_ (SV *)class->hook, arguments, 2);
    ice_keep(aTHX_ w->ctx, (SV *)list);
    w->last_stash = NULL;
    push(aTHX_ w, ICECORE_OPAQUE, flags, key, 1, ICE_CLASS(id) | ICE_FORM(ICECORE_FORM_FREEZE));
    at = push(aTHX_ w, ICECORE_ARRAY, REFERENCE, 0, 0, 0);
    iw_push_frame(aTHX_ w, ARRAY, at, wraps + 1, (SV *)list)->count = AvFILLp(list) + 1;
}

void
iw_refuse_object(pTHX)
{
    croak("Attempted to serialize blessed reference. Serializing objects using Sereal::Encoder was explicitly disabled "
          "using the 'croak_on_bless' option.");
}

/* What ties a variable: its parts come next. */
ice_walk_frame *
iw_push_tied(pTHX_ walk *w, U8 form, SV *object, U8 flags, U16 key, U32 wraps)
{
    U32 at = push(aTHX_ w, ICECORE_TIED, flags, key, 1, ICE_FORM(form));
    if (!object)
        ice_keep(aTHX_ w->ctx, object = newSV(0));
    return iw_push_frame(aTHX_ w, TIED, at, wraps, object);
}

/* A scalar with magic, as Storable sees it. Says whether it was put. */
bool
iw_put_magical(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps)
{
    MAGIC *mg;
    const U32 all = SVs_GMG | SVs_SMG | SVs_RMG;
    if ((SvFLAGS(sv) & all) == all && (mg = mg_find(sv, PERL_MAGIC_tiedelem))) {
        ice_walk_frame *frame = iw_push_tied(aTHX_ w, ICECORE_FORM_TIED_ELEMENT, mg->mg_obj, flags, key, wraps);
        frame->other = (SV *)mg->mg_ptr;
        frame->by_index = !mg->mg_ptr;
        frame->at = mg->mg_len;
        return TRUE;
    }
    if ((SvFLAGS(sv) & all) == all && (mg = mg_find(sv, PERL_MAGIC_tiedscalar))) {
        iw_push_tied(aTHX_ w, ICECORE_FORM_TIED_SCALAR, mg->mg_obj, flags, key, wraps);
        return TRUE;
    }
    if (SvPOK(sv) && SvMAGICAL(sv) && (mg = mg_find(sv, PERL_MAGIC_vstring))) {
        U32 at = push(aTHX_ w, ICECORE_VSTRING, flags, key, 2, 0);
        push_string(aTHX_ w, ICECORE_BYTES, 0, 0, mg->mg_ptr, mg->mg_len);
        push_pv(aTHX_ w, sv, 0, 0);
        end_node(w, at, 2, wraps);
        return TRUE;
    }
    return FALSE;
}

/* ---- records ----------------------------------------------------------- */

static SV *
field(pTHX_ HV *record, const char *name)
{
    SV **found = hv_fetch(record, name, (I32)strlen(name), 0);
    if (!found || !SvOK(*found) || SvMAGICAL(*found))
        return NULL;
    return *found;
}

/* What a hook record says that its object is made of. */
static SV *
record_type(pTHX_ walk *w, HV *record)
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

/* A regexp that was not compiled, as it was read. */
static void
put_recorded_regexp(pTHX_ walk *w, HV *record, SV *pattern, U8 flags, U16 key, U32 wraps)
{
    SV *class = field(aTHX_ record, "class"), *letters = field(aTHX_ record, "flags");
    SV *bare = field(aTHX_ record, "bare");
    STRLEN len;
    const char *text;
    U32 at;
    if (class && strNE(SvPV_nolen(class), "Regexp")) {
        U32 id;
        text = SvPV(class, len);
        id = icecore_class(w->ctx->engine, SvUTF8(class) ? ICECORE_TEXT : ICECORE_BYTES, (const U8 *)text, len);
        if (!id)
            croak("Icecore: too many classes");
        push(aTHX_ w, ICECORE_OBJECT, flags, key, 1, ICE_CLASS(id));
        wraps++;
        key = 0;
        flags = 0;
    }
    if (bare)
        flags = (strEQ(SvPV_nolen(bare), "reference") ? flags : flags & ~REFERENCE) | ICECORE_BIT_4;
    at = push(aTHX_ w, ICECORE_REGEXP, flags, key, 2, 0);
    text = SvPV(pattern, len);
    push_string(aTHX_ w, SvUTF8(pattern) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, text, len);
    text = letters ? SvPV(letters, len) : (len = 0, "");
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    end_node(w, at, 2, wraps);
}

/* Whether an object stands for a regexp that was not compiled. */
bool
iw_is_regexp_record(pTHX_ SV *sv)
{
    SV *kind;
    if (SvTYPE(sv) != SVt_PVHV || SvSTASH(sv) != gv_stashpvs("Icecore::Record", 0))
        return FALSE;
    kind = field(aTHX_ (HV *)sv, "kind");
    return kind && strEQ(SvPV_nolen(kind), "regexp");
}

/* An object of a class that was not allowed, as it was read. Returns what is to
 * be put into it; NULL, if it is complete or has a frame. */
SV *
iw_put_record(pTHX_ walk *w, SV *rv, U16 *key, U32 *wraps, record_body *inside, bool remember)
{
    HV *record = (HV *)SvRV(rv);
    SV *class = field(aTHX_ record, "class"), *kind = field(aTHX_ record, "kind");
    SV **value = hv_fetchs(record, "value", 0);
    const char *name, *how;
    STRLEN len;
    U8 flags = inside->is_body ? 0 : REFERENCE, node = ICECORE_OBJECT, form = ICECORE_FORM_USUAL;
    U32 id;
    size_t i;

    inside->is_body = inside->hint = FALSE;
    if (w->set->croak_on_bless)
        iw_refuse_object(aTHX);
    if (!kind || !value || !(class || iw_is_regexp_record(aTHX_ (SV *)record)))
        croak("Icecore: a record without a class, a kind or a value");
    if (SvWEAKREF(rv))
        flags |= ICECORE_IS_WEAK;
    if (field(aTHX_ record, "overloaded"))
        flags |= ICECORE_IS_OVERLOAD;
    how = SvPV_nolen(kind);
    if (SvREFCNT((SV *)record) > 1 || remember || has_backrefs(aTHX_ (SV *)record)) {
        ice_slot *slot = ice_map_find(&w->ctx->seen, record);
        if (slot) {
            push_again(aTHX_ w, ICECORE_LINK, flags, *key, slot->value, *wraps);
            return NULL;
        }
        ice_map_add(&w->ctx->seen, record, (U32)w->t->node_count);
        inside->hint = w->sereal;
    }
    if (strEQ(how, "regexp")) {
        put_recorded_regexp(aTHX_ w, record, *value, flags, *key, *wraps);
        return NULL;
    }
    if (w->set->no_bless)
        return *value;
    name = SvPV(class, len);
    id = icecore_class(w->ctx->engine, SvUTF8(class) ? ICECORE_TEXT : ICECORE_BYTES, (const U8 *)name, len);
    if (!id)
        croak("Icecore: too many classes");
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

static const char *
class_name(pTHX_ SV *sv)
{
    return SvOBJECT(sv) ? HvNAME_get(SvSTASH(sv)) : "Icecore::Record";
}

/* A hook record: what the hook returned beside its string, and then links. */
void
iw_walk_hook(pTHX_ walk *w)
{
    ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    AV *list = (AV *)frame->sv;
    SV *sv = frame->other;
    SSize_t i;

    while (frame->at <= AvFILLp(list)) {
        SV *rv = AvARRAY(list)[frame->at];
        if (!SvROK(rv))
            croak("Item #%d returned by STORABLE_freeze for %s is not a reference", (int)frame->at, class_name(aTHX_ sv));
        frame->at++;
        if (ice_map_find(&w->ctx->seen, SvRV(rv)))
            continue;
        frame->count++;
        iw_put(aTHX_ w, rv, 0, FALSE, TRUE);
        return;
    }
    for (i = 1; i <= AvFILLp(list); i++) {
        SV *referent = SvRV(AvARRAY(list)[i]);
        ice_slot *slot = ice_map_find(&w->ctx->seen, referent);
        frame->count++;
        if (!slot)
            croak("Could not serialize item #%d from hook in %s", (int)i, class_name(aTHX_ sv));
        if (!is_scalar(referent))
            push(aTHX_ w, ICECORE_LINK, REFERENCE, 0, 0, slot->value);
        else if (slot->object != ICECORE_NONE)
            push(aTHX_ w, ICECORE_LINK, REFERENCE, 0, 0, slot->object);
        else {
            push(aTHX_ w, ICECORE_REF, REFERENCE, 0, 1, 0);
            push(aTHX_ w, ICECORE_ALIAS, 0, 0, 0, slot->value);
            end_wraps(w, 1);
        }
        if (!is_scalar(referent) || slot->object != ICECORE_NONE)
            w->t->nodes[is_scalar(referent) ? slot->object : slot->value].flags |= ICECORE_IS_TARGET;
        else
            w->t->nodes[slot->value].flags |= ICECORE_IS_TARGET;
    }
    frame->count++;
    {
        const U32 node = frame->node, wraps = frame->wraps, count = (U32)frame->count;
        const svtype type = SvTYPE(sv);
        MAGIC *tie = tie_of(aTHX_ sv);
        if (!tie && is_scalar(sv) && SvMAGICAL(sv))
            tie = mg_find(sv, PERL_MAGIC_tiedscalar);
        w->ctx->depth--;
        if (tie) {
            U8 form = type == SVt_PVHV ? ICECORE_FORM_TIED_HASH
                      : type == SVt_PVAV ? ICECORE_FORM_TIED_ARRAY
                                         : ICECORE_FORM_TIED_SCALAR;
            iw_push_frame(aTHX_ w, RECORD_END, node, wraps, NULL)->count = count;
            iw_push_tied(aTHX_ w, form, tie->mg_obj, 0, 0, 0);
            return;
        }
        if (type == SVt_PVHV || type == SVt_PVAV) {
            U32 at = push(aTHX_ w, type == SVt_PVHV ? ICECORE_MAP : ICECORE_ARRAY, 0, 0, 0, 0);
            end_node(w, at, 0, 0);
        } else
            push(aTHX_ w, ICECORE_NULL, 0, 0, 0, 0);
        end_node(w, node, count, wraps);
    }
}
