/* Reads or writes one document by a stage. */
#include "core/documents.h"
#include "core/igbinary_message.h"
#include "core/losses.h"
#include "core/memory.h"
#include "core/payloads.h"
#include "core/php_messages.h"
#include "core/read_by_php.h"
#include "core/scan.h"
#include "core/session_by_php.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_var.h"

/* ---- reading ------------------------------------------------------------ */

/* If links made the root a PHP reference, replaces it by its value. */
static void
unwrap_root(zval *result)
{
    if (Z_ISREF_P(result))
        zend_unwrap_reference(result);
}

#if PHP_VERSION_ID >= 80400
/* Issues PHP's warning about each string with escapes. */
static void
warn_escaped_strings(zend_string *text, size_t len)
{
    uint32_t count = ice_scan_count_escaped(text, len);
    while (count-- && !EG(exception))
        php_error_docref(NULL, E_DEPRECATED, "Unserializing the 'S' format is deprecated");
}
#endif

/* Checks and builds the text that was read, with PHP's warnings. `has_wide` is true if the engine
 * cut integers to 64 bits. Returns false if an exception was thrown, or if PHP's message was
 * issued. */
static bool
build_php_text(ice_context *ctx, zend_string *text, ice_read_settings *settings, zend_long depth, bool has_wide,
               const char *function, zval *result)
{
    ice_scan scan;
    bool has_opaque = false;
    if (!ctx->view.is_simple && !ice_policy_check(ctx, &settings->classes, &has_opaque))
        return false;
    if (UNEXPECTED(has_opaque)) {
        if (!ice_payloads_has_records(ctx, &settings->classes))
            return ice_read_by_php(text, settings, depth, function, result);
        if (!ice_payloads_check_view(ctx, &settings->classes))
            return false;
    }
    if (UNEXPECTED(has_wide)) {
        ice_scan_start(&scan, &ctx->view);
        settings->wide_scan = &scan;
    }
#if PHP_VERSION_ID >= 80400
    warn_escaped_strings(text, ctx->view.consumed);
    if (EG(exception))
        return false;
#endif
    if (!ice_build(ctx, settings, result)) {
        ice_report_offset((zend_long)ice_scan_offset(&ctx->view, ctx->failed_node, ctx->failed_after_node),
                      ZSTR_LEN(text));
        ice_build_free(ctx, result);
        return false;
    }
#if PHP_VERSION_ID >= 80300
    if (ctx->view.consumed < ZSTR_LEN(text) && !EG(exception))
        php_error_docref(NULL, E_WARNING, "Extra data starting at offset " ZEND_LONG_FMT " of %zd bytes",
                         (zend_long)ctx->view.consumed, ZSTR_LEN(text));
#endif
    return true;
}

bool
ice_unserialize(zend_string *text, ice_read_settings *settings, zend_long depth, const char *function, zval *result)
{
    icecore_stage *stage = ice_stage(ICE_STAGE_PHP, depth);
    ice_context *ctx;
    icecore_error error;
    bool is_done = false, has_wide = false, has_failed;
    if (!stage)
        return false;
    /* PHP's own reader is active, and no hook has raised the lock. So a class has called this
     * function for its payload. */
    if (UNEXPECTED(BG(unserialize).level > 0 && !BG(serialize_lock)))
        return ice_read_nested_by_php(text, settings, depth, function, result);
    ctx = ice_context_acquire();
    has_failed = !ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, &error);
    /* The first stage refuses integers beyond 64 bits. The lenient stage cuts them as PHP does, and
     * `has_wide` requests PHP's warnings about them. */
    if (UNEXPECTED(has_failed) && error.detail == ICECORE_DETAIL_WIDE_INTEGER &&
        (stage = ice_stage(ICE_STAGE_PHP_LENIENT, depth))) {
        has_wide = true;
        has_failed = !ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, &error);
    }
    if (EXPECTED(!has_failed))
        is_done = build_php_text(ctx, text, settings, depth, has_wide, function, result);
    else if (error.detail == ICECORE_DETAIL_OPAQUE_LINK) {
        /* A link refers to a value inside of a payload. */
        is_done = ice_read_by_php(text, settings, depth, function, result);
        ice_context_release(ctx);
        return is_done;
    } else if (ICE_G(replace) && zend_memnstr(ZSTR_VAL(text), "C:", 2, ZSTR_VAL(text) + ZSTR_LEN(text))) {
        /* The cause may be in a payload, and then its class decides what this means. */
        is_done = ice_read_refused_by_php(text, settings, depth, &error, function, result);
        ice_context_release(ctx);
        return is_done;
    } else {
        if (has_wide)
            ice_warn_wide(ice_scan_count_wide(text, MIN((size_t)ice_php_offset(&error), ZSTR_LEN(text))));
        ice_report_error(&error, text, depth);
    }
    ice_context_release(ctx);
    if (is_done)
        unwrap_root(result);
    return is_done;
}

/* Checks and builds the document that was read. Returns false if an exception was thrown, or if PHP
 * refuses a value. */
static bool
build_checked(ice_context *ctx, const ice_read_settings *settings, zval *result)
{
    bool has_opaque;
    if (!ice_policy_check(ctx, &settings->classes, &has_opaque))
        return false;
    if (has_opaque && !ice_payloads_check_view(ctx, &settings->classes))
        return false;
    if (ice_build(ctx, settings, result))
        return true;
    ice_build_free(ctx, result);
    return false;
}

/* Reports a value that PHP refuses: by an exception, or by a warning if `is_warning` is true. Does
 * nothing if there is an exception already. */
static void
report_refused_value(ice_context *ctx, bool is_warning)
{
    char path[512];
    if (EG(exception) || ICE_IS_OUT_OF_MEMORY || (is_warning && ctx->has_warned))
        return;
    icecore_path(ctx->pooled.engine, ctx->view.input, ctx->view.input_len, ctx->failed_node, path, sizeof path);
    if (is_warning)
        php_error_docref(NULL, E_WARNING, "Icecore: PHP refuses the value at %s", path);
    else
        ice_throw(ice_decode_exception, "value", -1, path,
                  zend_strpprintf(0, "Icecore: PHP refuses the value at %s", path));
}

bool
ice_read(icecore_stage *stage, zend_string *bytes, const ice_read_settings *settings, zval *result)
{
    ice_context *ctx = ice_context_acquire();
    icecore_error error;
    bool is_done = false;
    ctx->may_be_compressed = true;
    if (!ice_memory_read(ctx, stage, ZSTR_VAL(bytes), ZSTR_LEN(bytes), 0, &error))
        ice_throw_error(ice_decode_exception, &error);
    else if (!(is_done = build_checked(ctx, settings, result)))
        report_refused_value(ctx, false);
    ice_context_release(ctx);
    if (is_done)
        unwrap_root(result);
    return is_done;
}

bool
ice_read_session(zend_string *text, ice_read_settings *settings, zval *variables)
{
    icecore_stage *stage = ice_stage(ICE_STAGE_SESSION, BG(unserialize_max_depth));
    ice_context *ctx;
    icecore_error error;
    bool is_done = false, has_opaque = false, needs_php;
    if (!stage)
        return false;
    ctx = ice_context_acquire();
    if (ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), 0, &error)) {
        if (ice_policy_check(ctx, &settings->classes, &has_opaque) && !has_opaque &&
            !(is_done = ice_build(ctx, settings, variables)))
            ice_build_free(ctx, variables);
        needs_php = has_opaque && !EG(exception);
    } else
        /* Only PHP's reader knows how many values a payload counts for, and it cuts integers
         * beyond 64 bits. */
        needs_php = error.detail == ICECORE_DETAIL_OPAQUE_LINK || error.detail == ICECORE_DETAIL_WIDE_INTEGER;
    ice_context_release(ctx);
    return needs_php ? ice_session_read_by_php(text, &settings->classes, variables) : is_done;
}

/* Issues igbinary's message about malformed data, or the engine's message if igbinary would read the
 * data or has no such limit. */
static void
warn_malformed_igbinary(zend_string *bytes, const icecore_error *error)
{
    zend_string *message = error->kind == ICECORE_LIMIT ? NULL : ice_igbinary_message(bytes);
    ice_line line;
    if (!message) {
        php_error_docref(NULL, E_WARNING, "%s", ice_message(error, NULL, 0, &line));
        return;
    }
    zend_error(E_WARNING, "%s", ZSTR_VAL(message));
    zend_string_release(message);
}

void
ice_read_igbinary(zend_string *bytes, const ice_read_settings *settings, zend_long depth, zval *result)
{
    icecore_stage *stage = ice_stage(ICE_STAGE_IGBINARY, depth);
    ice_context *ctx;
    icecore_error error;
    zval built;
    if (!stage)
        return;
    ctx = ice_context_acquire();
    ZVAL_UNDEF(&built);
    if (!ice_memory_read(ctx, stage, ZSTR_VAL(bytes), ZSTR_LEN(bytes), 0, &error))
        warn_malformed_igbinary(bytes, &error);
    else if (!build_checked(ctx, settings, &built))
        report_refused_value(ctx, true);
    ice_context_release(ctx);
    if (Z_ISUNDEF(built))
        return;
    unwrap_root(&built);
    ZVAL_COPY_VALUE(result, &built);
}

/* ---- writing ------------------------------------------------------------ */

/* The output of a tape with at most this many bytes is not limited by memory_limit. */
#define SMALL_TAPE (32u << 10)

/* Writes the tape within memory_limit, and counts the output. Returns false with an error. */
static bool
write_within(ice_context *ctx, icecore_stage *stage, icecore_bytes *out, icecore_error *error)
{
    const size_t tape_bytes = ctx->tape.node_count * sizeof(icecore_node) + ctx->tape.arena_len;
    const bool is_small = tape_bytes <= SMALL_TAPE && !ctx->written_text.s;
    const uint64_t available = is_small ? UINT64_MAX : ice_memory_available();
    uint32_t kind;
    if (UNEXPECTED(available != UINT64_MAX))
        icecore_stage_memory(stage, available);
    kind = icecore_write(ctx->pooled.engine, stage, &ctx->tape, out, NULL, error);
    if (UNEXPECTED(available != UINT64_MAX))
        icecore_stage_memory(stage, UINT64_MAX);
    if (UNEXPECTED(kind != ICECORE_OK)) {
        if (ice_memory_was_exceeded(error, available))
            ice_memory_free_or_fail(available, (size_t)available + ZEND_MM_ALIGNMENT);
        return false;
    }
    if (UNEXPECTED(!is_small))
        ice_memory_count_engine(ctx, tape_bytes + out->len);
    return true;
}

/* Returns the output for the tape, after the parts that were written before. Returns NULL if an
 * exception was thrown. */
static zend_string *
write_tape(ice_context *ctx, icecore_stage *stage)
{
    icecore_error error;
    icecore_bytes out;
    ice_tape_finish(ctx->pooled.engine, &ctx->tape);
    if (EXPECTED(write_within(ctx, stage, &out, &error))) {
        ice_memory_check(out.len + (ctx->written_text.s ? ZSTR_LEN(ctx->written_text.s) : 0));
        if (EXPECTED(!ctx->written_text.s))
            return zend_string_init((const char *)out.bytes, out.len, 0);
        smart_str_appendl(&ctx->written_text, (const char *)out.bytes, out.len);
        return smart_str_extract(&ctx->written_text);
    }
    ice_throw_error(ice_encode_exception, &error);
    return NULL;
}

zend_string *
ice_write_session(zval *variables, zend_string *(*php_writer)(HashTable *variables))
{
    icecore_stage *stage = ice_stage(ICE_STAGE_SESSION_WRITE, 0);
    zend_string *bytes = NULL;
    ice_context *ctx;
    ice_walk_result walk_result;
    if (!stage)
        return NULL;
    if (UNEXPECTED(PG(serialize_precision) != -1))
        return php_writer(Z_ARRVAL_P(variables));
    ctx = ice_context_acquire();
    walk_result = ice_walk(ctx, variables, ICE_FOR_SESSION, stage);
    if (walk_result == ICE_DONE)
        bytes = write_tape(ctx, stage);
    ice_context_release(ctx);
    return walk_result == ICE_NEEDS_PHP ? php_writer(Z_ARRVAL_P(variables)) : bytes;
}

/* Lets PHP's own serializer write a value with `C:` objects. Their classes call serialize() for
 * payloads. A link names its target by the number of a value, and PHP continues to count the
 * values in these payloads. */
static zend_string *
write_by_php(zval *value)
{
    php_serialize_data_t data;
    smart_str text = { 0 };
    PHP_VAR_SERIALIZE_INIT(data);
    php_var_serialize(&text, value, &data);
    PHP_VAR_SERIALIZE_DESTROY(data);
    if (!EG(exception))
        return smart_str_extract(&text);
    smart_str_free(&text);
    return NULL;
}

/* Lets PHP's own var_export write a value. */
static zend_string *
export_by_php(zval *value)
{
    smart_str text = { 0 };
    php_var_export_ex(value, 1, &text);
    smart_str_0(&text);
    if (!EG(exception))
        return smart_str_extract(&text);
    smart_str_free(&text);
    return NULL;
}

zend_string *
ice_write(zval *value, int stage_id, uint8_t purpose)
{
    icecore_stage *stage = ice_stage(stage_id, stage_id >= ICE_STAGE_PHP_DEFAULT ? ICE_DEFAULT_DEPTH : 0);
    zend_string *bytes = NULL;
    ice_context *ctx;
    ice_walk_result walk_result;
    if (!stage)
        return NULL;
    /* PHP's own serializer is active, and no hook has raised the lock. So a class writes its
     * payload, and PHP must continue to count the values. */
    if (UNEXPECTED(purpose == ICE_FOR_SERIALIZE && BG(serialize).level > 0 && !BG(serialize_lock)))
        return write_by_php(value);
    /* The engine writes floats only with the fewest digits, which is serialize_precision -1. */
    if (UNEXPECTED(PG(serialize_precision) != -1 && purpose != ICE_FOR_IGBINARY))
        return purpose == ICE_FOR_EXPORT ? export_by_php(value) : write_by_php(value);
    ctx = ice_context_acquire();
    walk_result = ice_walk(ctx, value, purpose, stage);
    if (EXPECTED(walk_result == ICE_DONE))
        bytes = write_tape(ctx, stage);
    ice_context_release(ctx);
    if (UNEXPECTED(walk_result == ICE_NEEDS_PHP))
        return purpose == ICE_FOR_EXPORT ? export_by_php(value) : write_by_php(value);
    return bytes;
}

/* Copies the output of the engine to a string, and frees it. Both count in memory_limit while
 * they exist. If PHP has no memory for the copy, it leaves by a jump. So the output is in a
 * global, and the end of the request frees it. */
static zend_string *
take_buffer(icecore_buffer *out)
{
    ice_context *ctx = ice_context_acquire();
    zend_string *result;
    ICE_G(convert_output) = *out;
    ice_memory_count_engine(ctx, out->len);
    ice_memory_check(out->len);
    result = zend_string_init((const char *)out->bytes, out->len, 0);
    icecore_buffer_free(&ICE_G(convert_output));
    ice_context_release(ctx);
    return result;
}

zend_string *
ice_convert_stage(icecore_stage *from, zend_string *bytes, const icecore_stage *to, bool keeps_losses,
                  zend_class_entry *thrown)
{
    icecore_buffer out = { NULL, 0, 0 };
    icecore_error error;
    for (;;) {
        const uint64_t available = ice_memory_available();
        ice_context *ctx = ice_context_acquire();
        size_t loss_count = 0;
        uint32_t kind;
        icecore_stage_memory(from, available);
        kind = keeps_losses
                 ? icecore_convert_with_losses(ctx->pooled.engine, from, (const uint8_t *)ZSTR_VAL(bytes),
                                               ZSTR_LEN(bytes), to, &out, &loss_count, &error)
                 : icecore_convert_stages(from, (const uint8_t *)ZSTR_VAL(bytes), ZSTR_LEN(bytes), to, &out, &error);
        icecore_stage_memory(from, UINT64_MAX);
        if (kind == ICECORE_OK && keeps_losses)
            ice_losses_keep(ctx, loss_count);
        ice_context_release(ctx);
        if (kind == ICECORE_OK)
            return take_buffer(&out);
        if (!ice_memory_was_exceeded(&error, available)) {
            ice_throw_error(thrown, &error);
            return NULL;
        }
        ice_memory_free_or_fail(available, (size_t)available + ZEND_MM_ALIGNMENT);
    }
}

zend_string *
ice_convert_spec(zend_string *bytes, zend_string *from, zend_string *to, bool keeps_losses, icecore_error *error)
{
    icecore_buffer out = { NULL, 0, 0 };
    for (;;) {
        const uint64_t available = ice_memory_available();
        ice_context *ctx = ice_context_acquire();
        size_t loss_count = 0;
        const uint32_t kind = icecore_convert_within(
            keeps_losses ? ctx->pooled.engine : NULL, (const uint8_t *)ZSTR_VAL(bytes), ZSTR_LEN(bytes),
            from ? ZSTR_VAL(from) : NULL, ZSTR_VAL(to), available, &out, &loss_count, error);
        if (kind == ICECORE_OK && keeps_losses)
            ice_losses_keep(ctx, loss_count);
        ice_context_release(ctx);
        if (kind == ICECORE_OK)
            return take_buffer(&out);
        if (!ice_memory_was_exceeded(error, available))
            return NULL;
        ice_memory_free_or_fail(available, (size_t)available + ZEND_MM_ALIGNMENT);
    }
}

zend_string *
ice_write_any(zval *value, icecore_stage *stage, bool keeps_losses)
{
    zend_string *text, *bytes;
    if (strcmp(icecore_stage_spec(stage), "php") == 0)
        return ice_write(value, ICE_STAGE_PHP_DEFAULT, ICE_FOR_SERIALIZE);
    if (strcmp(icecore_stage_spec(stage), "igbinary") == 0)
        return ice_write(value, ICE_STAGE_IGBINARY_DEFAULT, ICE_FOR_IGBINARY);
    text = ice_write(value, ICE_STAGE_PHP_DEFAULT, ICE_FOR_SERIALIZE);
    if (!text)
        return NULL;
    bytes = ice_convert_stage(ice_stage(ICE_STAGE_PHP_DEFAULT, ICE_DEFAULT_DEPTH), text, stage, keeps_losses,
                              ice_encode_exception);
    zend_string_release(text);
    return bytes;
}
