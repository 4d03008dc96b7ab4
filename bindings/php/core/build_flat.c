/* Containers like one that was built before: objects whose properties come in the order
 * of the last object of their class, and small arrays with the same keys. If they have
 * only leaves they need no frame. Everything else is left to the loop in build.c. */
#include "core/build_leaf.h"

/* ---- objects ------------------------------------------------------------ */

/* Does what object_properties_init() does, inlined for most classes. */
static zend_always_inline void
init_slots(zend_object *object, zend_class_entry *ce)
{
    zval *from, *to, *end;
    if (UNEXPECTED(ce->type != ZEND_USER_CLASS) || UNEXPECTED(!ce->default_properties_count)) {
        object_properties_init(object, ce);
        return;
    }
    from = CE_DEFAULT_PROPERTIES_TABLE(ce);
    to = object->properties_table;
    end = to + ce->default_properties_count;
    for (; to < end; from++, to++)
        ZVAL_COPY_PROP(to, from);
}

zend_object *
ice_build_slots(ice_builder *b, ice_class *class, uint32_t *at, uint32_t end, uint32_t *index)
{
    const icecore_node *node = &b->nodes[*at], *behind = &b->nodes[end];
    const ice_property *property = class->properties, *last = property + class->property_count;
    zend_object *object = zend_objects_new(class->ce);
    init_slots(object, class->ce);
    for (; node < behind && property < last; node++, property++) {
        zval *to = (zval *)((char *)object + property->offset);
        const zend_property_info *type = property->type;
        if (UNEXPECTED(property->key != node->key) || UNEXPECTED(node->flags != 0) || UNEXPECTED(Z_REFCOUNTED_P(to)))
            break;
        switch (node->kind) {
        case ICECORE_INT:
            if (UNEXPECTED(type && !ZEND_TYPE_CONTAINS_CODE(type->type, IS_LONG)))
                goto behind_all;
            ZVAL_LONG(to, (zend_long)node->payload);
            break;
        case ICECORE_BYTES:
            if (UNEXPECTED(type && !ZEND_TYPE_CONTAINS_CODE(type->type, IS_STRING)))
                goto behind_all;
            ice_build_string(b, node, to);
            break;
        case ICECORE_NULL:
        case ICECORE_BOOL:
        case ICECORE_FLOAT: {
            zval value = { 0 };
            ice_build_leaf(b, node, &value);
            if (UNEXPECTED(type && !ZEND_TYPE_CONTAINS_CODE(type->type, Z_TYPE(value))))
                goto behind_all;
            ZVAL_COPY_VALUE(to, &value);
            break;
        }
        default: goto behind_all;
        }
    }
behind_all:
    *index = (uint32_t)(property - class->properties);
    *at = (uint32_t)(node - b->nodes);
    return object;
}

/* ---- arrays ------------------------------------------------------------- */

/* Whether a value can be made of a leaf of this kind without failure. */
static zend_always_inline bool
is_simple(uint8_t kind)
{
    return kind <= ICECORE_INT || kind == ICECORE_BYTES || kind == ICECORE_FLOAT;
}

/* Size of the buckets of a table of this size, with the hash part before them. */
#define DATA_SIZE(size) (HT_SIZE_EX((size), HT_SIZE_TO_MASK(size)))

static zend_always_inline ice_row *
row_of(ice_context *ctx, uint16_t key, uint32_t count)
{
    return &ctx->rows[(key ^ count << 2) % ICE_ROWS];
}

void
ice_build_learn_row(ice_builder *b, const ice_build_frame *frame)
{
    const HashTable *table = frame->table;
    const uint32_t count = b->nodes[frame->node].aux;
    uint32_t i, at = frame->node + 1;
    ice_row *row;
    if (count > ICE_ROW || table->nNumUsed != count || table->nNumOfElements != count ||
        table->nTableMask != (count <= HT_MIN_SIZE ? HT_SIZE_TO_MASK(HT_MIN_SIZE) : HT_SIZE_TO_MASK(2 * HT_MIN_SIZE)))
        return;
    row = row_of(b->ctx, b->nodes[at].key, count);
    row->count = 0;
    for (i = 0; i < count; i++) {
        if (b->nodes[at].key >= ICECORE_IS_KEY)
            return;
        row->keys[i] = b->nodes[at].key;
        row->next[i] = Z_NEXT(table->arData[i].val);
        at = ice_next(&b->ctx->view, at);
    }
    memcpy(row->hash, HT_GET_DATA_ADDR(table), HT_HASH_SIZE(table->nTableMask));
    row->table = *table;
    GC_SET_REFCOUNT(&row->table, 1);
    GC_TYPE_INFO(&row->table) = GC_ARRAY;
    row->count = count;
}

/* PHP's allocator reads the next free block from the block that it returns, and that one
 * is rarely in the cache. Blocks of rows are mostly at equal distances, so one of the
 * next ones is likely there. */
static zend_always_inline void
prefetch(ice_builder *b, const void *data)
{
#ifdef __GNUC__
    const uintptr_t next = (uintptr_t)data + 3 * ((uintptr_t)data - b->row_data);
    b->row_data = (uintptr_t)data;
    __builtin_prefetch((const void *)next, 1);
    __builtin_prefetch((const void *)(next + 64), 1);
    __builtin_prefetch((const void *)(next + 128), 1);
#endif
}

/* Whether the entries have the keys of the row and are leaves. */
static zend_always_inline bool
is_flat_row(const ice_row *row, const icecore_node *nodes, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++)
        if (nodes[i].key != row->keys[i] || !is_simple(nodes[i].kind) || nodes[i].flags)
            return false;
    return true;
}

/* Whether the entries have the keys of the row. */
static bool
is_row(ice_builder *b, const ice_row *row, uint32_t at, uint32_t end)
{
    uint32_t i;
    for (i = 0; i < row->count; i++) {
        if (at >= end || b->nodes[at].key != row->keys[i])
            return false;
        at = ice_next(&b->ctx->view, at);
    }
    return at == end;
}

static zend_always_inline void
set_key(ice_builder *b, HashTable *table, Bucket *bucket, uint16_t id)
{
    zend_string *key = (zend_string *)ice_key(b->ctx, id);
    if (UNEXPECTED((void *)key == ICE_INTEGER)) {
        bucket->key = NULL;
        bucket->h = (zend_ulong)ice_integer_key(b->ctx, id);
        return;
    }
    if (!ZSTR_IS_INTERNED(key)) {
        zend_string_addref(key);
        HT_FLAGS(table) &= ~HASH_FLAG_STATIC_KEYS;
    }
    bucket->key = key;
    bucket->h = ZSTR_H(key);
}

ice_row_built
ice_build_row(ice_builder *b, uint32_t at, zval *to, zend_property_info *type)
{
    const icecore_node *map = &b->nodes[at], *nodes = map + 1;
    const uint32_t count = map->aux, end = (uint32_t)map->payload;
    ice_build_frame *frame;
    const ice_row *row;
    HashTable *table;
    Bucket *bucket;
    void *data;
    uint32_t i;
    bool is_flat;
    if (count > ICE_ROW)
        return ICE_NO_ROW;
    row = row_of(b->ctx, nodes[0].key, count);
    if (row->count != count)
        return ICE_NO_ROW;
    is_flat = end - at - 1 == count && is_flat_row(row, nodes, count);
    if (!is_flat && !is_row(b, row, at + 1, end))
        return ICE_NO_ROW;
    ALLOC_HASHTABLE(table);
    *table = row->table;
    /* Constant sizes are allocated faster. */
    data = count <= HT_MIN_SIZE ? emalloc(DATA_SIZE(HT_MIN_SIZE)) : emalloc(DATA_SIZE(2 * HT_MIN_SIZE));
    prefetch(b, data);
    HT_SET_DATA_ADDR(table, data);
    if (count <= HT_MIN_SIZE)
        memcpy(data, row->hash, HT_HASH_SIZE(HT_SIZE_TO_MASK(HT_MIN_SIZE)));
    else
        memcpy(data, row->hash, HT_HASH_SIZE(HT_SIZE_TO_MASK(2 * HT_MIN_SIZE)));
    bucket = table->arData;
    for (i = 0; i < count; i++, bucket++) {
        set_key(b, table, bucket, row->keys[i]);
        if (EXPECTED(is_flat))
            ice_build_leaf(b, &nodes[i], &bucket->val);
        else
            ZVAL_NULL(&bucket->val);
        Z_NEXT(bucket->val) = row->next[i];
    }
    ZVAL_ARR(to, table);
    if (EXPECTED(is_flat))
        return ICE_ROW_BUILT;
    frame = ice_build_push(b, B_ROW, at, at + 1, to, type);
    frame->table = table;
    return ICE_ROW_OPEN;
}
