/* Puts less common values: objects with a STORABLE_freeze hook, tied variables, v-strings, regexps. */
#include "core/leaf.h"

/* Returns the path of the current value, for example `$.staff[3]`, as a mortal SV. Only wrappers
 * of the value were pushed so far. The outermost wrapper has the key of the value. If there are
 * no wrappers, `key` is the key. */
static SV *
current_path(pTHX_ iw_walker *w, U16 key, U32 wrapper_count)
{
    SV *path = sv_2mortal(newSVpvs("$"));
    U32 i;
    for (i = 0; i < w->ctx->depth; i++) {
        const ice_walk_frame *frame = &w->ctx->frames[i].walk;
        const ice_walk_frame *inner = i + 1 < w->ctx->depth ? &w->ctx->frames[i + 1].walk : NULL;
        U32 outermost = inner ? inner->node - inner->wrapper_count : (U32)w->tape->node_count - wrapper_count;
        U16 id = outermost < w->tape->node_count ? w->tape->nodes[outermost].key : key;
        if (frame->kind == IW_ARRAY)
            sv_catpvf(path, "[%" IVdf "]", (IV)frame->index - 1);
        else if (id == ICECORE_KEY_PRECEDES && outermost > 0 && w->tape->nodes[outermost - 1].key == ICECORE_IS_KEY) {
            const icecore_node *node = &w->tape->nodes[outermost - 1];
            if (node->aux != ICECORE_LONG)
                sv_catpvf(path, ".%" SVf,
                          SVfARG(sv_2mortal(newSVpvn_utf8((char *)w->tape->arena + (node->payload & ICECORE_OFFSET),
                                                          node->aux, node->kind == ICECORE_TEXT))));
        } else if (id && ice_keys_get(&w->ctx->keys, id))
            sv_catpvf(path, ".%" SVf, SVfARG((SV *)ice_keys_get(&w->ctx->keys, id)));
    }
    return path;
}

void
iw_croak_unsupported(pTHX_ iw_walker *w, SV *sv, U16 key, U32 wrapper_count)
{
    croak("Icecore: %s can't be encoded, at %" SVf, sv_reftype(sv, FALSE),
          SVfARG(current_path(aTHX_ w, key, wrapper_count)));
}

/* Writes the modifiers of a regexp to `letters`, for example `ix`. Returns their number. */
static STRLEN
regexp_flags(pTHX_ REGEXP *re, char *letters)
{
    STRLEN count = 0;
    const char *modifiers = INT_PAT_MODS;
    U32 bits = (RX_EXTFLAGS(re) & RXf_PMf_COMPILETIME) >> RXf_PMf_STD_PMMOD_SHIFT;
    switch (get_regex_charset(RX_EXTFLAGS(re))) {
    case REGEX_LOCALE_CHARSET:
        letters[count++] = 'l';
        break;
    case REGEX_UNICODE_CHARSET:
        letters[count++] = 'u';
        break;
    case REGEX_ASCII_MORE_RESTRICTED_CHARSET:
        letters[count++] = 'a';
        /* FALLTHROUGH */
    case REGEX_ASCII_RESTRICTED_CHARSET:
        letters[count++] = 'a';
        break;
    default:
        break;
    }
    for (; *modifiers; modifiers++, bits >>= 1)
        if (bits & 1)
            letters[count++] = *modifiers;
    return count;
}

void
iw_put_regexp(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    REGEXP *re = SvTYPE(sv) == SVt_REGEXP ? (REGEXP *)sv : SvRX(sv);
    char modifiers[64];
    STRLEN count = regexp_flags(aTHX_ re, modifiers);
    const U8 mark = iw_format_has(w, IW_MARKS_REGEXPS) ? ICECORE_FLAG_PERL : 0;
    U32 node = iw_push(aTHX_ w, ICECORE_REGEXP, flags | mark, key, 2, 0);
    iw_push_string(aTHX_ w, RX_UTF8(re) ? ICECORE_TEXT : ICECORE_BYTES, 0, 0, RX_PRECOMP(re), RX_PRELEN(re));
    iw_push_string(aTHX_ w, ICECORE_BYTES, 0, 0, modifiers, count);
    iw_end_node(w, node, 2, wrapper_count);
}

void
iw_put_hook_result(pTHX_ iw_walker *w, SV *sv, AV *list, U32 class_id, U8 flags, U16 key, U32 wrapper_count)
{
    U32 node = iw_push(aTHX_ w, ICECORE_OPAQUE, flags, key, 0, ICE_CLASS(class_id) | ICE_FORM(ICECORE_FORM_HOOK));
    ice_walk_frame *frame;
    STRLEN len;
    const char *text = SvPV(AvARRAY(list)[0], len);
    iw_push_string(aTHX_ w, ICECORE_BYTES, 0, 0, text, len);
    frame = iw_push_frame(aTHX_ w, IW_HOOK, node, wrapper_count, (SV *)list);
    frame->is_protected = TRUE; /* the list is kept alive already */
    frame->index = 1;
    frame->count = 1;
    frame->owner.object = sv;
}

void
iw_croak_on_bless(pTHX)
{
    croak(
        "Attempted to serialize blessed reference. Serializing objects using Sereal::Encoder was explicitly disabled "
        "using the 'croak_on_bless' option.");
}

/* Pushes the node of a tied variable, and a frame for its contents. `object` is the object of
 * the tie. */
ice_walk_frame *
iw_push_tied(pTHX_ iw_walker *w, U8 form, SV *object, U8 flags, U16 key, U32 wrapper_count)
{
    U32 node = iw_push(aTHX_ w, ICECORE_TIED, flags, key, 1, ICE_FORM(form));
    if (!object)
        ice_keep_for_call(aTHX_ w->ctx, object = newSV(0));
    return iw_push_frame(aTHX_ w, IW_TIED, node, wrapper_count, object);
}

/* Puts one of perl's immortal values: PL_sv_undef, PL_sv_yes, PL_sv_no. Always returns
 * true; the parameters are those of iw_rules. */
bool
iw_put_immortal(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item)
{
    PERL_UNUSED_VAR(is_item);
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        iw_push(aTHX_ w, ICECORE_BOOL, ICECORE_FLAG_OWN, key, 0, sv == &PL_sv_yes);
    else
        iw_push(aTHX_ w, ICECORE_NULL, ICECORE_FLAG_OWN, key, 0, 0);
    return TRUE;
}

bool
iw_put_vstring(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    const MAGIC *mg = SvPOK(sv) && SvMAGICAL(sv) ? mg_find(sv, PERL_MAGIC_vstring) : NULL;
    U32 node;
    if (!mg)
        return FALSE;
    node = iw_push(aTHX_ w, ICECORE_VSTRING, flags, key, 2, 0);
    iw_push_string(aTHX_ w, ICECORE_BYTES, 0, 0, mg->mg_ptr, mg->mg_len);
    iw_push_pv(aTHX_ w, sv, 0, 0);
    iw_end_node(w, node, 2, wrapper_count);
    return TRUE;
}

/* Puts a scalar with magic that the formats have a form for: an element of a tied container,
 * a tied scalar, a v-string. For all other scalars it puts nothing and returns false. */
bool
iw_put_magical(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    MAGIC *mg;
    const U32 container_magic = SVs_GMG | SVs_SMG | SVs_RMG;
    if ((SvFLAGS(sv) & container_magic) == container_magic && (mg = mg_find(sv, PERL_MAGIC_tiedelem))) {
        ice_walk_frame *frame =
            iw_push_tied(aTHX_ w, ICECORE_FORM_TIED_ELEMENT, mg->mg_obj, flags, key, wrapper_count);
        frame->owner.key = (SV *)mg->mg_ptr;
        frame->is_tied_element = !mg->mg_ptr;
        frame->index = mg->mg_len;
        return TRUE;
    }
    if ((SvFLAGS(sv) & container_magic) == container_magic && (mg = mg_find(sv, PERL_MAGIC_tiedscalar))) {
        iw_push_tied(aTHX_ w, ICECORE_FORM_TIED_SCALAR, mg->mg_obj, flags, key, wrapper_count);
        return TRUE;
    }
    if (iw_put_vstring(aTHX_ w, sv, flags, key, wrapper_count))
        return TRUE;
    if (SvTAINTED(sv))
        TAINT; /* the result is tainted too */
    return FALSE;
}

/* ---- hooks ------------------------------------------------------------ */

/* Returns the name of the class of an object, for error messages. If a record is put, `sv` is the
 * body that record_body in walk_records.c made, and has no class. */
static const char *
object_class_name(pTHX_ SV *sv)
{
    return SvOBJECT(sv) ? HvNAME_get(SvSTASH(sv)) : "Icecore::Record";
}

/* Ends the node of an object with a hook: pushes a link for each reference that the hook
 * returned, and then the body of the object, which is empty unless the object is tied. */
static void
end_hook(pTHX_ iw_walker *w)
{
    ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    AV *list = (AV *)frame->sv;
    SV *sv = frame->owner.object;
    SSize_t i;

    for (i = 1; i <= AvFILLp(list); i++) {
        /* iw_next_hook_item has returned each reference whose referent was not on the tape, so all
         * referents were put. A container has a node, and a blessed scalar an object node. A link
         * leads to this node. Any other scalar is a variable, and only an alias can lead to it. */
        SV *referent = SvRV(AvARRAY(list)[i]);
        ice_slot *slot = ice_map_find(&w->ctx->seen, referent);
        U32 target;
        frame->count++;
        if (!slot)
            croak("Could not serialize item #%d from hook in %s", (int)i, object_class_name(aTHX_ sv));
        target = iw_is_scalar(referent) && slot->object != ICECORE_NONE ? slot->object : slot->value;
        if (iw_is_scalar(referent) && slot->object == ICECORE_NONE) {
            iw_push(aTHX_ w, ICECORE_REF, IW_FLAG_REF, 0, 1, 0);
            iw_push(aTHX_ w, ICECORE_ALIAS, 0, 0, 0, target);
            iw_end_wrappers(w, 1);
        } else
            iw_push(aTHX_ w, ICECORE_LINK, IW_FLAG_REF, 0, 0, target);
        w->tape->nodes[target].flags |= ICECORE_FLAG_TARGET;
    }
    frame->count++;
    {
        const U32 node = frame->node, wrapper_count = frame->wrapper_count, count = (U32)frame->count;
        const svtype type = SvTYPE(sv);
        MAGIC *tie = iw_tie_of(aTHX_ sv);
        if (!tie && iw_is_scalar(sv) && SvMAGICAL(sv))
            tie = mg_find(sv, PERL_MAGIC_tiedscalar);
        w->ctx->depth--;
        if (tie) {
            U8 form = type == SVt_PVHV ? ICECORE_FORM_TIED_HASH
                    : type == SVt_PVAV ? ICECORE_FORM_TIED_ARRAY
                                       : ICECORE_FORM_TIED_SCALAR;
            iw_push_frame(aTHX_ w, IW_COMPLETE, node, wrapper_count, NULL)->count = count;
            iw_push_tied(aTHX_ w, form, tie->mg_obj, 0, 0, 0);
            return;
        }
        if (type == SVt_PVHV || type == SVt_PVAV) {
            U32 body = iw_push(aTHX_ w, type == SVt_PVHV ? ICECORE_MAP : ICECORE_ARRAY, 0, 0, 0, 0);
            iw_end_node(w, body, 0, 0);
        } else
            iw_push(aTHX_ w, ICECORE_NULL, 0, 0, 0, 0);
        iw_end_node(w, node, count, wrapper_count);
    }
}

/* Returns the next reference of the hook's result whose referent is not on the tape yet. If no
 * such reference is left, ends the node of the object and returns NULL. */
SV *
iw_next_hook_item(pTHX_ iw_walker *w)
{
    ice_walk_frame *frame = &w->ctx->frames[w->ctx->depth - 1].walk;
    AV *list = (AV *)frame->sv;
    while (frame->index <= AvFILLp(list)) {
        SV *rv = AvARRAY(list)[frame->index];
        if (!SvROK(rv))
            croak("Item #%d returned by STORABLE_freeze for %s is not a reference", (int)frame->index,
                  object_class_name(aTHX_ frame->owner.object));
        frame->index++;
        if (ice_map_find(&w->ctx->seen, SvRV(rv)))
            continue;
        frame->count++;
        return rv;
    }
    end_hook(aTHX_ w);
    return NULL;
}
