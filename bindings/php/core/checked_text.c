/* Checks texts that PHP's own reader receives while it reads the document around them.
 *
 * A class calls unserialize() for its payload. For a malformed payload PHP's reader builds what
 * comes before the malformed place, counts these values, and may issue warnings, and the class
 * decides what becomes of it. So PHP's reader has to read such a payload, too. But it gets only the
 * bytes that the engine has read. */
#include "core/checked_text.h"
#include "core/memory.h"
#include "core/payloads.h"
#include "core/scan.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_var.h"

/* No value begins with this byte, and it is not a part of a token. */
#define FILLER '\x01'

zend_long
ice_checked_depth_left(void)
{
    const zend_long max_depth = php_var_unserialize_get_max_depth(BG(unserialize).data);
    const zend_long depth = php_var_unserialize_get_cur_depth(BG(unserialize).data);
    if (max_depth <= 0)
        return 0;
    return max_depth > depth ? max_depth - depth : ICE_NO_DEPTH;
}

/* Returns the number of bytes that PHP's reader needs to fail as the engine did: those up to the
 * error, or the whole token if PHP's message is about that. */
static size_t
len_with_error(const char *bytes, size_t len, const icecore_error *error)
{
    const size_t offset = (size_t)MAX(error->offset, 0), php_offset = (size_t)ice_php_offset(error);
    size_t end = MAX(offset, php_offset) + 1;
    /* PHP reads a name to its end before it refuses it. */
    if (php_offset < offset)
        end = MAX(end, ice_scan_name_end(bytes, len, php_offset));
    switch (error->detail) {
    case ICECORE_DETAIL_DEPTH:
    case ICECORE_DETAIL_NO_CASE:
    case ICECORE_DETAIL_NO_COUNT:
    case ICECORE_DETAIL_WIDE_COUNT: end = MAX(end, ice_scan_token_end_in(bytes, len, MIN(offset, php_offset))); break;
    default: break;
    }
    return MIN(end, len);
}

bool
ice_checked_value(const char *bytes, size_t len, const ice_class_options *class_options, zend_long depth,
                  HashTable *names, size_t *checked_len, bool *is_whole)
{
    icecore_stage *stage = ice_stage(ICE_STAGE_PHP_PART, depth);
    ice_context *ctx;
    icecore_error error;
    bool is_allowed;
    if (!stage)
        return false;
    ctx = ice_context_acquire();
    *is_whole = ice_memory_read(ctx, stage, bytes, len, ICECORE_EACH | ICECORE_PARTIAL, &error);
    *checked_len = *is_whole ? ctx->view.consumed : len_with_error(bytes, len, &error);
    is_allowed = ice_payloads_check_unresolved(ctx, class_options, names);
    ice_context_release(ctx);
    return is_allowed;
}

zend_string *
ice_checked_prefix(zend_string *text, size_t checked_len)
{
    zend_string *prefix;
    ice_memory_check(ZSTR_LEN(text));
    prefix = zend_string_init(ZSTR_VAL(text), ZSTR_LEN(text), 0);
    memset(ZSTR_VAL(prefix) + checked_len, FILLER, ZSTR_LEN(text) - checked_len);
    return prefix;
}
