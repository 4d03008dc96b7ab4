/* Containers of leaves, built at once: their values are on the machine's stack until
 * they are complete. */
#include "core/build.h"

/* Number of values that are built before they are added. */
#define RUN 64

/* Builds a leaf, or an empty container, which is a single node as well. */
static VALUE
item(ice_builder *b, uint32_t at)
{
    const icecore_node *node = &b->ctx->view.nodes[at];
    VALUE value;
    if (ICE_LIKELY(ice_is_leaf(node)))
        return ice_any_leaf(b, at);
    value = node->kind == ICECORE_ARRAY ? rb_ary_new() : rb_hash_new();
    if (node->flags & ICECORE_FLAG_IDENTITY)
        ice_call_original(ICE_HASH_MAKE_IDENTITY, value, 0, NULL);
    if (node->flags & ICECORE_FLAG_TARGET)
        ice_remember(b, at, value);
    return value;
}

static VALUE
flat_array(ice_builder *b, uint32_t at, uint32_t count)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    VALUE run[RUN], array;
    uint32_t i;
    if (count <= RUN) {
        for (i = 0; i < count; i++)
            run[i] = item(b, at + i);
        return rb_ary_new_from_values(count, run);
    }
    array = rb_ary_new_capa(count);
    for (i = 0; i < count;) {
        uint32_t taken = 0;
        while (taken < RUN && i < count) {
            const icecore_node *node = &nodes[at + i];
            run[taken++] = node->kind == ICECORE_INT && !(node->flags & ICECORE_FLAG_TARGET)
                               ? LL2NUM((int64_t)node->payload)
                               : item(b, at + i);
            i++;
        }
        rb_ary_cat(array, run, taken);
    }
    return array;
}

static VALUE
flat_hash(ice_builder *b, uint32_t at, uint32_t count)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    VALUE pairs[2 * RUN], hash;
    uint32_t i;
    for (i = 0; i < count; i++) {
        pairs[2 * i] = ice_key_value(b, nodes[at + i].key);
        pairs[2 * i + 1] = item(b, at + i);
    }
    hash = rb_hash_new();
    rb_hash_bulk_insert(2 * count, pairs, hash);
    return hash;
}

#if ICE_HAS_ROWS
/* Finds the places of an object's variables. */
static bool
find_places(ice_builder *b, ice_class *class, uint32_t at, uint32_t count)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    const ice_row *row = class->row;
    uint32_t i, j;
    if (!row || !row->is_known)
        return false;
    for (i = 0; i < count; i++) {
        VALUE symbol = ice_key_value(b, nodes[at + i].key);
        ID id;
        if (!SYMBOL_P(symbol))
            return false;
        id = rb_sym2id(symbol);
        for (j = 0; j < row->count && row->slots[j].id != id; j++)
            ;
        if (j == row->count)
            return false;
        class->keys[i] = nodes[at + i].key;
        class->places[i] = (uint8_t)row->slots[j].place;
    }
    return true;
}

/* Builds an object by writing its variables to their places; 0: the places are not
 * known. */
static VALUE
object_by_places(ice_builder *b, ice_class *class, uint32_t at, uint32_t count)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    VALUE values[ICE_ROW], object, *places;
    uint32_t i;
    if (count > ICE_ROW)
        return 0;
    for (i = 0; i < count; i++)
        if (ICE_UNLIKELY(class->keys[i] != nodes[at + i].key)) {
            if (!find_places(b, class, at, count))
                return 0;
            break;
        }
    for (i = 0; i < count; i++)
        values[i] = item(b, at + i);
    object = class->allocate(class->klass);
    if (ROBJECT_NUMIV(object) < class->row->width) {
        rb_ivar_set(object, class->row->slots[class->row->widest].id, Qnil);
        if (ROBJECT_NUMIV(object) < class->row->width)
            return 0;
        places = ROBJECT_IVPTR(object);
        if (count < class->row->count)
            places[class->row->slots[class->row->widest].place] = Qundef;
        for (i = 0; i < count; i++)
            RB_OBJ_WRITE(object, &places[class->places[i]], values[i]);
        return object;
    }
    /* Nothing was allocated since, so the collector has not seen the object yet. */
    places = ROBJECT_IVPTR(object);
    for (i = 0; i < count; i++)
        places[class->places[i]] = values[i];
    return object;
}
#endif

static VALUE
flat_object(ice_builder *b, ice_class *class, uint32_t at, uint32_t count)
{
    VALUE pairs[2 * RUN], object;
    uint32_t i;
#if ICE_HAS_ROWS
    if (ICE_LIKELY(class->row && class->row->is_known)) {
        object = object_by_places(b, class, at, count);
        if (ICE_LIKELY(object))
            return object;
    }
#endif
    object = class->allocate(class->klass);
    for (i = 0; i < count; i++) {
        pairs[2 * i] = ice_key_value(b, b->ctx->view.nodes[at + i].key);
        pairs[2 * i + 1] = item(b, at + i);
    }
    ice_set_members(b, class, object, pairs, count);
    return object;
}

/* Returns the class if it may be built flat: it was checked in this call. */
static inline ice_class *
flat_class(ice_builder *b, uint32_t id)
{
    ice_class *class = &b->ctx->classes[id];
    if (ICE_UNLIKELY(id >= b->ctx->class_room || !class->klass || class->how != ICE_OBJECT_OF ||
                     class->verdict != ICECORE_ALLOWED || class->is_own))
        return NULL;
    if (ICE_LIKELY(class->found == b->ctx->call))
        return class;
    /* Known from an earlier call: nothing is loaded if its constants still lead to it. */
    if (b->settings->classes.rename || !ice_class_is_at(class->klass, class->steps))
        return NULL;
    class->found = b->ctx->call;
    return class;
}

bool
ice_flat(ice_builder *b, uint32_t at, VALUE *value)
{
    const icecore_node *node = &b->ctx->view.nodes[at];
    const uint32_t end = (uint32_t)node->payload;
    if (node->flags & (ICECORE_FLAG_TARGET | ICECORE_FLAG_IDENTITY | ICECORE_FLAG_DEFAULT))
        return false;
    switch (node->kind) {
    case ICECORE_ARRAY:
        if (end - at - 1 != node->aux)
            return false;
        *value = flat_array(b, at + 1, node->aux);
        return true;
    case ICECORE_MAP:
        if (end - at - 1 != node->aux || node->aux > RUN)
            return false;
        *value = flat_hash(b, at + 1, node->aux);
        return true;
    case ICECORE_OBJECT: {
        const icecore_node *body = node + 1;
        ice_class *class;
        if (ICE_FORM_OF(node) != ICECORE_FORM_USUAL || body->kind != ICECORE_MAP || end - at - 2 != body->aux ||
            body->aux > RUN)
            return false;
        class = flat_class(b, ICE_CLASS_OF(node));
        if (!class)
            return false;
        *value = flat_object(b, class, at + 2, body->aux);
        return true;
    }
    default:
        return false;
    }
}
