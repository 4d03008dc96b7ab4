/* Builds values without children. */
#ifndef ICE_BUILD_LEAF_H
#define ICE_BUILD_LEAF_H
#include "common/ice_bytes.h"
#include "core/build.h"

/* Older versions of PHP don't have this macro. */
#ifndef ZVAL_STRINGL_FAST
#  define ZVAL_STRINGL_FAST(dest, text, len) \
    do { \
        if ((len) > 1) \
            ZVAL_STRINGL(dest, text, len); \
        else if ((len) == 0) \
            ZVAL_EMPTY_STRING(dest); \
        else \
            ZVAL_CHAR(dest, *(text)); \
    } while (0)
#endif

/* Builds a string. If PHP's heap is exceeded, the value becomes null, and the next container ends
 * the call. */
static zend_always_inline void
ice_build_string(ice_builder *b, const icecore_node *node, zval *dest)
{
    size_t len;
    const char *text = ice_bytes_of(&b->ctx->view, node, &len);
    if (EXPECTED(len > 1)) {
        zend_string *string;
        if (ICE_IS_OUT_OF_MEMORY) {
            ZVAL_NULL(dest);
            return;
        }
        ice_memory_check(len);
        string = zend_string_alloc(len, 0);
        ice_copy(ZSTR_VAL(string), text, len);
        ZSTR_VAL(string)[len] = 0;
        ZVAL_NEW_STR(dest, string);
    } else
        ZVAL_STRINGL_FAST(dest, text, len);
}

/* Builds a leaf. Nodes of other kinds do not occur: PHP's formats have no integers beyond 64
 * bits, and no floats of other widths. */
static zend_always_inline bool
ice_build_leaf(ice_builder *b, const icecore_node *node, zval *dest)
{
    switch (node->kind) {
    case ICECORE_INT: ZVAL_LONG(dest, (zend_long)node->payload); return true;
    case ICECORE_BYTES:
    case ICECORE_TEXT:
        ice_build_string(b, node, dest);
        return true;
    case ICECORE_NULL: ZVAL_NULL(dest); return true;
    case ICECORE_BOOL: ZVAL_BOOL(dest, node->payload != 0); return true;
    case ICECORE_FLOAT: {
        double number;
        memcpy(&number, &node->payload, sizeof number);
        ZVAL_DOUBLE(dest, number);
        return true;
    }
    case ICECORE_LINK:
    case ICECORE_ALIAS:
    case ICECORE_COPY: return ice_build_link(b, node, dest);
    case ICECORE_ENUM_CASE: return ice_build_enum_case(b, node, dest);
    default: return false;
    }
}

#endif
