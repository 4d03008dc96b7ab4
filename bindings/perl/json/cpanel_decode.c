/* What Cpanel::JSON::XS returns of a decoded text in addition to its values: their types, and all values of
 * repeated keys. */
#include "json/cpanel.h"

/* Returns true if the text of a node is a number that the reader left as text. A string has a quote before it in the
 * input, a number has none. */
static bool
is_number_text(const icecore_view *view, const icecore_node *node)
{
    const U64 offset = node->payload & ICECORE_OFFSET;
    return !(node->payload & ICECORE_IN_ARENA) && offset < view->input_len
        && (offset == 0 || !memCHRs("\"'", view->input[offset - 1]));
}

/* Returns the type of a leaf. */
static IV
type_of_leaf(const icecore_view *view, const icecore_node *node)
{
    STRLEN len;
    const char *text;
    switch (node->kind) {
    case ICECORE_NULL:
        return IJ_TYPE_NULL;
    case ICECORE_BOOL:
        return IJ_TYPE_BOOL;
    case ICECORE_INT:
    case ICECORE_UINT:
    case ICECORE_BIGINT:
        return IJ_TYPE_INT;
    case ICECORE_BYTES:
    case ICECORE_TEXT:
        if (!is_number_text(view, node))
            return IJ_TYPE_STRING;
        text = ice_bytes_of(view, node, &len);
        while (len && (isDIGIT_A(*text) || *text == '-')) {
            text++;
            len--;
        }
        return len ? IJ_TYPE_FLOAT : IJ_TYPE_INT;
    default:
        return IJ_TYPE_FLOAT;
    }
}

/* Returns the key of a value: a mortal, or a value that the context keeps. */
static SV *
key_of(pTHX_ ice_context *ctx, const icecore_view *view, const icecore_node *node, const icecore_node *key_node)
{
    STRLEN len;
    const char *text;
    if (node->key != ICECORE_KEY_PRECEDES)
        return ice_key_sv(aTHX_ ctx, view, node->key);
    text = ice_bytes_of(view, key_node, &len);
    return newSVpvn_flags(text, len, SVs_TEMP | (key_node->kind == ICECORE_TEXT ? SVf_UTF8 : 0));
}

typedef struct {
    U32 end; /* index of the node after the container */
    SV *types;
} open_types;

void
ij_set_decoded_type(pTHX_ ice_context *ctx, const icecore_view *view, SV *variable)
{
    SV *root = sv_newmortal(), *stack_memory = sv_2mortal(newSVpvs("")), *target;
    open_types *stack = NULL;
    U32 depth = 0, capacity = 0, i = view->root;
    const icecore_node *key_node = NULL;
    ice_update_keys(aTHX_ ctx, view->keys.generation);
    while (i < view->node_count) {
        const icecore_node *node = &view->nodes[i];
        if (node->key == ICECORE_IS_KEY) {
            key_node = node;
            i++;
            continue;
        }
        if (!depth)
            target = root;
        else if (SvTYPE(stack[depth - 1].types) == SVt_PVAV) {
            target = newSV(0);
            av_push((AV *)stack[depth - 1].types, target);
        } else
            target =
                HeVAL(hv_fetch_ent((HV *)stack[depth - 1].types, key_of(aTHX_ ctx, view, node, key_node), TRUE, 0));
        if (node->kind != ICECORE_ARRAY && node->kind != ICECORE_MAP) {
            if (node->kind < ICECORE_ARRAY)
                sv_setiv(target, type_of_leaf(view, node));
            i = ice_next(view, i); /* the contents of a tag have no types */
        } else {
            SV *types = node->kind == ICECORE_ARRAY ? (SV *)newAV() : (SV *)newHV();
            sv_setsv(target, sv_2mortal(newRV_noinc(types)));
            if (depth == capacity) {
                capacity = capacity ? capacity * 2 : 16;
                stack = (open_types *)SvGROW(stack_memory, capacity * sizeof(open_types));
            }
            stack[depth].end = (U32)node->payload;
            stack[depth++].types = types;
            i++;
        }
        while (depth && i >= stack[depth - 1].end)
            depth--;
        if (!depth)
            break;
    }
    sv_setsv_mg(variable, root);
}

void
ij_add_repeated(pTHX_ HV *arrays, SV **slot, SV *value)
{
    SV *first = *slot;
    AV *av = SvROK(first) ? (AV *)SvRV(first) : NULL;
    if (!av || !hv_exists(arrays, (const char *)&av, sizeof av)) {
        av = newAV();
        av_push(av, first);
        *slot = newRV_noinc((SV *)av);
        /* The array is kept alive, so no other array gets its address. */
        (void)hv_store(arrays, (const char *)&av, sizeof av, newRV_inc((SV *)av), 0);
    }
    av_push(av, value);
}
