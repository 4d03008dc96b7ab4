/* Builds values that resemble earlier ones: objects whose properties are in the order of the last
 * object of their class, and small arrays with the keys of an earlier array. They need no frame if
 * they have only leaves. The loop in build.c builds everything else. */
#include "core/build_leaf.h"

/* ---- objects ------------------------------------------------------------ */

/* Does what PHP's object_properties_init() does. The loop is inlined for classes of the program. */
static zend_always_inline void
init_slots(zend_object *object, zend_class_entry *ce)
{
    zval *from, *slot, *end;
    if (UNEXPECTED(ce->type != ZEND_USER_CLASS) || UNEXPECTED(!ce->default_properties_count)) {
        object_properties_init(object, ce);
        return;
    }
    from = CE_DEFAULT_PROPERTIES_TABLE(ce);
    slot = object->properties_table;
    end = slot + ce->default_properties_count;
    for (; slot < end; from++, slot++)
        ZVAL_COPY_PROP(slot, from);
}

zend_object *
ice_build_slots(ice_builder *b, ice_class *class, uint32_t *node_index, uint32_t end,
                uint32_t *built_count)
{
    const icecore_node *node = &b->nodes[*node_index], *end_node = &b->nodes[end];
    const ice_property *property = class->properties, *last = property + class->property_count;
    zend_object *object = zend_objects_new(class->ce);
    init_slots(object, class->ce);
    /* A slot with a default value that counts references ends the loop, because
     * ice_build_clear_slot must release this value. So does a node that a link may name. */
    for (; node < end_node && property < last; node++, property++) {
        zval *dest = (zval *)((char *)object + property->offset);
        const zend_property_info *type = property->type;
        if (UNEXPECTED(property->key_id != node->key) || UNEXPECTED(node->flags != 0) ||
            UNEXPECTED(Z_REFCOUNTED_P(dest)))
            break;
        switch (node->kind) {
        case ICECORE_INT:
            if (UNEXPECTED(type && !ZEND_TYPE_CONTAINS_CODE(type->type, IS_LONG)))
                goto stop;
            ZVAL_LONG(dest, (zend_long)node->payload);
            break;
        case ICECORE_BYTES:
            if (UNEXPECTED(type && !ZEND_TYPE_CONTAINS_CODE(type->type, IS_STRING)))
                goto stop;
            ice_build_string(b, node, dest);
            break;
        case ICECORE_NULL:
        case ICECORE_BOOL:
        case ICECORE_FLOAT: {
            zval value = { 0 };
            ice_build_leaf(b, node, &value);
            if (UNEXPECTED(type && !ZEND_TYPE_CONTAINS_CODE(type->type, Z_TYPE(value))))
                goto stop;
            ZVAL_COPY_VALUE(dest, &value);
            break;
        }
        default: goto stop;
        }
    }
stop:
    *built_count = (uint32_t)(property - class->properties);
    *node_index = (uint32_t)(node - b->nodes);
    return object;
}

/* ---- arrays ------------------------------------------------------------- */

/* Returns true if a leaf of this kind can always be built. Links and enum cases may fail. */
static zend_always_inline bool
is_plain_leaf(uint8_t kind)
{
    return kind <= ICECORE_INT || kind == ICECORE_BYTES || kind == ICECORE_FLOAT;
}

/* Number of bytes of the buckets of a hash table, with the hash part before them. */
#define BUCKETS_SIZE(size) (HT_SIZE_EX((size), HT_SIZE_TO_MASK(size)))

/* Returns the cache entry for arrays with this first key and this number of keys. */
static zend_always_inline ice_shape *
shape_entry(ice_context *ctx, uint16_t first_key_id, uint32_t count)
{
    return &ctx->shapes[(first_key_id ^ count << 2) % ICE_SHAPE_CACHE_SIZE];
}

void
ice_build_remember_shape(ice_builder *b, const ice_build_frame *frame)
{
    const HashTable *table = frame->table;
    const uint32_t count = b->nodes[frame->node].aux;
    uint32_t i, node_index = frame->node + 1;
    ice_shape *shape;
    /* The table must have one entry for each node, so no key may have come twice. Its size must be
     * one of the two sizes that ice_build_from_shape allocates. */
    if (count > ICE_SHAPE_MAX_KEYS || table->nNumUsed != count || table->nNumOfElements != count ||
        table->nTableMask != (count <= HT_MIN_SIZE ? HT_SIZE_TO_MASK(HT_MIN_SIZE) : HT_SIZE_TO_MASK(2 * HT_MIN_SIZE)))
        return;
    shape = shape_entry(b->ctx, b->nodes[node_index].key, count);
    shape->count = 0;
    for (i = 0; i < count; i++) {
        /* This key has no id. The entry stays empty. */
        if (b->nodes[node_index].key >= ICECORE_IS_KEY)
            return;
        shape->key_ids[i] = b->nodes[node_index].key;
        shape->next[i] = Z_NEXT(table->arData[i].val);
        node_index = ice_next(&b->ctx->view, node_index);
    }
    memcpy(shape->hash, HT_GET_DATA_ADDR(table), HT_HASH_SIZE(table->nTableMask));
    /* Each copy of the table begins with one reference, and without marks of the collector. */
    shape->table = *table;
    GC_SET_REFCOUNT(&shape->table, 1);
    GC_TYPE_INFO(&shape->table) = GC_ARRAY;
    shape->count = count;
}

/* When PHP's allocator returns a block, it reads the address of the next free block from it.
 * The block is rarely in the processor's cache. The buckets of consecutive arrays are mostly
 * at equal distances. So the third block from here is probably three distances away, and its
 * first three cache lines are prefetched. A wrong address does no harm. */
static zend_always_inline void
prefetch_next_data(ice_builder *b, const void *data)
{
#ifdef __GNUC__
    const uintptr_t next = (uintptr_t)data + 3 * ((uintptr_t)data - b->last_shape_data);
    b->last_shape_data = (uintptr_t)data;
    __builtin_prefetch((const void *)next, 1);
    __builtin_prefetch((const void *)(next + 64), 1);
    __builtin_prefetch((const void *)(next + 128), 1);
#endif
}

/* Returns true if the entries have the keys of the shape, and all values can be built as leaves. */
static zend_always_inline bool
has_shape_of_leaves(const ice_shape *shape, const icecore_node *nodes, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++)
        if (nodes[i].key != shape->key_ids[i] || !is_plain_leaf(nodes[i].kind) || nodes[i].flags)
            return false;
    return true;
}

/* Returns true if the entries have the keys of the shape. */
static bool
has_shape(ice_builder *b, const ice_shape *shape, uint32_t node_index, uint32_t end)
{
    uint32_t i;
    for (i = 0; i < shape->count; i++) {
        if (node_index >= end || b->nodes[node_index].key != shape->key_ids[i])
            return false;
        node_index = ice_next(&b->ctx->view, node_index);
    }
    return node_index == end;
}

/* Stores a key with its hash in a bucket. */
static zend_always_inline void
set_key(ice_builder *b, HashTable *table, Bucket *bucket, uint16_t id)
{
    zend_string *key = (zend_string *)ice_key_by_id(b->ctx, id);
    if (UNEXPECTED((void *)key == ICE_INTEGER_KEY)) {
        bucket->key = NULL;
        bucket->h = (zend_ulong)ice_key_number(b->ctx, id);
        return;
    }
    /* HASH_FLAG_STATIC_KEYS means that all keys are integers or interned strings. PHP does not
     * release the keys of a table with this flag. */
    if (!ZSTR_IS_INTERNED(key)) {
        zend_string_addref(key);
        HT_FLAGS(table) &= ~HASH_FLAG_STATIC_KEYS;
    }
    bucket->key = key;
    bucket->h = ZSTR_H(key);
}

ice_shape_result
ice_build_from_shape(ice_builder *b, uint32_t node_index, zval *dest, zend_property_info *type)
{
    const icecore_node *map = &b->nodes[node_index], *nodes = map + 1;
    const uint32_t count = map->aux, end = (uint32_t)map->payload;
    ice_build_frame *frame;
    const ice_shape *shape;
    HashTable *table;
    Bucket *bucket;
    void *data;
    uint32_t i;
    bool has_only_leaves;
    /* The array is not empty, so nodes[0] is its first entry. */
    if (count > ICE_SHAPE_MAX_KEYS)
        return ICE_SHAPE_UNKNOWN;
    shape = shape_entry(b->ctx, nodes[0].key, count);
    if (shape->count != count)
        return ICE_SHAPE_UNKNOWN;
    has_only_leaves = end - node_index - 1 == count && has_shape_of_leaves(shape, nodes, count);
    if (!has_only_leaves && !has_shape(b, shape, node_index + 1, end))
        return ICE_SHAPE_UNKNOWN;
    ALLOC_HASHTABLE(table);
    *table = shape->table;
    /* emalloc is faster if the size is a constant. */
    data = count <= HT_MIN_SIZE ? emalloc(BUCKETS_SIZE(HT_MIN_SIZE)) : emalloc(BUCKETS_SIZE(2 * HT_MIN_SIZE));
    prefetch_next_data(b, data);
    HT_SET_DATA_ADDR(table, data);
    if (count <= HT_MIN_SIZE)
        memcpy(data, shape->hash, HT_HASH_SIZE(HT_SIZE_TO_MASK(HT_MIN_SIZE)));
    else
        memcpy(data, shape->hash, HT_HASH_SIZE(HT_SIZE_TO_MASK(2 * HT_MIN_SIZE)));
    bucket = table->arData;
    for (i = 0; i < count; i++, bucket++) {
        set_key(b, table, bucket, shape->key_ids[i]);
        if (EXPECTED(has_only_leaves))
            ice_build_leaf(b, &nodes[i], &bucket->val);
        else
            ZVAL_NULL(&bucket->val);
        Z_NEXT(bucket->val) = shape->next[i];
    }
    ZVAL_ARR(dest, table);
    if (EXPECTED(has_only_leaves))
        return ICE_SHAPE_BUILT;
    frame = ice_build_push_frame(b, ICE_BUILD_SHAPE, node_index, node_index + 1, dest, type);
    frame->table = table;
    return ICE_SHAPE_OPENED;
}
