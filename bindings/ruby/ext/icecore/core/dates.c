/* Reads the bytes that Date._load gets, with the engine instead of Ruby's own reader. */
#include "core/documents.h"
#include "core/nested.h"

typedef struct {
    VALUE source;
    ice_build_function build;
    ice_context *ctx;
    uint32_t call;
} date_reading;

/* For rb_ensure: reads the bytes, checks them and builds the fields. */
static VALUE
read_date(VALUE argument)
{
    date_reading *reading = (date_reading *)argument;
    ice_context *ctx = reading->ctx = ice_context_acquire();
    const char *bytes = RSTRING_PTR(reading->source);
    const size_t len = RSTRING_LEN(reading->source);
    ice_read_settings settings = { .proc = Qnil, .source = reading->source };
    icecore_error error;
    reading->call = ctx->call;
    settings.rules.names = settings.rules.exact_names = settings.rules.cached_classes = Qnil;
    settings.rules.otherwise = ICECORE_ASK_ON;
    if (icecore_read(ctx->pooled.engine, ice_marshal_stage(), (const uint8_t *)bytes, len, ICECORE_EACH, &ctx->view,
                     &error))
        ice_raise_error(&error, bytes, len, false);
    if (!ice_has_date_fields(&ctx->view))
        ice_raise(ice_type_error, "malformed", "", "invalid data of a date: expected an array of numbers");
    /* Only Rational can be in these fields. The result is not needed: the call marks the entry of
     * Rational as one of Ruby's own classes, and the build needs that mark. */
    ice_policy_refused(ctx, &settings.rules);
    return reading->build(ctx, &settings);
}

/* For rb_ensure: releases the context. */
static VALUE
release_date(VALUE argument)
{
    date_reading *reading = (date_reading *)argument;
    if (reading->ctx)
        ice_context_release(reading->ctx, reading->call);
    return Qnil;
}

VALUE
ice_date_fields(VALUE text, ice_build_function build)
{
    date_reading reading = { rb_str_new_frozen(text), build, NULL, 0 };
    return rb_ensure(read_date, (VALUE)&reading, release_date, (VALUE)&reading);
}
