/* One document, read or written by a stage. */
#include "core/documents.h"

/* ---- reading ----------------------------------------------------------------------- */

/* Code of the program may run: from here on the bytes are in a string that nobody else
 * has. */
static void
pin(ice_reading *reading)
{
    icecore_view *view = &reading->ctx->view;
    const uint8_t *before = (const uint8_t *)RSTRING_PTR(reading->settings.source);
    reading->settings.source = rb_str_new_frozen(reading->settings.source);
    if (view->input == before)
        view->input = (const uint8_t *)RSTRING_PTR(reading->settings.source);
}

static VALUE
read_body(VALUE argument)
{
    ice_reading *reading = (ice_reading *)argument;
    ice_read_settings *settings = &reading->settings;
    ice_context *ctx;
    icecore_error error;
    VALUE value, said = Qnil;
    bool has_foreign = false;
    settings->classes.is_foreign = reading->prepare != NULL;
    if (!NIL_P(reading->classes) || !NIL_P(reading->rename))
        ice_allowed_begin(&settings->classes, reading->classes, reading->rename);
    if (reading->prepare) {
        value = reading->prepare(reading);
        if (value != Qundef)
            return value;
    }
    ctx = reading->ctx = ice_checkout();
    reading->call = ctx->call;
    if (icecore_read(ctx->warm.engine, reading->stage, (const uint8_t *)RSTRING_PTR(settings->source),
                     RSTRING_LEN(settings->source), reading->may_trail ? ICECORE_EACH : 0, &ctx->view, &error))
        ice_raise_error(&error, RSTRING_PTR(settings->source), RSTRING_LEN(settings->source), reading->is_stream);
    if (RTEST(ruby_verbose) && reading->stage == ice_marshal_stage() && RSTRING_PTR(settings->source)[1] != 8) {
        pin(reading);
        rb_warn("incompatible marshal file format (can be read)\n\tformat version 4.8 required; %d.%d given", 4,
                RSTRING_PTR(settings->source)[1]);
        ice_check_call(ctx, reading->call);
    }
    if (reading->only_refused)
        return ice_policy_refused(ctx, &settings->classes);
    if (!ctx->view.is_simple)
        has_foreign = ice_policy_check(ctx, &settings->classes, &said);
    if (has_foreign || !NIL_P(settings->proc))
        pin(reading);
    if (ICE_UNLIKELY(!NIL_P(said))) {
        ice_policy_say(said);
        ice_check_call(ctx, reading->call);
    }
    value = ice_build(ctx, settings);
    RB_GC_GUARD(settings->source);
    return value;
}

static VALUE
read_end(VALUE argument)
{
    ice_reading *reading = (ice_reading *)argument;
    ice_allowed_end(&reading->settings.classes);
    if (reading->ctx)
        ice_checkin(reading->ctx, reading->call);
    return Qnil;
}

VALUE
ice_read(ice_reading *reading)
{
    ice_allowed *classes = &reading->settings.classes;
    classes->list = classes->exact = classes->classes = Qnil;
    classes->edition = 0;
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

static VALUE
write_body(VALUE argument)
{
    ice_writing *call = (ice_writing *)argument;
    ice_context *ctx = call->ctx = ice_checkout();
    icecore_bytes out;
    icecore_error error;
    call->call = ctx->call;
    ice_walk(ctx, call->value, call->limit);
    if (icecore_write(ctx->warm.engine, call->stage, &ctx->tape, &out, NULL, &error))
        ice_raise_error(&error, NULL, 0, false);
    return rb_str_new((const char *)out.bytes, out.len);
}

static VALUE
write_end(VALUE argument)
{
    ice_writing *call = (ice_writing *)argument;
    if (call->ctx)
        ice_checkin(call->ctx, call->call);
    return Qnil;
}

VALUE
ice_write(const icecore_stage *stage, VALUE value, long limit)
{
    ice_writing call = { stage ? stage : ice_marshal_stage_for_writing(), value, limit, NULL, 0 };
    return rb_ensure(write_body, (VALUE)&call, write_end, (VALUE)&call);
}
