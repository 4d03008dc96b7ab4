/* Types that the program requires for values: numbers for scalars, arrays and hashes of types, and objects
 * of Cpanel::JSON::XS's classes for types of all items, of all values, and of alternatives.
 *
 * The types of open containers are in a list with the same indices as the walk's frames. */
#include "core/leaf.h"
#include "json/cpanel.h"
#include "json/walk.h"

/* Kinds of ij_container_type. */
enum {
    NO_TYPES,
    SAME_TYPE, /* all values have the type `spec` */
    LISTED,    /* `spec` is a reference to an array of types */
    KEYED      /* `spec` is a reference to a hash of types */
};

/* Indices of the alternatives in an object of the class AnyOf. */
enum { ANY_SCALAR, ANY_ARRAY, ANY_HASH };

#define CLASS_PREFIX "Cpanel::JSON::XS::Type::"

static SV *
reference_text(pTHX_ SV *referent)
{
    return sv_2mortal(newRV_inc(referent));
}

static void
croak_bad_type(pTHX_ SV *type, SV *value) __attribute__noreturn__;

static void
croak_bad_type(pTHX_ SV *type, SV *value)
{
    croak("encountered type (%s, 0x%x) was specified for '%s'", SvPV_nolen(type), (unsigned)SvFLAGS(type),
          SvPV_nolen(value));
}

/* Returns true if a type is an object of this class. */
static bool
is_object_of(pTHX_ SV *type, const char *class_name)
{
    HV *stash = SvROK(type) && SvOBJECT(SvRV(type)) ? SvSTASH(SvRV(type)) : NULL;
    const char *name = stash ? HvNAME_get(stash) : NULL;
    return name && strEQ(name, class_name);
}

/* Returns true if a type is an object that contains alternatives. */
static bool
is_alternatives(pTHX_ SV *type)
{
    return SvROK(type) && SvTYPE(SvRV(type)) == SVt_PVAV && is_object_of(aTHX_ type, CLASS_PREFIX "AnyOf");
}

/* Returns one of the alternatives of a type. */
static SV *
alternative(pTHX_ SV *type, SSize_t index, SV *value)
{
    SV **found = av_fetch((AV *)SvRV(type), index, FALSE);
    if (!found)
        croak("incorrectly constructed anyof type (%s, 0x%x) was specified for '%s'", SvPV_nolen(type),
              (unsigned)SvFLAGS(type), SvPV_nolen(value));
    SvGETMAGIC(*found);
    return *found;
}

static ij_container_type *
container_type(pTHX_ iw_walker *w)
{
    ij_types *types = w->settings->types;
    const U32 index = w->ctx->depth - 1;
    if (index >= types->capacity) {
        const U32 capacity = index < 16 ? 32 : index * 2;
        SvGROW(types->buffer, capacity * sizeof(ij_container_type));
        types->containers = (ij_container_type *)SvPVX(types->buffer);
        types->capacity = capacity;
    }
    return &types->containers[index];
}

void
ij_clear_type(pTHX_ iw_walker *w)
{
    if (w->settings->types)
        container_type(aTHX_ w)->kind = NO_TYPES;
}

/* Returns the type of the key that was pushed last. */
static SV *
type_of_key(pTHX_ iw_walker *w, HV *types)
{
    const icecore_node *node = &w->tape->nodes[w->tape->node_count - 1];
    const char *text = (const char *)w->tape->arena + (node->payload & ICECORE_OFFSET);
    const I32 len = (I32)node->aux;
    SV **found = node->aux > I32_MAX ? NULL : hv_fetch(types, text, node->kind == ICECORE_TEXT ? -len : len, FALSE);
    if (!found)
        croak("no type was specified for hash key '%.*s'", (int)len, text);
    return *found;
}

SV *
ij_type_of_child(pTHX_ iw_walker *w, U16 key)
{
    const ij_container_type *types;
    if (!w->ctx->depth)
        return w->settings->types->root;
    types = container_type(aTHX_ w);
    switch (types->kind) {
    case SAME_TYPE:
        return types->spec;
    case LISTED: {
        /* The index is that of the next item already. */
        SV **found =
            av_fetch((AV *)SvRV(types->spec), w->ctx->frames[w->ctx->depth - 1].walk.index - 1, FALSE);
        return found ? *found : types->spec;
    }
    case KEYED:
        /* ij_open_typed makes a list of the entries, so each key is a node before its value. */
        return key == ICECORE_KEY_PRECEDES ? type_of_key(aTHX_ w, (HV *)SvRV(types->spec)) : NULL;
    default:
        return NULL;
    }
}

/* Finds the types of the values in a container. */
static void
resolve_type(pTHX_ SV *referent, SV *type, ij_container_type *result)
{
    const bool is_array = SvTYPE(referent) == SVt_PVAV;
    result->kind = NO_TYPES;
    if (!type || !SvOK(type))
        return;
    if (is_alternatives(aTHX_ type)) {
        type = alternative(aTHX_ type, is_array ? ANY_ARRAY : ANY_HASH, reference_text(aTHX_ referent));
        if (!SvOK(type))
            croak("no %s alternative in anyof was specified for '%s'", is_array ? "array" : "hash",
                  SvPV_nolen(reference_text(aTHX_ referent)));
    }
    if (!SvROK(type))
        croak_bad_type(aTHX_ type, reference_text(aTHX_ referent));
    result->spec = type;
    if (!SvOBJECT(SvRV(type)) && SvTYPE(SvRV(type)) == SvTYPE(referent)) {
        result->kind = is_array ? LISTED : KEYED;
        if (is_array && av_len((AV *)referent) != av_len((AV *)SvRV(type)))
            croak("array '%s' has different number of elements as in specified type '%s'",
                  SvPV_nolen(reference_text(aTHX_ referent)), SvPV_nolen(type));
    } else if (SvTYPE(SvRV(type)) < SVt_PVAV
               && is_object_of(aTHX_ type, is_array ? CLASS_PREFIX "ArrayOf" : CLASS_PREFIX "HashOf")) {
        result->kind = SAME_TYPE;
        result->spec = SvRV(type);
    } else
        croak_bad_type(aTHX_ type, reference_text(aTHX_ referent));
}

void
ij_open_typed(pTHX_ iw_walker *w, SV *referent, U16 key, SV *type)
{
    ij_container_type resolved;
    if (w->settings->types) {
        resolve_type(aTHX_ referent, type, &resolved);
        if (resolved.kind == SAME_TYPE)
            ice_keep_for_call(aTHX_ w->ctx, SvREFCNT_inc_simple_NN(resolved.spec));
        else if (resolved.kind != NO_TYPES)
            ice_keep_for_call(aTHX_ w->ctx, resolved.spec = newSVsv(resolved.spec));
    }
    if (SvTYPE(referent) == SVt_PVAV)
        iw_open_array(aTHX_ w, iw_push(aTHX_ w, ICECORE_ARRAY, 0, key, 0, 0), 0, (AV *)referent);
    else
        iw_open_hash(aTHX_ w, iw_push(aTHX_ w, ICECORE_MAP, 0, key, 0, 0), 0, (HV *)referent);
    if (w->settings->types) {
        *container_type(aTHX_ w) = resolved;
        /* Makes a list of the entries of a hash: ij_type_of_child needs their keys, and required types may call
         * perl code for any scalar. */
        iw_protect_frames(aTHX_ w);
    }
}

/* Puts a value as true or false. */
static void
put_as_bool(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    const U32 flags = w->settings->json->flags;
    int truth;
    if (!SvROK(sv)) {
        truth = SvOK(sv) && SvTRUE_nomg(sv);
        iw_push(aTHX_ w, ICECORE_BOOL, 0, key, 0, (U64)truth);
        return;
    }
    sv = SvRV(sv);
    if (SvOBJECT(sv)) {
        if (ij_is_cpanel_boolean(aTHX_ w->settings->json, SvSTASH(sv)))
            truth = SvIV(sv) != 0;
        else if (flags & (J_ALLOW_BLESSED | J_CONVERT_BLESSED))
            truth = SvTYPE(sv) < SVt_PVAV && SvTRUE_nomg(sv);
        else
            croak("encountered object '%s', but convert_blessed is not enabled",
                  SvPV_nolen(reference_text(aTHX_ sv)));
    } else if (SvTYPE(sv) < SVt_PVAV && SvTYPE(sv) != SVt_PVGV) {
        if ((truth = ij_boolean_of(aTHX_ sv)) < 0)
            croak("cannot encode reference to scalar '%s' unless the scalar is 0 or 1",
                  SvPV_nolen(reference_text(aTHX_ sv)));
    } else
        croak("encountered %s, but does not represent boolean", SvPV_nolen(reference_text(aTHX_ sv)));
    iw_push(aTHX_ w, ICECORE_BOOL, 0, key, 0, (U64)truth);
}

static void
put_as_string(pTHX_ iw_walker *w, SV *sv, U16 key)
{
    bool is_true;
    if (sv == &PL_sv_yes || sv == &PL_sv_no)
        is_true = sv == &PL_sv_yes;
    else if (SvROK(sv) && SvOBJECT(SvRV(sv)) && ij_is_cpanel_boolean(aTHX_ w->settings->json, SvSTASH(SvRV(sv))))
        is_true = SvIV(SvRV(sv)) != 0;
    else {
        ij_put_text(aTHX_ w, sv, key);
        return;
    }
    iw_push_string(aTHX_ w, ICECORE_BYTES, 0, key, is_true ? "true" : "false", is_true ? 4 : 5);
}

bool
ij_put_by_type(pTHX_ iw_walker *w, SV *sv, U16 key, SV *type)
{
    const U32 flags = w->settings->json->flags;
    const bool is_given = type && SvOK(type);
    IV number;
    if (!is_given && !(flags & J_TYPE_ALL_STRING))
        return FALSE;
    if (SvROK(sv) && SvOBJECT(SvRV(sv)) && !(flags & (J_ALLOW_TAGS | J_CONVERT_BLESSED | J_ALLOW_BLESSED))) {
        HV *stash = SvSTASH(SvRV(sv));
        if (!ij_is_cpanel_boolean(aTHX_ w->settings->json, stash) && stash != gv_stashpvs("Math::BigInt", 0)
            && stash != gv_stashpvs("Math::BigFloat", 0))
            croak("encountered object '%s', but neither allow_blessed, convert_blessed nor allow_tags settings are "
                  "enabled (or TO_JSON/FREEZE method missing)",
                  SvPV_nolen(sv));
    }
    if (is_given) {
        if (!SvIOKp(type)) {
            if (!is_alternatives(aTHX_ type))
                croak_bad_type(aTHX_ type, sv);
            type = alternative(aTHX_ type, ANY_SCALAR, sv);
            if (!SvIOKp(type))
                croak("no scalar alternative in anyof was specified for '%s'", SvPV_nolen(sv));
        }
        number = SvIVX(type);
    } else
        number = IJ_TYPE_STRING | IJ_TYPE_NULL;
    if (!number)
        return FALSE;
    if (number & IJ_TYPE_NULL && !SvOK(sv)) {
        iw_push(aTHX_ w, ICECORE_NULL, 0, key, 0, 0);
        return TRUE;
    }
    switch (number & ~(IV)IJ_TYPE_NULL) {
    case IJ_TYPE_BOOL:
        put_as_bool(aTHX_ w, sv, key);
        break;
    case IJ_TYPE_INT:
        ij_put_as_int(aTHX_ w, sv, key);
        break;
    case IJ_TYPE_FLOAT:
        ij_put_as_float(aTHX_ w, sv, key);
        break;
    case IJ_TYPE_STRING:
        put_as_string(aTHX_ w, sv, key);
        break;
    default:
        ij_put_unknown(aTHX_ w, sv, key);
    }
    return TRUE;
}
