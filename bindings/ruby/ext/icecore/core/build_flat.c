/* Builds containers of leaves without a frame. Their values are in a local array until the container is
 * created. The array is on the C stack, so the collector finds them there. */
#include "core/build.h"

/* Number of values in the local array. A longer array is built in batches of this size. Other
 * containers with more entries are not built here. */
#define MAX_LOCAL_VALUES 64

/* Builds a leaf or an empty container: both are a single node. No other value occurs here, because
 * ice_build_flat checked that the container has no more nodes than items. */
static VALUE
build_item(ice_builder *b, uint32_t index)
{
    const icecore_node *node = &b->ctx->view.nodes[index];
    VALUE value;
    if (ICE_LIKELY(ice_is_leaf(node)))
        return ice_build_leaf(b, index);
    value = node->kind == ICECORE_ARRAY ? rb_ary_new() : rb_hash_new();
    if (node->flags & ICECORE_FLAG_IDENTITY)
        ice_call_original(ICE_HASH_MAKE_IDENTITY, value, 0, NULL);
    if (node->flags & ICECORE_FLAG_TARGET)
        ice_set_link_target(b, index, value);
    return value;
}

/* Builds an array of `count` items from node `index` on. */
static VALUE
build_flat_array(ice_builder *b, uint32_t index, uint32_t count)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    VALUE batch[MAX_LOCAL_VALUES], array;
    uint32_t i;
    if (count <= MAX_LOCAL_VALUES) {
        for (i = 0; i < count; i++)
            batch[i] = build_item(b, index + i);
        return rb_ary_new_from_values(count, batch);
    }
    array = rb_ary_new_capa(count);
    for (i = 0; i < count;) {
        uint32_t batch_count = 0;
        while (batch_count < MAX_LOCAL_VALUES && i < count) {
            const icecore_node *node = &nodes[index + i];
            batch[batch_count++] = node->kind == ICECORE_INT && !(node->flags & ICECORE_FLAG_TARGET)
                               ? LL2NUM((int64_t)node->payload)
                               : build_item(b, index + i);
            i++;
        }
        rb_ary_cat(array, batch, batch_count);
    }
    return array;
}

/* Builds a hash of `count` values from node `index` on; all keys have ids. */
static VALUE
build_flat_hash(ice_builder *b, uint32_t index, uint32_t count)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    VALUE pairs[2 * MAX_LOCAL_VALUES], hash;
    uint32_t i;
    for (i = 0; i < count; i++) {
        pairs[2 * i] = ice_key_value(b, nodes[index + i].key);
        pairs[2 * i + 1] = build_item(b, index + i);
    }
    hash = rb_hash_new();
    rb_hash_bulk_insert(2 * count, pairs, hash);
    return hash;
}

#if ICE_HAS_IVAR_LAYOUTS
/* Finds the indexes of an object's variables in the layout of its class, and stores them in
 * `last_indexes`. */
static bool
find_indexes(ice_builder *b, ice_class *class, uint32_t index, uint32_t count)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    const ice_ivar_layout *layout = class->layout;
    uint32_t i, j;
    if (!layout || !layout->is_known)
        return false;
    for (i = 0; i < count; i++) {
        VALUE symbol = ice_key_value(b, nodes[index + i].key);
        ID id;
        if (!SYMBOL_P(symbol))
            return false;
        id = rb_sym2id(symbol);
        for (j = 0; j < layout->count && layout->ivars[j].id != id; j++)
            ;
        if (j == layout->count)
            return false;
        class->last_keys[i] = nodes[index + i].key;
        class->last_indexes[i] = (uint8_t)layout->ivars[j].index;
    }
    return true;
}

/* Builds an object by writing its variables to their indexes. Returns 0 if the indexes are
 * not known. */
static VALUE
build_object_by_layout(ice_builder *b, ice_class *class, uint32_t index, uint32_t count)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    VALUE values[ICE_MAX_LAYOUT_IVARS], object, *ivars;
    uint32_t i;
    if (count > ICE_MAX_LAYOUT_IVARS)
        return 0;
    for (i = 0; i < count; i++)
        if (ICE_UNLIKELY(class->last_keys[i] != nodes[index + i].key)) {
            if (!find_indexes(b, class, index, count))
                return 0;
            break;
        }
    for (i = 0; i < count; i++)
        values[i] = build_item(b, index + i);
    object = class->allocate(class->klass);
    /* A new object may have too few indexes. Setting the last variable makes Ruby add them. This
     * allocates memory, so the collector may see the object before its other variables are set:
     * RB_OBJ_WRITE reports each of them. */
    if (ROBJECT_NUMIV(object) < class->layout->width) {
        rb_ivar_set(object, class->layout->ivars[class->layout->last_ivar].id, Qnil);
        if (ROBJECT_NUMIV(object) < class->layout->width)
            return 0;
        ivars = ROBJECT_IVPTR(object);
        /* The object may not have the last variable: then its index is made empty again. If the
         * object has it, the loop overwrites nil. */
        if (count < class->layout->count)
            ivars[class->layout->ivars[class->layout->last_ivar].index] = Qundef;
        for (i = 0; i < count; i++)
            RB_OBJ_WRITE(object, &ivars[class->last_indexes[i]], values[i]);
        return object;
    }
    /* No write barrier is needed: nothing was allocated since the object, so the collector has
     * not seen it yet. */
    ivars = ROBJECT_IVPTR(object);
    for (i = 0; i < count; i++)
        ivars[class->last_indexes[i]] = values[i];
    return object;
}
#endif

/* Builds an object of a class with `count` variables from node `index` on. */
static VALUE
build_flat_object(ice_builder *b, ice_class *class, uint32_t index, uint32_t count)
{
    VALUE pairs[2 * MAX_LOCAL_VALUES], object;
    uint32_t i;
#if ICE_HAS_IVAR_LAYOUTS
    if (ICE_LIKELY(class->layout && class->layout->is_known)) {
        object = build_object_by_layout(b, class, index, count);
        if (ICE_LIKELY(object))
            return object;
    }
#endif
    object = class->allocate(class->klass);
    for (i = 0; i < count; i++) {
        pairs[2 * i] = ice_key_value(b, b->ctx->view.nodes[index + i].key);
        pairs[2 * i + 1] = build_item(b, index + i);
    }
    ice_set_members(b, class, object, pairs, count);
    return object;
}

/* Returns the class if its objects can be built here, otherwise NULL. It must be allowed in
 * this call. */
static inline ice_class *
find_flat_class(ice_builder *b, uint32_t id)
{
    ice_class *class = &b->ctx->classes[id];
    if (ICE_UNLIKELY(id >= b->ctx->class_capacity || !class->klass || class->kind != ICE_CLASS_OBJECT ||
                     class->verdict != ICECORE_ALLOWED || class->is_builtin))
        return NULL;
    if (ICE_LIKELY(class->looked_up_call == b->ctx->call))
        return class;
    /* The class was looked up in an earlier call. If its path still leads to it, a new lookup
     * would have the same result, and would not load code. */
    if (b->settings->rules.rename || !ice_constants_lead_to(class->klass, class->constants))
        return NULL;
    class->looked_up_call = b->ctx->call;
    return class;
}

bool
ice_build_flat(ice_builder *b, uint32_t index, VALUE *value)
{
    const icecore_node *node = &b->ctx->view.nodes[index];
    const uint32_t end = (uint32_t)node->payload;
    if (node->flags & (ICECORE_FLAG_TARGET | ICECORE_FLAG_IDENTITY | ICECORE_FLAG_DEFAULT))
        return false;
    switch (node->kind) {
    /* `aux` is the number of children. If there are as many nodes, no child has children. */
    case ICECORE_ARRAY:
        if (end - index - 1 != node->aux)
            return false;
        *value = build_flat_array(b, index + 1, node->aux);
        return true;
    case ICECORE_MAP:
        if (end - index - 1 != node->aux || node->aux > MAX_LOCAL_VALUES)
            return false;
        *value = build_flat_hash(b, index + 1, node->aux);
        return true;
    case ICECORE_OBJECT: {
        const icecore_node *body = node + 1;
        ice_class *class;
        if (ICE_FORM_OF(node) != ICECORE_FORM_USUAL || body->kind != ICECORE_MAP || end - index - 2 != body->aux ||
            body->aux > MAX_LOCAL_VALUES)
            return false;
        class = find_flat_class(b, ICE_CLASS_OF(node));
        if (!class)
            return false;
        *value = build_flat_object(b, class, index + 2, body->aux);
        return true;
    }
    default:
        return false;
    }
}
