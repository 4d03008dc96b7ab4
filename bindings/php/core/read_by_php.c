/* Lets PHP's own reader read texts with `C:` objects. A link names its target by the number of a
 * value, and PHP's reader continues to count the values in the payloads.
 *
 * A text is checked before PHP's reader receives it. With icecore.replace=1, the classes call this
 * module again for their payloads, and each payload is checked then. So a payload may be malformed:
 * its class decides what this means. Without it, the classes call PHP's own unserialize(), so all
 * payloads are checked together with the text. */
#include "core/read_by_php.h"
#include "core/checked_text.h"
#include "core/memory.h"
#include "core/payloads.h"
#include "core/php_messages.h"
#include "core/scan.h"
#include "core/spl_payloads.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_var.h"

/* Lets PHP's reader read a text. It builds the classes in `names`, or all if that is NULL. A
 * negative `depth` means that the depth of the document around the text continues. */
static void
call_php_reader(zend_string *text, HashTable *names, zend_long depth, const char *function, zval *result)
{
    zval options, value;
    zend_string *name;
    array_init(&options);
    if (names) {
        zval name_list;
        array_init(&name_list);
        ZEND_HASH_FOREACH_STR_KEY(names, name) {
            ZVAL_STR_COPY(&value, name);
            add_next_index_zval(&name_list, &value);
        } ZEND_HASH_FOREACH_END();
        zend_hash_str_add_new(Z_ARRVAL(options), ZEND_STRL("allowed_classes"), &name_list);
    }
    if (depth >= 0) {
        ZVAL_LONG(&value, depth);
        zend_hash_str_add_new(Z_ARRVAL(options), ZEND_STRL("max_depth"), &value);
    }
    php_unserialize_with_options(result, ZSTR_VAL(text), ZSTR_LEN(text), Z_ARRVAL(options), function);
    zval_ptr_dtor(&options);
}

/* Does the same for a text outside of any document, and remembers the payloads. Their classes may
 * pass the payloads to Icecore\unserialize(). A payload with links to values outside of it can't be
 * checked there, so it is accepted if it is one of the remembered payloads. */
static void
call_php_reader_with_payloads(zend_string *text, HashTable *names, zend_long depth, const char *function, zval *result)
{
    HashTable *outer_payloads = ICE_G(checked_payloads), *payloads = NULL;
    /* In a text without links, each payload can be checked by itself, so none is remembered. */
    if (!ICE_G(replace) && (zend_memnstr(ZSTR_VAL(text), "r:", 2, ZSTR_VAL(text) + ZSTR_LEN(text)) ||
                            zend_memnstr(ZSTR_VAL(text), "R:", 2, ZSTR_VAL(text) + ZSTR_LEN(text)))) {
        payloads = zend_new_array(8);
        ice_scan_payloads(text, payloads);
    }
    ICE_G(checked_payloads) = payloads;
    call_php_reader(text, names, depth, function, result);
    ICE_G(checked_payloads) = outer_payloads;
    if (payloads)
        zend_array_destroy(payloads);
}

/* Returns the list of classes for PHP's reader; `found_names` are the allowed classes of the text.
 * A class may decode its payload and find other names in it. With icecore.replace=1 it gets these
 * as in PHP. */
static HashTable *
list_for_reader(const ice_class_options *class_options, HashTable *found_names)
{
    if (!ICE_G(replace))
        return found_names;
    if (ice_policy_allows_any(class_options))
        return NULL;
    return class_options->has_allowed_classes && class_options->allowed_names ? class_options->allowed_names
                                                                             : found_names;
}

/* Handles the result of a check. Returns true if PHP's reader may read the text. */
static bool
may_be_read(ice_payloads_result checked, zend_string *text, zend_long depth, const icecore_error *error)
{
    if (checked == ICE_PAYLOADS_MALFORMED) {
        ice_warn_wide(ice_scan_count_wide(text, MIN((size_t)ice_php_offset(error), ZSTR_LEN(text))));
        ice_report_error(error, text, depth);
    } else if (checked == ICE_PAYLOADS_NEED_RECORDS)
        ice_report_offset(0, ZSTR_LEN(text));
    return checked == ICE_PAYLOADS_ALLOWED;
}

bool
ice_read_by_php(zend_string *text, const ice_read_settings *settings, zend_long depth, const char *function,
                zval *result)
{
    const ice_class_options *class_options = &settings->classes;
    HashTable *names = zend_new_array(8);
    icecore_error error;
    bool is_read;
    ice_payloads_result checked = ice_payloads_check_text(text, class_options, depth, names, &error);
    if (checked == ICE_PAYLOADS_MALFORMED && ICE_G(replace)) {
        zend_hash_clean(names);
        checked = ice_payloads_check_form(text, class_options, depth, names, &error);
    }
    is_read = may_be_read(checked, text, depth, &error);
    if (is_read)
        call_php_reader_with_payloads(text, list_for_reader(class_options, names), depth, function, result);
    zend_array_destroy(names);
    return is_read;
}

/* Handles a text that is malformed in itself. PHP reads the payloads before the malformed place. If
 * they belong to PHP's own classes, and have no objects, they are read here, too: PHP throws an
 * exception for a malformed one. Returns false if there is one. */
static bool
try_payloads_before_error(zend_string *text)
{
    icecore_stage *stage = ice_stage(ICE_STAGE_PHP_FORM, BG(unserialize_max_depth));
    ice_context *ctx;
    icecore_error error;
    uint32_t node_index;
    bool may_continue = true;
    if (!stage)
        return false;
    ctx = ice_context_acquire();
    ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH | ICECORE_PARTIAL, &error);
    for (node_index = 0; may_continue && node_index + 1 < ctx->view.node_count; node_index++) {
        const icecore_node *node = &ctx->view.nodes[node_index];
        size_t len;
        const char *bytes;
        if (node->kind != ICECORE_OPAQUE || !(bytes = ice_payloads_bytes(&ctx->view, node, &len)))
            continue;
        may_continue = ice_spl_payloads_try(ice_class_of(ctx, ICE_CLASS_OF(node))->name, bytes, len) && !EG(exception);
    }
    ice_context_release(ctx);
    return !EG(exception);
}

bool
ice_read_refused_by_php(zend_string *text, const ice_read_settings *settings, zend_long depth, icecore_error *error,
                        const char *function, zval *result)
{
    const ice_class_options *class_options = &settings->classes;
    HashTable *names = zend_new_array(8);
    const ice_payloads_result checked = ice_payloads_check_form(text, class_options, depth, names, error);
    bool is_read = false;
    if (checked != ICE_PAYLOADS_MALFORMED || settings->has_max_depth || !ice_policy_allows_any(class_options) ||
        try_payloads_before_error(text))
        is_read = may_be_read(checked, text, depth, error);
    if (is_read)
        call_php_reader_with_payloads(text, list_for_reader(class_options, names), depth, function, result);
    zend_array_destroy(names);
    return is_read;
}

/* ---- payloads ----------------------------------------------------------- */

/* Returns true if a text that was refused with this error may still be well-formed inside of the
 * document around it, because it has links to values outside of it. `outer_payloads` are those of
 * the document that this module checked. If PHP's own handler of sessions reads the document, there
 * are none, and the links can't be checked. */
static bool
may_have_outer_links(zend_string *text, const icecore_error *error, HashTable *outer_payloads)
{
    if (outer_payloads)
        return zend_hash_exists(outer_payloads, text);
    return error->kind == ICECORE_BAD_LINK;
}

/* Checks a payload whose own payloads go to PHP's unserialize(). */
static ice_payloads_result
check_payload_as_whole(zend_string *text, const ice_class_options *class_options, bool uses_outer_list,
                       zend_long depth, HashTable *names, icecore_error *error)
{
    ice_payloads_result checked = ice_payloads_check_text(text, class_options, depth, names, error);
    /* A payload with links to values outside of it is well-formed only inside of its document. The
     * payloads in the list were checked together with their document. */
    if (checked == ICE_PAYLOADS_MALFORMED && may_have_outer_links(text, error, ICE_G(checked_payloads))) {
        zend_hash_clean(names);
        ice_scan_classes(ZSTR_VAL(text), ZSTR_LEN(text), names);
        checked = uses_outer_list || ice_policy_check_names(class_options, names) ? ICE_PAYLOADS_ALLOWED
                                                                                  : ICE_PAYLOADS_THROWN;
    }
    return checked;
}

/* By PHP's rule, a call without a list of its own uses the list of the outer call, and a call
 * without a depth of its own continues its depth. */
bool
ice_read_nested_by_php(zend_string *text, const ice_read_settings *settings, zend_long depth, const char *function,
                       zval *result)
{
    const bool has_own_list = settings->classes.has_allowed_classes || settings->classes.classes_option;
    HashTable *outer_names = php_var_unserialize_get_allowed_classes(BG(unserialize).data);
    const ice_class_options outer_options = { .has_allowed_classes = true, .allowed_names = outer_names };
    const bool uses_outer_list = !has_own_list && outer_names;
    const ice_class_options *class_options = uses_outer_list ? &outer_options : &settings->classes;
    const zend_long outer_depth = php_var_unserialize_get_max_depth(BG(unserialize).data);
    const zend_long left = settings->has_max_depth ? depth : ice_checked_depth_left();
    HashTable *names = zend_new_array(8), *list;
    zend_string *checked_text = text;
    size_t checked_len;
    icecore_error error;
    bool is_whole, is_read;
    if (ICE_G(replace)) {
        is_read = ice_checked_value(ZSTR_VAL(text), ZSTR_LEN(text), class_options, left, names, &checked_len,
                                    &is_whole);
        if (is_read && !is_whole)
            checked_text = ice_checked_prefix(text, checked_len);
    } else
        is_read = may_be_read(check_payload_as_whole(text, class_options, uses_outer_list,
                                                     left, names, &error),
                              text, settings->has_max_depth ? depth : outer_depth, &error);
    if (is_read) {
        list = uses_outer_list ? outer_names : list_for_reader(class_options, names);
        if (uses_outer_list && !settings->has_max_depth)
            php_unserialize_with_options(result, ZSTR_VAL(checked_text), ZSTR_LEN(checked_text), NULL, function);
        else
            call_php_reader(checked_text, list, settings->has_max_depth ? depth : -1, function, result);
    }
    if (checked_text != text)
        zend_string_release(checked_text);
    zend_array_destroy(names);
    return is_read;
}
