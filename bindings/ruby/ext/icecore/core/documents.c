/* One document, read or written by a stage. */
#include "core/documents.h"

/* ---- reading ----------------------------------------------------------------------- */

/* Replaces the source by a frozen copy. Code of the program will run while the document is built,
 * and could change the original, in which the view has the bytes of strings. */
static void
copy_source(ice_reading *reading)
{
    icecore_view *view = &reading->ctx->view;
    const uint8_t *before = (const uint8_t *)RSTRING_PTR(reading->settings.source);
    reading->settings.source = rb_str_new_frozen(reading->settings.source);
    /* If the stage unpacked the data, the view has other bytes, which stay as they are. */
    if (view->input == before)
        view->input = (const uint8_t *)RSTRING_PTR(reading->settings.source);
}

/* For rb_ensure: reads, checks and builds a document. */
static VALUE
read_body(VALUE argument)
{
    ice_reading *reading = (ice_reading *)argument;
    ice_read_settings *settings = &reading->settings;
    ice_context *ctx;
    icecore_error error;
    VALUE value, warnings = Qnil;
    bool may_run_foreign_code = false;
    settings->rules.is_foreign = reading->convert_to_marshal != NULL;
    if (!NIL_P(reading->classes) || !NIL_P(reading->rename))
        ice_class_rules_init(&settings->rules, reading->classes, reading->rename);
    if (reading->convert_to_marshal) {
        value = reading->convert_to_marshal(reading);
        if (value != Qundef)
            return value;
    }
    ctx = reading->ctx = ice_context_acquire();
    reading->call = ctx->call;
    if (icecore_read(ctx->pooled.engine, reading->stage, (const uint8_t *)RSTRING_PTR(settings->source),
                     RSTRING_LEN(settings->source), reading->may_trail ? ICECORE_EACH : 0, &ctx->view, &error))
        ice_raise_error(&error, RSTRING_PTR(settings->source), RSTRING_LEN(settings->source), reading->is_stream);
    if (RTEST(ruby_verbose) && reading->stage == ice_marshal_stage() && RSTRING_PTR(settings->source)[1] != 8) {
        copy_source(reading);
        rb_warn("incompatible marshal file format (can be read)\n\tformat version 4.8 required; %d.%d given", 4,
                RSTRING_PTR(settings->source)[1]);
        ice_check_call(ctx, reading->call);
    }
    if (reading->only_refused)
        return ice_policy_refused(ctx, &settings->rules);
    if (!ctx->view.is_simple)
        may_run_foreign_code = ice_policy_check(ctx, &settings->rules, &warnings);
    /* Hooks and the proc are code of the program. Without them, nothing can change the source. */
    if (may_run_foreign_code || !NIL_P(settings->proc))
        copy_source(reading);
    if (ICE_UNLIKELY(!NIL_P(warnings))) {
        ice_policy_issue_warnings(warnings);
        ice_check_call(ctx, reading->call);
    }
    value = ice_build(ctx, settings);
    RB_GC_GUARD(settings->source);
    return value;
}

/* For rb_ensure: releases what read_body acquired. */
static VALUE
read_end(VALUE argument)
{
    ice_reading *reading = (ice_reading *)argument;
    ice_class_rules_free(&reading->settings.rules);
    if (reading->ctx)
        ice_context_release(reading->ctx, reading->call);
    return Qnil;
}

VALUE
ice_read(ice_reading *reading)
{
    ice_class_rules *rules = &reading->settings.rules;
    rules->names = rules->exact_names = rules->cached_classes = Qnil;
    rules->edition = 0;
    return rb_ensure(read_body, (VALUE)reading, read_end, (VALUE)reading);
}

/* ---- writing -------------------------------------------------------------------------- */

typedef struct {
    const icecore_stage *stage;
    VALUE value;
    long limit;
    ice_context *ctx;
    uint32_t call;
} ice_writing;

/* For rb_ensure: walks a value, and writes the tape. */
static VALUE
write_body(VALUE argument)
{
    ice_writing *writing = (ice_writing *)argument;
    ice_context *ctx = writing->ctx = ice_context_acquire();
    icecore_bytes out;
    icecore_error error;
    writing->call = ctx->call;
    ice_walk(ctx, writing->value, writing->limit);
    if (icecore_write(ctx->pooled.engine, writing->stage, &ctx->tape, &out, NULL, &error))
        ice_raise_error(&error, NULL, 0, false);
    return rb_str_new((const char *)out.bytes, out.len);
}

/* For rb_ensure: releases what write_body acquired. */
static VALUE
write_end(VALUE argument)
{
    ice_writing *writing = (ice_writing *)argument;
    if (writing->ctx)
        ice_context_release(writing->ctx, writing->call);
    return Qnil;
}

VALUE
ice_write(const icecore_stage *stage, VALUE value, long limit)
{
    ice_writing writing = { stage ? stage : ice_marshal_stage_for_writing(), value, limit, NULL, 0 };
    return rb_ensure(write_body, (VALUE)&writing, write_end, (VALUE)&writing);
}
