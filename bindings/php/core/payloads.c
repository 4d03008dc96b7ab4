/* Checks the payloads of classes that serialize themselves: `C:` in PHP's text, and the
 * same in other formats.
 *
 * Such a class usually calls unserialize() with its payload, and PHP's reader then builds
 * the objects in it. So the engine first reads a payload that is frozen data, and checks
 * its classes against the list of the document. A payload that the class decodes first
 * (Base64, an offset) is the responsibility of that class. Even so, every class name in
 * it that is written as in PHP's text must be allowed. */
#include "core/payloads.h"
#include "core/memory.h"
#include "core/scan.h"
#include "ext/standard/basic_functions.h"

static const char *
payload_of(const icecore_view *view, const icecore_node *opaque, size_t *len)
{
    const icecore_node *payload = opaque + 1;
    if (payload->kind != ICECORE_BYTES && payload->kind != ICECORE_TEXT)
        return NULL;
    return ice_bytes_of(view, payload, len);
}

/* Marks all names as required: a name that is not allowed is then an error, and is not
 * skipped, even if the list is PHP's own (allowed_classes). */
static void
mark_as_needed(HashTable *names)
{
    zval *mark;
    ZEND_HASH_FOREACH_VAL(names, mark) {
        ZVAL_TRUE(mark);
    } ZEND_HASH_FOREACH_END();
}

/* Adds the class names in payloads that the engine did not decode and kept as bytes. */
static void
scan_closed(ice_context *ctx, HashTable *names)
{
    const icecore_view *view = &ctx->view;
    uint32_t at;
    for (at = 0; at + 1 < view->node_count; at++) {
        size_t len;
        const char *bytes;
        if (view->nodes[at].kind == ICECORE_OPAQUE && (bytes = payload_of(view, &view->nodes[at], &len)))
            ice_scan_classes(bytes, len, names);
    }
}

static bool
check_closed(ice_context *ctx, const ice_allowed *allowed, bool are_needed, HashTable *names)
{
    scan_closed(ctx, names);
    if (are_needed)
        mark_as_needed(names);
    return ice_policy_check_names(allowed, names);
}

static void
add_allowed(ice_context *ctx, HashTable *names)
{
    uint32_t id;
    for (id = 1; id <= ctx->view.classes.count; id++) {
        const ice_class *class = ice_class_of(ctx, id);
        if (class->call == ctx->call && class->verdict == ICECORE_ALLOWED)
            zend_hash_add_empty_element(names, class->name);
    }
}

bool
ice_payloads_has_records(ice_context *ctx, const ice_allowed *allowed)
{
    const icecore_view *view = &ctx->view;
    uint32_t id, at;
    for (id = 1; id <= view->classes.count; id++) {
        const ice_class *class = ice_class_of(ctx, id);
        if (class->call == ctx->call && class->verdict == ICECORE_AS_RECORD)
            return true;
    }
    for (at = 0; at < view->node_count; at++) {
        size_t len;
        const char *name, *colon;
        if (view->nodes[at].kind != ICECORE_ENUM_CASE)
            continue;
        name = ice_bytes_of(view, &view->nodes[at], &len);
        colon = memchr(name, ':', len);
        if (colon && ice_policy_is_record(allowed, name, colon - name))
            return true;
    }
    return false;
}

static bool
read_opened(ice_context *ctx, zend_string *text, zend_long depth, icecore_error *error)
{
    icecore_stage *stage = ice_stage(ICE_PHP_PAYLOADS, depth);
    return stage && ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, error);
}

/* Handles texts that read_opened refused, because a payload begins like frozen data but is
 * not valid. The text is read again with payloads as bytes. It is accepted if no payload
 * contains a class name, because PHP's reader then has no object to build from it. */
static ice_payloads
check_malformed(ice_context *ctx, zend_string *text, const ice_allowed *allowed, zend_long depth, HashTable *names)
{
    icecore_stage *stage = ice_stage(ICE_PHP_LENIENT, depth);
    icecore_error error;
    bool is_opaque;
    if (!stage || !ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, &error))
        return ICE_PAYLOADS_MALFORMED;
    if (!ice_policy_check(ctx, allowed, &is_opaque))
        return ICE_PAYLOADS_THROWN;
    scan_closed(ctx, names);
    if (zend_hash_num_elements(names))
        return ice_policy_check_names(allowed, names) ? ICE_PAYLOADS_MALFORMED : ICE_PAYLOADS_THROWN;
    add_allowed(ctx, names);
    return ICE_PAYLOADS_FINE;
}

ice_payloads
ice_payloads_check_text(zend_string *text, const ice_allowed *allowed, zend_long depth, HashTable *names,
                        icecore_error *error)
{
    ice_context *ctx = ice_checkout();
    ice_payloads found = ICE_PAYLOADS_THROWN;
    bool is_opaque;
    if (!read_opened(ctx, text, depth, error))
        found = EG(exception) ? ICE_PAYLOADS_THROWN : check_malformed(ctx, text, allowed, depth, names);
    else if (ice_policy_check(ctx, allowed, &is_opaque) && check_closed(ctx, allowed, false, names)) {
        add_allowed(ctx, names);
        found = ice_payloads_has_records(ctx, allowed) ? ICE_PAYLOADS_RECORDS : ICE_PAYLOADS_FINE;
    }
    ice_checkin(ctx);
    return found;
}

/* ---- payloads that Icecore passes to a class ---------------------------- */

/* Returns whether all classes in a payload are allowed. A disallowed class can't be
 * skipped here, because the class that owns the payload reads it itself. */
static bool
are_all_allowed(ice_context *ctx, const ice_allowed *allowed)
{
    uint32_t id;
    HashTable *names = zend_new_array(8);
    bool are_allowed;
    for (id = 1; id <= ctx->view.classes.count; id++) {
        const ice_class *class = ice_class_of(ctx, id);
        if (class->call == ctx->call && class->verdict != ICECORE_ALLOWED)
            zend_hash_add_empty_element(names, class->name);
    }
    mark_as_needed(names);
    are_allowed = ice_policy_check_names(allowed, names);
    zend_array_destroy(names);
    return are_allowed;
}

static bool
check_payload(zend_string *class, const char *bytes, size_t len, const ice_allowed *allowed)
{
    /* Wrapped as `C:4:"Name":3:{…}`, so that the engine reads it as a payload. */
    zend_string *text = zend_strpprintf(0, "C:%zu:\"%s\":%zu:{", ZSTR_LEN(class), ZSTR_VAL(class), len);
    ice_context *ctx = ice_checkout();
    HashTable *names = zend_new_array(8);
    icecore_error error;
    bool is_opaque, is_fine = false;
    const size_t front = ZSTR_LEN(text);
    ice_memory_need(len);
    text = zend_string_extend(text, front + len + 1, 0);
    memcpy(ZSTR_VAL(text) + front, bytes, len);
    ZSTR_VAL(text)[front + len] = '}';
    ZSTR_VAL(text)[front + len + 1] = 0;
    if (read_opened(ctx, text, BG(unserialize_max_depth), &error))
        is_fine = ice_policy_check(ctx, allowed, &is_opaque) && are_all_allowed(ctx, allowed) &&
                  check_closed(ctx, allowed, true, names);
    else if (!EG(exception)) {
        ice_scan_classes(bytes, len, names);
        is_fine = zend_hash_num_elements(names) == 0;
        if (!is_fine)
            ice_throw_error(ice_decode_exception, &error);
    }
    zend_array_destroy(names);
    ice_checkin(ctx);
    zend_string_release(text);
    return is_fine;
}

bool
ice_payloads_check_view(ice_context *ctx, const ice_allowed *allowed)
{
    const icecore_view *view = &ctx->view;
    uint32_t at;
    for (at = 0; at + 1 < view->node_count; at++) {
        const icecore_node *node = &view->nodes[at];
        const ice_class *class;
        size_t len;
        const char *bytes;
        if (node->kind != ICECORE_OPAQUE || !(bytes = payload_of(view, node, &len)))
            continue;
        class = ice_class_of(ctx, ICE_CLASS_OF(node));
        if (class->verdict == ICECORE_ALLOWED && !check_payload(class->name, bytes, len, allowed))
            return false;
    }
    return true;
}
