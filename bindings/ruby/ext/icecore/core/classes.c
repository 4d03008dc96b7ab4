/* Classes by the engine's ids.
 *
 * A name is looked up as Marshal does: constant by constant, private ones too. Autoloads
 * are run, and const_missing is not called. Once in a call it is verified that the
 * constants still lead to the same class. */
#include "core/icecore_ruby.h"

ice_class *
ice_class_slot(ice_context *ctx, uint32_t id)
{
    ice_classes_renew(ctx, ctx->view.classes.generation);
    if (ICE_UNLIKELY(id >= ctx->class_room)) {
        uint32_t room = ctx->class_room ? ctx->class_room : 16;
        while (room <= id)
            room *= 2;
        ctx->classes = ice_host_resize(ctx->classes, room * sizeof *ctx->classes);
        memset(ctx->classes + ctx->class_room, 0, (room - ctx->class_room) * sizeof *ctx->classes);
        ctx->class_room = room;
    }
    return &ctx->classes[id];
}

/* ---- names ---------------------------------------------------------------------- */

NORETURN(static void undefined(const char *name, size_t len, bool is_text));

static void
undefined(const char *name, size_t len, bool is_text)
{
    ice_raise(ice_argument_error, "value", "", "undefined class/module %" PRIsVALUE,
              is_text ? rb_utf8_str_new(name, len) : rb_str_new(name, len));
}

/* Returns the class or module of this name; `steps` receives the constants, unless it is
 * NULL. */
static VALUE
look_up(const char *name, size_t len, bool is_text, ID *steps)
{
    const char *at = name, *end = name + len;
    VALUE found = rb_cObject;
    uint32_t step = 0;
    if (len == 0 || *name == '#')
        ice_raise(ice_argument_error, "value", "", "can't retrieve anonymous class %" PRIsVALUE,
                  rb_utf8_str_new(name, len));
    while (at < end) {
        const char *from = at;
        ID id;
        while (at < end && *at != ':')
            at++;
        id = rb_check_id_cstr(from, at - from, is_text ? rb_utf8_encoding() : rb_ascii8bit_encoding());
        if (at < end) {
            if (end - at < 2 || at[1] != ':')
                undefined(name, at - name, is_text);
            at += 2;
        }
        if (!id || !rb_const_defined_at(found, id))
            undefined(name, at - name, is_text);
        found = rb_const_get_at(found, id);
        if (!RB_TYPE_P(found, T_CLASS) && !RB_TYPE_P(found, T_MODULE))
            ice_raise(ice_type_error, "value", "", "%" PRIsVALUE " does not refer to class/module",
                      rb_utf8_str_new(name, at - name));
        if (steps && step <= ICE_STEPS)
            steps[step < ICE_STEPS ? step : 0] = step < ICE_STEPS ? id : 0;
        step++;
    }
    return found;
}

VALUE
ice_class_at(const char *name, size_t len, bool is_text, ID *steps)
{
    return look_up(name, len, is_text, steps);
}

VALUE
ice_class_named(const ice_allowed *allowed, const char *name, size_t len, bool is_text)
{
    char renamed[ICE_MOST_NAME];
    const size_t new_len =
        allowed->rename ? icecore_class_map_name(allowed->rename, name, len, renamed, sizeof renamed) : 0;
    if (new_len && new_len <= sizeof renamed)
        return look_up(renamed, new_len, true, NULL);
    return look_up(name, len, is_text, NULL);
}

bool
ice_class_is_at(VALUE klass, const ID *steps)
{
    VALUE found = rb_cObject;
    uint32_t i;
    if (!steps[0])
        return false;
    for (i = 0; i < ICE_STEPS && steps[i]; i++) {
        if (!rb_const_defined_at(found, steps[i]))
            return false;
        found = rb_const_get_at(found, steps[i]);
        if (!RB_TYPE_P(found, T_CLASS) && !RB_TYPE_P(found, T_MODULE))
            return false;
    }
    return found == klass;
}

/* ---- how objects are made --------------------------------------------------------- */

static uint8_t
how_of(VALUE klass, rb_alloc_func_t allocate)
{
    if (!allocate)
        return ICE_OTHER_OF;
    if (allocate == rb_get_alloc_func(rb_cRange))
        return ICE_RANGE_OF;
    if (RTEST(rb_class_inherited_p(klass, rb_eException)))
        return ICE_EXCEPTION_OF;
    return allocate == rb_get_alloc_func(rb_cObject) ? ICE_OBJECT_OF : ICE_OTHER_OF;
}

static VALUE
own_class(uint8_t own, const char *name, size_t len)
{
    switch (own) {
    case ICE_RANGE_OF:
        return rb_cRange;
    case ICE_TIME_OF:
        return rb_cTime;
    case ICE_RATIONAL_OF:
        return rb_cRational;
    case ICE_COMPLEX_OF:
        return rb_cComplex;
    case ICE_SET_OF:
        return ice_library_class("set", "Set");
    case ICE_DECIMAL_OF:
        return ice_library_class("bigdecimal", "BigDecimal");
    default:
        return ice_library_class("date", len == 4 ? "Date" : "DateTime");
    }
}

ice_class *
ice_class_of(ice_context *ctx, const ice_allowed *allowed, uint32_t id)
{
    ice_class *class = ice_class_slot(ctx, id);
    const char *text;
    const icecore_name *name;
    VALUE klass;
    ID steps[ICE_STEPS] = { 0 };
    const uint32_t call = ctx->call;
    if (ICE_LIKELY(class->klass && class->found == ctx->call))
        return class;
    if (class->klass && !allowed->rename && ice_class_is_at(class->klass, class->steps)) {
        class = ice_class_slot(ctx, id);
        class->found = ctx->call;
        return class;
    }
    name = ice_name(&ctx->view.classes, id, &text);
    if (!name)
        ice_host_fail("a class that is not there");
    if (class->is_own)
        klass = own_class(class->own, text, name->node.aux);
    else if (allowed->rename)
        klass = ice_class_named(allowed, text, name->node.aux, name->node.kind == ICECORE_TEXT);
    else
        klass = look_up(text, name->node.aux, name->node.kind == ICECORE_TEXT, steps);
    /* An autoload may have used this module. */
    ice_check_call(ctx, call);
    class = ice_class_slot(ctx, id);
    if (class->klass != klass && class->row) {
        class->row->is_known = false;
        class->row->count = 0;
    }
    class->klass = klass;
    memcpy(class->steps, steps, sizeof steps);
    class->found = ctx->call;
    memset(class->keys, 0, sizeof class->keys);
    if (class->is_own) {
        class->how = class->own;
        class->steps[0] = 0;
    } else if (RB_TYPE_P(klass, T_CLASS)) {
        class->allocate = rb_get_alloc_func(klass);
        class->how = how_of(klass, class->allocate);
    } else
        class->how = ICE_OTHER_OF;
    return class;
}
