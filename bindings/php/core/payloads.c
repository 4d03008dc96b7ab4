/* Checks the payloads of `C:` objects in PHP's text, and of similar objects in other formats.
 *
 * The class of such an object usually calls unserialize() with the payload, and PHP's reader
 * then builds the objects in it. So if the payload is serialized data, the engine decodes it
 * first, and its classes are checked by the rules of the document. If the class itself must
 * decode the payload first (Base64, a prefix), the class is responsible. Even such a payload is
 * scanned as it is, and every class name in it that looks as in PHP's text must be allowed. */
#include "core/payloads.h"
#include "core/memory.h"
#include "core/scan.h"
#include "ext/standard/basic_functions.h"

const char *
ice_payloads_bytes(const icecore_view *view, const icecore_node *opaque, size_t *len)
{
    const icecore_node *payload = opaque + 1;
    if (payload->kind != ICECORE_BYTES && payload->kind != ICECORE_TEXT)
        return NULL;
    return ice_bytes_of(view, payload, len);
}

/* Marks all names as required. ice_policy_check_names refuses a required name that is not
 * allowed. With PHP's option allowed_classes, it only skips a name that is not required. */
static void
mark_as_required(HashTable *names)
{
    zval *is_required;
    ZEND_HASH_FOREACH_VAL(names, is_required) {
        ZVAL_TRUE(is_required);
    } ZEND_HASH_FOREACH_END();
}

/* Adds the class names in the payloads that the engine did not decode. */
static void
add_names_in_raw_payloads(ice_context *ctx, HashTable *names)
{
    const icecore_view *view = &ctx->view;
    uint32_t node_index;
    for (node_index = 0; node_index + 1 < view->node_count; node_index++) {
        size_t len;
        const char *bytes;
        if (view->nodes[node_index].kind == ICECORE_OPAQUE &&
            (bytes = ice_payloads_bytes(view, &view->nodes[node_index], &len)))
            ice_scan_classes(bytes, len, names);
    }
}

/* Checks the class names in the payloads that the engine did not decode. `names` receives the
 * allowed names. Returns false if an exception was thrown. */
static bool
check_raw_payloads(ice_context *ctx, const ice_class_options *class_options, bool are_required, HashTable *names)
{
    add_names_in_raw_payloads(ctx, names);
    if (are_required)
        mark_as_required(names);
    return ice_policy_check_names(class_options, names);
}

/* Adds the classes of the document that are allowed. */
static void
add_allowed_classes(ice_context *ctx, HashTable *names)
{
    uint32_t id;
    for (id = 1; id <= ctx->view.classes.count; id++) {
        const ice_class *class = ice_class_of(ctx, id);
        if (class->call_number == ctx->call_number && class->verdict == ICECORE_ALLOWED)
            zend_hash_add_empty_element(names, class->name);
    }
}

bool
ice_payloads_has_records(ice_context *ctx, const ice_class_options *class_options)
{
    const icecore_view *view = &ctx->view;
    uint32_t id, node_index;
    for (id = 1; id <= view->classes.count; id++) {
        const ice_class *class = ice_class_of(ctx, id);
        if (class->call_number == ctx->call_number && class->verdict == ICECORE_AS_RECORD)
            return true;
    }
    for (node_index = 0; node_index < view->node_count; node_index++) {
        size_t len;
        const char *name, *colon;
        if (view->nodes[node_index].kind != ICECORE_ENUM_CASE)
            continue;
        name = ice_bytes_of(view, &view->nodes[node_index], &len);
        colon = memchr(name, ':', len);
        if (colon && ice_policy_makes_record(class_options, name, colon - name))
            return true;
    }
    return false;
}

/* Reads a text, and decodes its payloads that begin like serialized data. Returns false with
 * an error, or if an exception was thrown. */
static bool
read_with_payloads_decoded(ice_context *ctx, zend_string *text, zend_long depth, icecore_error *error)
{
    icecore_stage *stage = ice_stage(ICE_STAGE_PHP_PAYLOADS, depth);
    return stage && ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, error);
}

/* Handles a text that read_with_payloads_decoded refused, for example because a payload begins
 * like serialized data but is invalid. Reads the text again with raw payloads. The text is
 * accepted if no payload has a class name, because PHP's reader then has no object to build from
 * a payload. */
static ice_payloads_result
check_without_decoding(ice_context *ctx, zend_string *text, const ice_class_options *class_options, zend_long depth,
                       HashTable *names)
{
    icecore_stage *stage = ice_stage(ICE_STAGE_PHP_LENIENT, depth);
    icecore_error error;
    bool has_opaque;
    if (!stage || !ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, &error))
        return ICE_PAYLOADS_MALFORMED;
    if (!ice_policy_check(ctx, class_options, &has_opaque))
        return ICE_PAYLOADS_THROWN;
    add_names_in_raw_payloads(ctx, names);
    if (zend_hash_num_elements(names))
        return ice_policy_check_names(class_options, names) ? ICE_PAYLOADS_MALFORMED : ICE_PAYLOADS_THROWN;
    add_allowed_classes(ctx, names);
    return ICE_PAYLOADS_ALLOWED;
}

ice_payloads_result
ice_payloads_check_text(zend_string *text, const ice_class_options *class_options, zend_long depth,
                        HashTable *allowed_names, icecore_error *error)
{
    ice_context *ctx = ice_context_acquire();
    ice_payloads_result result = ICE_PAYLOADS_THROWN;
    bool has_opaque;
    if (!read_with_payloads_decoded(ctx, text, depth, error))
        result = EG(exception) ? ICE_PAYLOADS_THROWN
                               : check_without_decoding(ctx, text, class_options, depth, allowed_names);
    else if (ice_policy_check(ctx, class_options, &has_opaque) &&
             check_raw_payloads(ctx, class_options, false, allowed_names)) {
        add_allowed_classes(ctx, allowed_names);
        result = ice_payloads_has_records(ctx, class_options) ? ICE_PAYLOADS_NEED_RECORDS : ICE_PAYLOADS_ALLOWED;
    }
    ice_context_release(ctx);
    return result;
}

bool
ice_payloads_check_unresolved(ice_context *ctx, const ice_class_options *class_options, HashTable *allowed_names)
{
    bool has_opaque;
    if (!ice_policy_check(ctx, class_options, &has_opaque) ||
        !check_raw_payloads(ctx, class_options, false, allowed_names))
        return false;
    add_allowed_classes(ctx, allowed_names);
    return true;
}

/* Returns true if the document has `C:` objects. */
static bool
has_payloads(const icecore_view *view)
{
    uint32_t node_index;
    for (node_index = 0; node_index < view->node_count; node_index++)
        if (view->nodes[node_index].kind == ICECORE_OPAQUE)
            return true;
    return false;
}

ice_payloads_result
ice_payloads_check_form(zend_string *text, const ice_class_options *class_options, zend_long depth,
                        HashTable *allowed_names, icecore_error *error)
{
    icecore_stage *stage = ice_stage(ICE_STAGE_PHP_FORM, depth);
    ice_context *ctx;
    ice_payloads_result result = ICE_PAYLOADS_THROWN;
    if (!stage)
        return result;
    ctx = ice_context_acquire();
    /* If there are no payloads, the error is in the text, for example a bad link. */
    if (!ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, error) || !has_payloads(&ctx->view))
        result = ICE_PAYLOADS_MALFORMED;
    else if (ice_payloads_check_unresolved(ctx, class_options, allowed_names))
        result = ice_payloads_has_records(ctx, class_options) ? ICE_PAYLOADS_NEED_RECORDS : ICE_PAYLOADS_ALLOWED;
    ice_context_release(ctx);
    return result;
}

/* Reads a session by the stage with this id. Returns false with an error, or if an exception was
 * thrown. */
static bool
read_session(ice_context *ctx, int stage_id, zend_string *text, icecore_error *error)
{
    icecore_stage *stage = ice_stage(stage_id, BG(unserialize_max_depth));
    return stage && ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), 0, error);
}

/* Checks all names in the whole text that look like those of classes. */
static ice_payloads_result
check_all_names(zend_string *text, const ice_class_options *class_options, HashTable *names)
{
    ice_scan_classes(ZSTR_VAL(text), ZSTR_LEN(text), names);
    mark_as_required(names);
    return ice_policy_check_names(class_options, names) ? ICE_PAYLOADS_ALLOWED : ICE_PAYLOADS_THROWN;
}

ice_payloads_result
ice_payloads_check_session(zend_string *text, const ice_class_options *class_options, HashTable *allowed_names)
{
    ice_context *ctx = ice_context_acquire();
    ice_payloads_result result = ICE_PAYLOADS_THROWN;
    icecore_error error;
    bool has_opaque;
    if (read_session(ctx, ICE_STAGE_SESSION_PAYLOADS, text, &error)) {
        if (ice_policy_check(ctx, class_options, &has_opaque) &&
            check_raw_payloads(ctx, class_options, true, allowed_names)) {
            add_allowed_classes(ctx, allowed_names);
            result = ICE_PAYLOADS_ALLOWED;
        }
    } else if (!EG(exception))
        /* The cause is in a payload if the text can be read without decoding the payloads. A link
         * after a payload ends that reading. */
        result = read_session(ctx, ICE_STAGE_SESSION_LENIENT, text, &error) ||
                         (!EG(exception) && error.detail == ICECORE_DETAIL_OPAQUE_LINK)
                     ? check_all_names(text, class_options, allowed_names)
                     : ICE_PAYLOADS_MALFORMED;
    ice_context_release(ctx);
    return result;
}

/* ---- payloads that Icecore passes to a class ---------------------------- */

/* Returns true if all classes in a payload are allowed; otherwise throws. A class that is not
 * allowed can't be skipped here, because the class of the `C:` object reads the payload. */
static bool
check_all_allowed(ice_context *ctx, const ice_class_options *class_options)
{
    uint32_t id;
    HashTable *names = zend_new_array(8);
    bool all_allowed;
    for (id = 1; id <= ctx->view.classes.count; id++) {
        const ice_class *class = ice_class_of(ctx, id);
        if (class->call_number == ctx->call_number && class->verdict != ICECORE_ALLOWED)
            zend_hash_add_empty_element(names, class->name);
    }
    mark_as_required(names);
    all_allowed = ice_policy_check_names(class_options, names);
    zend_array_destroy(names);
    return all_allowed;
}

/* Checks one payload before its class receives it. Returns false if an exception was thrown. */
static bool
check_payload(zend_string *class, const char *bytes, size_t len, const ice_class_options *class_options)
{
    /* The payload becomes `C:4:"Name":3:{…}`, so that the engine reads it as one. */
    zend_string *text = zend_strpprintf(0, "C:%zu:\"%s\":%zu:{", ZSTR_LEN(class), ZSTR_VAL(class), len);
    ice_context *ctx = ice_context_acquire();
    HashTable *names = zend_new_array(8);
    icecore_error error;
    bool has_opaque, is_allowed = false;
    const size_t header_len = ZSTR_LEN(text);
    ice_memory_check(len);
    text = zend_string_extend(text, header_len + len + 1, 0);
    memcpy(ZSTR_VAL(text) + header_len, bytes, len);
    ZSTR_VAL(text)[header_len + len] = '}';
    ZSTR_VAL(text)[header_len + len + 1] = 0;
    if (read_with_payloads_decoded(ctx, text, BG(unserialize_max_depth), &error))
        is_allowed = ice_policy_check(ctx, class_options, &has_opaque) && check_all_allowed(ctx, class_options) &&
                  check_raw_payloads(ctx, class_options, true, names);
    else if (!EG(exception)) {
        ice_scan_classes(bytes, len, names);
        mark_as_required(names);
        /* A class may write a payload whose links only the class can follow, such as links from one
         * payload to another. It gets such a payload if every name in it is allowed. */
        if (error.kind == ICECORE_BAD_LINK || error.detail == ICECORE_DETAIL_OPAQUE_LINK)
            is_allowed = ice_policy_check_names(class_options, names);
        else if (!(is_allowed = zend_hash_num_elements(names) == 0))
            ice_throw_error(ice_decode_exception, &error);
    }
    zend_array_destroy(names);
    ice_context_release(ctx);
    zend_string_release(text);
    return is_allowed;
}

bool
ice_payloads_check_view(ice_context *ctx, const ice_class_options *class_options)
{
    const icecore_view *view = &ctx->view;
    uint32_t node_index;
    for (node_index = 0; node_index + 1 < view->node_count; node_index++) {
        const icecore_node *node = &view->nodes[node_index];
        const ice_class *class;
        size_t len;
        const char *bytes;
        if (node->kind != ICECORE_OPAQUE || !(bytes = ice_payloads_bytes(view, node, &len)))
            continue;
        class = ice_class_of(ctx, ICE_CLASS_OF(node));
        if (class->verdict == ICECORE_ALLOWED && !check_payload(class->name, bytes, len, class_options))
            return false;
    }
    return true;
}
