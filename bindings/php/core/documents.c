#include "core/documents.h"
#include "core/memory.h"
#include "core/payloads.h"
#include "core/scan.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_var.h"

/* ---- PHP's messages about bad text ------------------------------------- */

#if PHP_VERSION_ID >= 80300
#  define BAD_TEXT E_WARNING
#else
#  define BAD_TEXT E_NOTICE
#endif

static void
say_bad_text(zend_long offset, size_t len)
{
    if (!EG(exception) && !ICE_IS_OUT_OF_MEMORY)
        php_error_docref(NULL, BAD_TEXT, "Error at offset " ZEND_LONG_FMT " of %zd bytes", offset, len);
}

static void
say_error(const icecore_error *error, zend_string *text, zend_long depth)
{
    zend_long offset = ice_php_offset(error), said;
    const char *name;
    size_t len;
    bool is_wide;
    switch (error->detail) {
    case ICECORE_DETAIL_DEPTH:
        offset = (zend_long)ice_scan_behind(text, (size_t)offset);
        php_error_docref(NULL, E_WARNING,
                         "Maximum depth of " ZEND_LONG_FMT " exceeded. The depth limit can be changed using the "
                         "max_depth unserialize() option or the unserialize_max_depth ini setting",
                         depth);
        break;
    case ICECORE_DETAIL_NO_CASE:
        if ((name = ice_scan_enum(text, (size_t)offset, &len)) && !memchr(name, ':', len))
            php_error_docref(NULL, E_WARNING, "Invalid enum name '%.*s' (missing colon)", (int)len, name);
        break;
    case ICECORE_DETAIL_NO_COUNT: zend_error(E_WARNING, "Bad unserialize data"); break;
    case ICECORE_DETAIL_WIDE_COUNT: ice_say_wide(1); break;
    case ICECORE_DETAIL_SHORT_PAYLOAD:
        if (!ice_scan_payload(text, (size_t)offset, &said, &is_wide))
            break;
        ice_say_wide(is_wide);
        zend_error(E_WARNING, "Insufficient data for unserializing - " ZEND_LONG_FMT " required, " ZEND_LONG_FMT " present",
                   said, (zend_long)(ZSTR_LEN(text) - (size_t)offset));
        break;
    case ICECORE_DETAIL_NO_KEY:
    case ICECORE_DETAIL_NO_VALUE:
        /* A container ends too early. */
        if (offset == error->offset && (size_t)offset < ZSTR_LEN(text) && ZSTR_VAL(text)[offset] == '}')
            php_error_docref(NULL, BAD_TEXT, "Unexpected end of serialized data");
        break;
    default: break;
    }
    say_bad_text(offset, ZSTR_LEN(text));
}

/* ---- reading ------------------------------------------------------------ */

/* Lets PHP itself read a document with objects that their class froze (`C:`), and build
 * the allowed classes: such documents share PHP's count of values with the data that the
 * class reads. */
static void
read_by_php(zend_string *text, HashTable *classes, zend_long depth, const char *function, zval *result)
{
    zval options, names, levels;
    zend_string *name;
    array_init(&options);
    array_init(&names);
    ZEND_HASH_FOREACH_STR_KEY(classes, name) {
        zval value;
        ZVAL_STR_COPY(&value, name);
        add_next_index_zval(&names, &value);
    } ZEND_HASH_FOREACH_END();
    zend_hash_str_add_new(Z_ARRVAL(options), ZEND_STRL("allowed_classes"), &names);
    ZVAL_LONG(&levels, depth);
    zend_hash_str_add_new(Z_ARRVAL(options), ZEND_STRL("max_depth"), &levels);
    php_unserialize_with_options(result, ZSTR_VAL(text), ZSTR_LEN(text), Z_ARRVAL(options), function);
    zval_ptr_dtor(&options);
}

/* The same, but classes in it may pass payloads to unserialize() even if those have
 * links to values outside of them. */
static void
read_with_payloads(zend_string *text, HashTable *classes, zend_long depth, const char *function, zval *result)
{
    HashTable *before = ICE_G(payloads), *payloads = NULL;
    if (zend_memnstr(ZSTR_VAL(text), "r:", 2, ZSTR_VAL(text) + ZSTR_LEN(text)) ||
        zend_memnstr(ZSTR_VAL(text), "R:", 2, ZSTR_VAL(text) + ZSTR_LEN(text))) {
        payloads = zend_new_array(8);
        ice_scan_payloads(text, payloads);
    }
    ICE_G(payloads) = payloads;
    read_by_php(text, classes, depth, function, result);
    ICE_G(payloads) = before;
    if (payloads)
        zend_array_destroy(payloads);
}

/* Passes a text to PHP's own reader after checking it to its end, including the data
 * that classes froze themselves. */
static bool
check_and_read(zend_string *text, const ice_allowed *allowed, bool keeps_list, zend_long depth, const char *function,
               zval *result)
{
    HashTable *names = zend_new_array(8);
    icecore_error error;
    ice_payloads found = ice_payloads_check_text(text, allowed, depth, names, &error);
    /* With links to values outside of it, a payload is well-formed only inside of its
     * document. It was checked there. */
    if (found == ICE_PAYLOADS_MALFORMED && ICE_G(payloads) && zend_hash_exists(ICE_G(payloads), text)) {
        zend_hash_clean(names);
        ice_scan_classes(ZSTR_VAL(text), ZSTR_LEN(text), names);
        found = keeps_list || ice_policy_check_names(allowed, names) ? ICE_PAYLOADS_FINE : ICE_PAYLOADS_THROWN;
    }
    if (found == ICE_PAYLOADS_MALFORMED) {
        ice_say_wide(ice_scan_overflows(text, MIN((size_t)ice_php_offset(&error), ZSTR_LEN(text))));
        say_error(&error, text, depth);
    } else if (found == ICE_PAYLOADS_RECORDS)
        say_bad_text(0, ZSTR_LEN(text));
    else if (found == ICE_PAYLOADS_FINE && keeps_list)
        php_unserialize_with_options(result, ZSTR_VAL(text), ZSTR_LEN(text), NULL, function);
    else if (found == ICE_PAYLOADS_FINE)
        read_with_payloads(text, names, depth, function, result);
    zend_array_destroy(names);
    return found == ICE_PAYLOADS_FINE;
}

/* Reads a payload for a class, while PHP reads the document around it: the count of
 * values for links continues. Without a list of its own the call uses that of the outer
 * one, which is PHP's rule. */
static bool
read_nested(zend_string *text, const ice_read_settings *settings, zend_long depth, const char *function, zval *result)
{
    const bool has_own = settings->classes.has_list || settings->classes.own;
    HashTable *outer = php_var_unserialize_get_allowed_classes(BG(unserialize).data);
    const ice_allowed of_outer = { .has_list = true, .list = outer };
    if (has_own || !outer)
        return check_and_read(text, &settings->classes, false, depth, function, result);
    return check_and_read(text, &of_outer, true, depth, function, result);
}

/* Unwraps the value, if links made a reference of it. */
static void
finish(zval *result)
{
    if (Z_ISREF_P(result))
        zend_unwrap_reference(result);
}

#if PHP_VERSION_ID >= 80400
/* PHP warns of each. */
static void
say_escaped(zend_string *text, size_t len)
{
    uint32_t count = ice_scan_escaped(text, len);
    while (count-- && !EG(exception))
        php_error_docref(NULL, E_DEPRECATED, "Unserializing the 'S' format is deprecated");
}
#endif

static bool
build(ice_context *ctx, zend_string *text, ice_read_settings *settings, zend_long depth, bool is_wide,
      const char *function, zval *result)
{
    ice_scan scan;
    bool opaque = false;
    if (!ctx->view.is_simple && !ice_policy_check(ctx, &settings->classes, &opaque))
        return false;
    if (UNEXPECTED(opaque)) {
        if (!ice_payloads_has_records(ctx, &settings->classes))
            return check_and_read(text, &settings->classes, false, depth, function, result);
        if (!ice_payloads_check_view(ctx, &settings->classes))
            return false;
    }
    if (UNEXPECTED(is_wide)) {
        ice_scan_begin(&scan, &ctx->view);
        settings->wide = &scan;
    }
#if PHP_VERSION_ID >= 80400
    say_escaped(text, ctx->view.consumed);
    if (EG(exception))
        return false;
#endif
    if (!ice_build(ctx, settings, result)) {
        say_bad_text((zend_long)ice_scan_offset(&ctx->view, ctx->failed, ctx->failed_behind), ZSTR_LEN(text));
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
    icecore_stage *stage = ice_stage(ICE_PHP, depth);
    ice_context *ctx;
    icecore_error error;
    bool done = false, is_wide = false, failed;
    if (!stage)
        return false;
    if (UNEXPECTED(BG(unserialize).level > 0 && !BG(serialize_lock)))
        return read_nested(text, settings, depth, function, result);
    ctx = ice_checkout();
    failed = !ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, &error);
    if (UNEXPECTED(failed) && error.detail == ICECORE_DETAIL_WIDE_INTEGER && (stage = ice_stage(ICE_PHP_LENIENT, depth))) {
        is_wide = true;
        failed = !ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), ICECORE_EACH, &error);
    }
    if (EXPECTED(!failed))
        done = build(ctx, text, settings, depth, is_wide, function, result);
    else if (error.detail == ICECORE_DETAIL_OPAQUE_LINK) {
        done = check_and_read(text, &settings->classes, false, depth, function, result);
        ice_checkin(ctx);
        return done;
    } else {
        if (is_wide)
            ice_say_wide(ice_scan_overflows(text, MIN((size_t)ice_php_offset(&error), ZSTR_LEN(text))));
        say_error(&error, text, depth);
    }
    ice_checkin(ctx);
    if (done)
        finish(result);
    return done;
}

/* Checks and builds the document that was read. */
static bool
build_checked(ice_context *ctx, const ice_read_settings *settings, zval *result)
{
    bool opaque;
    if (!ice_policy_check(ctx, &settings->classes, &opaque))
        return false;
    if (opaque && !ice_payloads_check_view(ctx, &settings->classes))
        return false;
    if (ice_build(ctx, settings, result))
        return true;
    ice_build_free(ctx, result);
    if (!EG(exception) && !ICE_IS_OUT_OF_MEMORY) {
        char path[512];
        icecore_path(ctx->warm.engine, ctx->view.input, ctx->view.input_len, ctx->failed, path, sizeof path);
        ice_throw(ice_decode_exception, "value", -1, path,
                  zend_strpprintf(0, "Icecore: PHP refuses the value at %s", path));
    }
    return false;
}

bool
ice_read(icecore_stage *stage, zend_string *bytes, const ice_read_settings *settings, zval *result)
{
    ice_context *ctx = ice_checkout();
    icecore_error error;
    bool done = false;
    ctx->expands = true;
    if (!ice_memory_read(ctx, stage, ZSTR_VAL(bytes), ZSTR_LEN(bytes), 0, &error))
        ice_throw_error(ice_decode_exception, &error);
    else
        done = build_checked(ctx, settings, result);
    ice_checkin(ctx);
    if (done)
        finish(result);
    return done;
}

bool
ice_read_session(zend_string *text, ice_read_settings *settings, zval *variables)
{
    icecore_stage *stage = ice_stage(ICE_SESSION, BG(unserialize_max_depth));
    ice_context *ctx;
    icecore_error error;
    bool done = false;
    if (!stage)
        return false;
    ctx = ice_checkout();
    if (ice_memory_read(ctx, stage, ZSTR_VAL(text), ZSTR_LEN(text), 0, &error))
        done = build_checked(ctx, settings, variables);
    ice_checkin(ctx);
    return done;
}

void
ice_read_warning(int which, zend_string *bytes, const ice_read_settings *settings, zend_long depth, zval *result)
{
    icecore_stage *stage = ice_stage(which, depth);
    ice_context *ctx;
    icecore_error error;
    zval built;
    if (!stage)
        return;
    ctx = ice_checkout();
    ZVAL_UNDEF(&built);
    if (!ice_memory_read(ctx, stage, ZSTR_VAL(bytes), ZSTR_LEN(bytes), 0, &error)) {
        ice_line line;
        php_error_docref(NULL, E_WARNING, "%s", ice_message(&error, NULL, 0, &line));
    } else
        build_checked(ctx, settings, &built);
    ice_checkin(ctx);
    if (Z_ISUNDEF(built))
        return;
    finish(&built);
    ZVAL_COPY_VALUE(result, &built);
}

/* ---- writing ------------------------------------------------------------ */

/* The output of a tape of at most this many bytes is not limited by memory_limit. */
#define FEW (32u << 10)

/* Writes the tape within memory_limit, and counts the output. */
static bool
write_within(ice_context *ctx, icecore_stage *stage, icecore_bytes *out, icecore_error *error)
{
    const size_t filled = ctx->tape.node_count * sizeof(icecore_node) + ctx->tape.arena_len;
    const bool is_small = filled <= FEW && !ctx->text.s;
    const uint64_t left = is_small ? UINT64_MAX : ice_memory_left();
    uint32_t kind;
    if (UNEXPECTED(left != UINT64_MAX))
        icecore_stage_memory(stage, left);
    kind = icecore_write(ctx->warm.engine, stage, &ctx->tape, out, NULL, error);
    if (UNEXPECTED(left != UINT64_MAX))
        icecore_stage_memory(stage, UINT64_MAX);
    if (UNEXPECTED(kind != ICECORE_OK)) {
        if (ice_memory_was_short(error, left))
            ice_memory_fail(left, (size_t)left + ZEND_MM_ALIGNMENT);
        return false;
    }
    if (UNEXPECTED(!is_small))
        ice_memory_count(ctx, filled + out->len);
    return true;
}

/* Returns the bytes of the tape; NULL: an exception was thrown. */
static zend_string *
write_tape(ice_context *ctx, icecore_stage *stage)
{
    icecore_error error;
    icecore_bytes out;
    ice_tape_finish(ctx->warm.engine, &ctx->tape);
    if (EXPECTED(write_within(ctx, stage, &out, &error))) {
        ice_memory_need(out.len + (ctx->text.s ? ZSTR_LEN(ctx->text.s) : 0));
        if (EXPECTED(!ctx->text.s))
            return zend_string_init((const char *)out.bytes, out.len, 0);
        smart_str_appendl(&ctx->text, (const char *)out.bytes, out.len);
        return smart_str_extract(&ctx->text);
    }
    ice_throw_error(ice_encode_exception, &error);
    return NULL;
}

zend_string *
ice_write_session(zval *variables, zend_string *(*by_php)(HashTable *variables))
{
    icecore_stage *stage = ice_stage(ICE_SESSION_WRITE, 0);
    zend_string *written = NULL;
    ice_context *ctx;
    ice_walked walked;
    if (!stage)
        return NULL;
    if (UNEXPECTED(PG(serialize_precision) != -1))
        return by_php(Z_ARRVAL_P(variables));
    ctx = ice_checkout();
    walked = ice_walk(ctx, variables, ICE_FOR_SESSION, stage);
    if (walked == ICE_WALKED)
        written = write_tape(ctx, stage);
    ice_checkin(ctx);
    return walked == ICE_LEFT_TO_PHP ? by_php(Z_ARRVAL_P(variables)) : written;
}

/* Lets PHP itself write a value with a class that freezes itself as text: such a class
 * shares PHP's count of values with the data that it writes. */
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
ice_write(zval *value, int which, uint8_t purpose)
{
    icecore_stage *stage = ice_stage(which, which >= ICE_PHP_USUAL ? ICE_USUAL_DEPTH : 0);
    zend_string *written = NULL;
    ice_context *ctx;
    ice_walked walked;
    if (!stage)
        return NULL;
    if (UNEXPECTED(purpose == ICE_FOR_SERIALIZE && BG(serialize).level > 0 && !BG(serialize_lock)))
        return write_by_php(value);
    /* Floats with other digits than the shortest. */
    if (UNEXPECTED(PG(serialize_precision) != -1 && purpose != ICE_FOR_IGBINARY))
        return purpose == ICE_FOR_EXPORT ? export_by_php(value) : write_by_php(value);
    ctx = ice_checkout();
    walked = ice_walk(ctx, value, purpose, stage);
    if (EXPECTED(walked == ICE_WALKED))
        written = write_tape(ctx, stage);
    ice_checkin(ctx);
    if (UNEXPECTED(walked == ICE_LEFT_TO_PHP))
        return purpose == ICE_FOR_EXPORT ? export_by_php(value) : write_by_php(value);
    return written;
}

/* Returns the engine's bytes as a string. Both count in memory_limit while they exist. */
static zend_string *
take_buffer(icecore_buffer *out)
{
    ice_context *ctx = ice_checkout();
    zend_string *result;
    ICE_G(taken) = *out;
    ice_memory_count(ctx, out->len);
    ice_memory_need(out->len);
    result = zend_string_init((const char *)out->bytes, out->len, 0);
    icecore_buffer_free(&ICE_G(taken));
    ice_checkin(ctx);
    return result;
}

zend_string *
ice_converted(icecore_stage *from, zend_string *bytes, const icecore_stage *to, zend_class_entry *thrown)
{
    icecore_buffer out = { NULL, 0, 0 };
    icecore_error error;
    for (;;) {
        const uint64_t left = ice_memory_left();
        uint32_t kind;
        icecore_stage_memory(from, left);
        kind = icecore_convert_stages(from, (const uint8_t *)ZSTR_VAL(bytes), ZSTR_LEN(bytes), to, &out, &error);
        icecore_stage_memory(from, UINT64_MAX);
        if (kind == ICECORE_OK)
            return take_buffer(&out);
        if (!ice_memory_was_short(&error, left)) {
            ice_throw_error(thrown, &error);
            return NULL;
        }
        ice_memory_fail(left, (size_t)left + ZEND_MM_ALIGNMENT);
    }
}

zend_string *
ice_convert(zend_string *bytes, zend_string *from, zend_string *to, icecore_error *error)
{
    icecore_buffer out = { NULL, 0, 0 };
    for (;;) {
        const uint64_t left = ice_memory_left();
        if (icecore_convert_within((const uint8_t *)ZSTR_VAL(bytes), ZSTR_LEN(bytes), from ? ZSTR_VAL(from) : NULL,
                                   ZSTR_VAL(to), left, &out, error) == ICECORE_OK)
            return take_buffer(&out);
        if (!ice_memory_was_short(error, left))
            return NULL;
        ice_memory_fail(left, (size_t)left + ZEND_MM_ALIGNMENT);
    }
}

zend_string *
ice_write_any(zval *value, icecore_stage *stage)
{
    zend_string *text, *written;
    if (strcmp(icecore_stage_spec(stage), "php") == 0)
        return ice_write(value, ICE_PHP_USUAL, ICE_FOR_SERIALIZE);
    if (strcmp(icecore_stage_spec(stage), "igbinary") == 0)
        return ice_write(value, ICE_IGBINARY_USUAL, ICE_FOR_IGBINARY);
    text = ice_write(value, ICE_PHP_USUAL, ICE_FOR_SERIALIZE);
    if (!text)
        return NULL;
    written = ice_converted(ice_stage(ICE_PHP_USUAL, ICE_USUAL_DEPTH), text, stage, ice_encode_exception);
    zend_string_release(text);
    return written;
}
