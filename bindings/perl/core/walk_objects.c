/* Writes less common values to the tape: objects with a STORABLE_freeze hook, tied
 * variables, v-strings, regexps. */
#include "core/leaf.h"

/* Returns the path of the current value, for example `$.staff[3]`, as a mortal SV. At most
 * wrappers were pushed for the value; `wraps` is their number. */
static SV *
path_here(pTHX_ iw_walk *w, U16 key, U32 wraps)
{
    SV *path = sv_2mortal(newSVpvs("$"));
    U32 i;
    for (i = 0; i < w->ctx->depth; i++) {
        const ice_walk_frame *frame = &w->ctx->frames[i].walk;
        const ice_walk_frame *inner = i + 1 < w->ctx->depth ? &w->ctx->frames[i + 1].walk : NULL;
        U32 first = inner ? inner->node - inner->wraps : (U32)w->t->node_count - wraps;
        U16 id = first < w->t->node_count ? w->t->nodes[first].key : key;
        if (frame->kind == IW_ARRAY)
            sv_catpvf(path, "[%" IVdf "]", (IV)frame->at - 1);
        else if (id == ICECORE_KEY_NODE && first > 0 && w->t->nodes[first - 1].key == ICECORE_IS_KEY) {
            const icecore_node *node = &w->t->nodes[first - 1];
            if (node->aux != ICECORE_LONG)
                sv_catpvf(path, ".%" SVf, SVfARG(sv_2mortal(newSVpvn_utf8(
                    (char *)w->t->arena + (node->payload & ICECORE_OFFSET), node->aux, node->kind == ICECORE_TEXT))));
        } else if (id && ice_keys_get(&w->ctx->keys, id))
            sv_catpvf(path, ".%" SVf, SVfARG((SV *)ice_keys_get(&w->ctx->keys, id)));
    }
    return path;
}

void
iw_refuse(pTHX_ iw_walk *w, SV *sv, U16 key, U32 wraps)
{
    croak("Icecore: %s can't be encoded, at %" SVf, sv_reftype(sv, FALSE), SVfARG(path_here(aTHX_ w, key, wraps)));
}

/* Writes the modifiers of a regexp to `to`, for example `ix`; returns their number. */
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
iw_put_regexp(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, U32 wraps)
{
    REGEXP *re = SvTYPE(sv) == SVt_REGEXP ? (REGEXP *)sv : SvRX(sv);
    char letters[64];
    STRLEN count = regexp_flags(aTHX_ re, letters);
    U32 at = push(aTHX_ w, ICECORE_REGEXP, flags, key, 2, 0);
    push_string(aTHX_ w, RX_UTF8(re) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, RX_PRECOMP(re), RX_PRELEN(re));
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, letters, count);
    end_node(w, at, 2, wraps);
}

void
iw_put_hook(pTHX_ iw_walk *w, SV *sv, AV *list, U32 class_id, U8 flags, U16 key, U32 wraps)
{
    U32 at = push(aTHX_ w, ICECORE_OPAQUE, flags, key, 0, ICE_CLASS(class_id) | ICE_FORM(ICECORE_FORM_HOOK));
    ice_walk_frame *frame;
    STRLEN len;
    const char *text = SvPV(AvARRAY(list)[0], len);
    push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    frame = iw_push_frame(aTHX_ w, IW_HOOK, at, wraps, (SV *)list);
    frame->pinned = TRUE; /* the list is kept alive already */
    frame->at = 1;
    frame->count = 1;
    frame->other = sv;
}

void
iw_refuse_object(pTHX)
{
    croak("Attempted to serialize blessed reference. Serializing objects using Sereal::Encoder was explicitly disabled "
          "using the 'croak_on_bless' option.");
}

/* Pushes the node of a tied variable, and a frame for its contents: `object`, the object of
 * the tie. */
ice_walk_frame *
iw_push_tied(pTHX_ iw_walk *w, U8 form, SV *object, U8 flags, U16 key, U32 wraps)
{
    U32 at = push(aTHX_ w, ICECORE_TIED, flags, key, 1, ICE_FORM(form));
    if (!object)
        ice_keep(aTHX_ w->ctx, object = newSV(0));
    return iw_push_frame(aTHX_ w, IW_TIED, at, wraps, object);
}

/* Writes one of perl's immortal values: PL_sv_undef, PL_sv_yes, PL_sv_no. Always returns
 * true; the parameters are those of iw_rules. */
bool
iw_put_immortal(pTHX_ iw_walk *w, SV *sv, U16 key, bool item)
{
    PERL_UNUSED_VAR(item);
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        push(aTHX_ w, ICECORE_BOOL, ICECORE_FLAG_OWN, key, 0, sv == &PL_sv_yes);
    else
        push(aTHX_ w, ICECORE_NULL, ICECORE_FLAG_OWN, key, 0, 0);
    return TRUE;
}

/* Writes a scalar with magic that the formats have a form for: an element of a tied
 * container, a tied scalar, a v-string. Returns false if it has none, and writes nothing. */
bool
iw_put_magical(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, U32 wraps)
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
    if (SvTAINTED(sv))
        TAINT; /* the result is tainted too */
    return FALSE;
}

/* ---- hooks ------------------------------------------------------------ */

static const char *
class_name(pTHX_ SV *sv)
{
    return SvOBJECT(sv) ? HvNAME_get(SvSTASH(sv)) : "Icecore::Record";
}

/* Ends the node of an object with a hook: pushes a link for each reference that the hook
 * returned, and then the body of the object, which is empty unless the object is tied. */
static void
end_hook(pTHX_ iw_walk *w)
{
    ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    AV *list = (AV *)frame->sv;
    SV *sv = frame->other;
    SSize_t i;

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
            w->t->nodes[is_scalar(referent) ? slot->object : slot->value].flags |= ICECORE_FLAG_TARGET;
        else
            w->t->nodes[slot->value].flags |= ICECORE_FLAG_TARGET;
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
            iw_push_frame(aTHX_ w, IW_RECORD_END, node, wraps, NULL)->count = count;
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

/* Returns the next reference, among those that the hook returned, whose referent is not
 * on the tape yet. If there is none, ends the node of the object and returns NULL. */
SV *
iw_hook_item(pTHX_ iw_walk *w)
{
    ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    AV *list = (AV *)frame->sv;
    while (frame->at <= AvFILLp(list)) {
        SV *rv = AvARRAY(list)[frame->at];
        if (!SvROK(rv))
            croak("Item #%d returned by STORABLE_freeze for %s is not a reference", (int)frame->at,
                  class_name(aTHX_ frame->other));
        frame->at++;
        if (ice_map_find(&w->ctx->seen, SvRV(rv)))
            continue;
        frame->count++;
        return rv;
    }
    end_hook(aTHX_ w);
    return NULL;
}
