/* What a format could not express: the keyword `losses` of encode and convert.
 *
 * The losses are collected while the context has them, and handled after it is released, because a warning may run
 * code of the program. */
#include "formats/formats.h"

static VALUE loss_class;

/* How losses are handled. An Array receives them. Without the keyword there are warnings too, but not about symbols:
 * nearly every Hash of a program has some, and all other languages have strings in their place. */
typedef enum { WARN_OF_MOST, WARN, RAISE, IGNORE, APPEND } handling;

/* Parses the keyword; `losses` is nil if it is not given. */
static handling
losses_option(VALUE losses)
{
    VALUE word = losses;
    if (NIL_P(losses))
        return WARN_OF_MOST;
    if (RB_TYPE_P(losses, T_ARRAY))
        return APPEND;
    if (RB_TYPE_P(word, T_STRING))
        word = rb_str_intern(word);
    if (word == ID2SYM(rb_intern("warn")))
        return WARN;
    if (word == ID2SYM(rb_intern("raise")))
        return RAISE;
    if (word == ID2SYM(rb_intern("ignore")))
        return IGNORE;
    ice_raise(ice_argument_error, "usage", "", "losses: must be :warn, :raise, :ignore or an Array, not %+" PRIsVALUE,
              losses);
}

typedef struct {
    VALUE bytes;
    const icecore_stage *from, *to;
    bool collects_losses;
    VALUE losses; /* an Array, or Qnil if there are none */
    ice_context *ctx;
    uint32_t call;
    icecore_buffer out;
} conversion;

static VALUE
utf8_string(icecore_bytes text)
{
    return rb_utf8_str_new((const char *)text.bytes, text.len);
}

/* Returns an Array of the losses that the context has. */
static VALUE
collect_losses(const conversion *c, size_t count)
{
    VALUE list = rb_ary_new();
    size_t i;
    for (i = 0; i < count; i++) {
        icecore_loss_part part;
        if (icecore_loss_parts(c->ctx->pooled.engine, i, &part) == ICECORE_OK)
            rb_ary_push(list, rb_struct_new(loss_class, utf8_string(part.kind), ULL2NUM(part.count),
                                            utf8_string(part.path), utf8_string(part.text)));
    }
    return list;
}

/* For rb_ensure: converts the bytes. */
static VALUE
convert_body(VALUE argument)
{
    conversion *c = (conversion *)argument;
    icecore_error error;
    const uint8_t *bytes = (const uint8_t *)RSTRING_PTR(c->bytes);
    size_t count = 0;
    uint32_t kind;
    if (c->collects_losses) {
        c->ctx = ice_context_acquire();
        c->call = c->ctx->call;
        kind = icecore_convert_with_losses(c->ctx->pooled.engine, c->from, bytes, RSTRING_LEN(c->bytes), c->to, &c->out,
                                           &count, &error);
    } else
        kind = icecore_convert_stages(c->from, bytes, RSTRING_LEN(c->bytes), c->to, &c->out, &error);
    if (kind)
        ice_raise_error(&error, NULL, 0, false);
    if (count)
        c->losses = collect_losses(c, count);
    return rb_str_new((const char *)c->out.bytes, c->out.len);
}

/* For rb_ensure: releases what convert_body acquired. */
static VALUE
convert_end(VALUE argument)
{
    conversion *c = (conversion *)argument;
    icecore_buffer_free(&c->out);
    if (c->ctx)
        ice_context_release(c->ctx, c->call);
    return Qnil;
}

static bool
is_symbol_loss(VALUE loss)
{
    VALUE kind = RSTRUCT_GET(loss, 0);
    return RSTRING_LEN(kind) == 6 && memcmp(RSTRING_PTR(kind), "symbol", 6) == 0;
}

/* Raises or warns because of losses, or appends them to the program's Array. */
static void
report_losses(VALUE list, VALUE losses, handling how, const icecore_stage *to)
{
    long i;
    if (how == RAISE) {
        VALUE first = RARRAY_AREF(list, 0), path = RSTRUCT_GET(first, 2), texts = rb_ary_new();
        for (i = 0; i < RARRAY_LEN(list); i++)
            rb_ary_push(texts, RSTRUCT_GET(RARRAY_AREF(list, i), 3));
        texts = rb_ary_join(texts, rb_str_new_cstr("; "));
        ice_raise(ice_argument_error, "unrepresentable", StringValueCStr(path), "something is lost: %" PRIsVALUE, texts);
    }
    for (i = 0; i < RARRAY_LEN(list); i++) {
        VALUE loss = RARRAY_AREF(list, i);
        if (how == APPEND)
            rb_ary_push(losses, loss);
        else if (how == WARN || !is_symbol_loss(loss))
            rb_warn("Icecore: lost in %s: %" PRIsVALUE, icecore_stage_format(to), RSTRUCT_GET(loss, 3));
    }
}

void
ice_check_losses_option(VALUE losses)
{
    losses_option(losses);
}

VALUE
ice_convert(VALUE bytes, const icecore_stage *from, const icecore_stage *to, VALUE losses)
{
    const handling how = losses_option(losses);
    conversion c = { .bytes = bytes, .from = from, .to = to, .collects_losses = how != IGNORE, .losses = Qnil };
    VALUE text = rb_ensure(convert_body, (VALUE)&c, convert_end, (VALUE)&c);
    if (!NIL_P(c.losses))
        report_losses(c.losses, losses, how, to);
    RB_GC_GUARD(bytes);
    return text;
}

/* The method `Icecore::Loss#to_s`. */
static VALUE
loss_to_s(VALUE self)
{
    return RSTRUCT_GET(self, 3);
}

void
ice_losses_init(void)
{
    loss_class = rb_struct_define_under(ice_module, "Loss", "kind", "count", "path", "text", NULL);
    rb_define_method(loss_class, "to_s", loss_to_s, 0);
}
