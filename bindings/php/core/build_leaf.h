/* Values without children. */
#ifndef ICE_BUILD_LEAF_H
#define ICE_BUILD_LEAF_H
#include "common/ice_bytes.h"
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

static zend_always_inline void
ice_build_string(ice_builder *b, const icecore_node *node, zval *to)
{
    size_t len;
    const char *text = ice_bytes_of(&b->ctx->view, node, &len);
    if (EXPECTED(len > 1)) {
        zend_string *string;
        /* The next container ends the call. */
        if (ICE_IS_OUT_OF_MEMORY) {
            ZVAL_NULL(to);
            return;
        }
        ice_memory_need(len);
        string = zend_string_alloc(len, 0);
        ice_copy(ZSTR_VAL(string), text, len);
        ZSTR_VAL(string)[len] = 0;
        ZVAL_NEW_STR(to, string);
    } else
        ZVAL_STRINGL_FAST(to, text, len);
}

/* Builds a leaf. None of PHP's formats has integers beyond 64 bits or floats of other
 * widths. */
static zend_always_inline bool
ice_build_leaf(ice_builder *b, const icecore_node *node, zval *to)
{
    switch (node->kind) {
    case ICECORE_INT: ZVAL_LONG(to, (zend_long)node->payload); return true;
    case ICECORE_BYTES:
    case ICECORE_TEXT:
        ice_build_string(b, node, to);
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
