/* Values without children. */
#ifndef ICE_BUILD_LEAF_H
#define ICE_BUILD_LEAF_H
#include "core/build.h"

#ifndef ZVAL_STRINGL_FAST
#  define ZVAL_STRINGL_FAST(to, text, len) \
    do { \
        if ((len) > 1) \
            ZVAL_STRINGL(to, text, len); \
        else if ((len) == 0) \
            ZVAL_EMPTY_STRING(to); \
        else \
            ZVAL_CHAR(to, *(text)); \
    } while (0)
#endif

/* Integers beyond 64 bits and floats of other widths come from no format of PHP's. */
static zend_always_inline bool
ice_build_leaf(ice_builder *b, const icecore_node *node, zval *to)
{
    const char *text;
    size_t len;
    switch (node->kind) {
    case ICECORE_INT: ZVAL_LONG(to, (zend_long)node->payload); return true;
    case ICECORE_BYTES:
    case ICECORE_TEXT:
        text = ice_bytes_of(&b->ctx->view, node, &len);
        ZVAL_STRINGL_FAST(to, text, len);
        return true;
    case ICECORE_NULL: ZVAL_NULL(to); return true;
    case ICECORE_BOOL: ZVAL_BOOL(to, node->payload != 0); return true;
    case ICECORE_FLOAT: {
        double number;
        memcpy(&number, &node->payload, sizeof number);
        ZVAL_DOUBLE(to, number);
        return true;
    }
    case ICECORE_LINK:
    case ICECORE_ALIAS:
    case ICECORE_COPY: return ice_build_link(b, node, to);
    case ICECORE_ENUM_CASE: return ice_build_enum_case(b, node, to);
    default: return false;
    }
}

#endif
