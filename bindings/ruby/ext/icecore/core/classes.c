/* Finds classes by the engine's ids.
 *
 * A name is looked up as Marshal does: constant by constant, including private ones. Autoloads
 * run, but const_missing is not called. A class that an earlier call has looked up is used
 * again if its path still leads to it, which is checked once in each call. */
#include "core/icecore_ruby.h"

ice_class *
ice_class_entry(ice_context *ctx, uint32_t id)
{
    ice_renew_classes(ctx, ctx->view.classes.generation);
    if (ICE_UNLIKELY(id >= ctx->class_capacity)) {
        uint32_t capacity = ctx->class_capacity ? ctx->class_capacity : 16;
        while (capacity <= id)
            capacity *= 2;
        ctx->classes = ice_host_resize(ctx->classes, capacity * sizeof *ctx->classes);
        memset(ctx->classes + ctx->class_capacity, 0, (capacity - ctx->class_capacity) * sizeof *ctx->classes);
        ctx->class_capacity = capacity;
    }
    return &ctx->classes[id];
}

/* ---- names ---------------------------------------------------------------------- */

NORETURN(static void raise_undefined(const char *name, size_t len, rb_encoding *encoding));

/* Raises what Marshal raises if the program does not have a class or module. */
static void
raise_undefined(const char *name, size_t len, rb_encoding *encoding)
{
    ice_raise(ice_argument_error, "value", "", "undefined class/module %" PRIsVALUE, rb_enc_str_new(name, len, encoding));
}

/* Returns the class or module of this name. `constants` receives the path to it, unless it is
 * NULL; a path that is too long is left empty. */
static VALUE
look_up_class(const char *name, size_t len, rb_encoding *encoding, ID *constants)
{
    const char *position = name, *end = name + len;
    VALUE found = rb_cObject;
    uint32_t depth = 0;
    if (!rb_enc_asciicompat(encoding))
        ice_raise(ice_argument_error, "value", "", "invalid class path encoding (non ASCII)");
    if (len == 0 || *name == '#')
        ice_raise(ice_argument_error, "value", "", "can't retrieve anonymous class %" PRIsVALUE,
                  rb_utf8_str_new(name, len));
    while (position < end) {
        const char *constant = position;
        ID id;
        while (position < end && *position != ':')
            position++;
        id = rb_check_id_cstr(constant, position - constant, encoding);
        if (position < end) {
            if (end - position < 2 || position[1] != ':')
                raise_undefined(name, position - name, encoding);
            position += 2;
        }
        if (!id || !rb_const_defined_at(found, id))
            raise_undefined(name, position - name, encoding);
        found = rb_const_get_at(found, id);
        if (!RB_TYPE_P(found, T_CLASS) && !RB_TYPE_P(found, T_MODULE))
            ice_raise(ice_type_error, "value", "", "%" PRIsVALUE " does not refer to class/module",
                      rb_utf8_str_new(name, position - name));
        /* If the path is too long, the first constant becomes 0, so the stored path is empty. */
        if (constants && depth <= ICE_MAX_CONSTANTS)
            constants[depth < ICE_MAX_CONSTANTS ? depth : 0] = depth < ICE_MAX_CONSTANTS ? id : 0;
        depth++;
    }
    return found;
}

VALUE
ice_look_up_class(const char *name, size_t len, rb_encoding *encoding, ID *constants)
{
    return look_up_class(name, len, encoding, constants);
}

VALUE
ice_look_up_renamed_class(const ice_class_rules *rules, const char *name, size_t len, rb_encoding *encoding)
{
    char renamed[ICE_MAX_CLASS_NAME];
    const size_t new_len =
        rules->rename ? icecore_class_map_name(rules->rename, name, len, renamed, sizeof renamed) : 0;
    if (new_len && new_len <= sizeof renamed)
        return look_up_class(renamed, new_len, rb_utf8_encoding(), NULL);
    return look_up_class(name, len, encoding, NULL);
}

bool
ice_constants_lead_to(VALUE klass, const ID *constants)
{
    VALUE found = rb_cObject;
    uint32_t i;
    if (!constants[0])
        return false;
    for (i = 0; i < ICE_MAX_CONSTANTS && constants[i]; i++) {
        if (!rb_const_defined_at(found, constants[i]))
            return false;
        found = rb_const_get_at(found, constants[i]);
        if (!RB_TYPE_P(found, T_CLASS) && !RB_TYPE_P(found, T_MODULE))
            return false;
    }
    return found == klass;
}

/* ---- kinds of classes --------------------------------------------------------- */

/* Returns the kind of a class. An allocator other than those of Object and Range may create objects
 * with more than variables, so the kind is ICE_CLASS_OTHER, except for exceptions. */
static uint8_t
class_kind_of(VALUE klass, rb_alloc_func_t allocate)
{
    if (!allocate)
        return ICE_CLASS_OTHER;
    if (allocate == rb_get_alloc_func(rb_cRange))
        return ICE_CLASS_RANGE;
    if (RTEST(rb_class_inherited_p(klass, rb_eException)))
        return ICE_CLASS_EXCEPTION;
    return allocate == rb_get_alloc_func(rb_cObject) ? ICE_CLASS_OBJECT : ICE_CLASS_OTHER;
}

/* Returns one of Ruby's own classes by its kind; `name` tells Date from DateTime. */
static VALUE
builtin_class(uint8_t builtin_kind, const char *name, size_t len)
{
    switch (builtin_kind) {
    case ICE_CLASS_RANGE:
        return rb_cRange;
    case ICE_CLASS_TIME:
        return rb_cTime;
    case ICE_CLASS_RATIONAL:
        return rb_cRational;
    case ICE_CLASS_COMPLEX:
        return rb_cComplex;
    case ICE_CLASS_SET:
        return ice_library_class("set", "Set");
    case ICE_CLASS_DECIMAL:
        return ice_library_class("bigdecimal", "BigDecimal");
    default:
        return ice_library_class("date", len == 4 ? "Date" : "DateTime");
    }
}

ice_class *
ice_class_by_id(ice_context *ctx, const ice_class_rules *rules, uint32_t id)
{
    ice_class *class = ice_class_entry(ctx, id);
    const char *text;
    const icecore_name *name;
    VALUE klass;
    ID constants[ICE_MAX_CONSTANTS] = { 0 };
    const uint32_t call = ctx->call;
    rb_encoding *encoding;
    if (ICE_LIKELY(class->klass && class->looked_up_call == ctx->call))
        return class;
    if (class->klass && !rules->rename && ice_constants_lead_to(class->klass, class->constants)) {
        class = ice_class_entry(ctx, id);
        class->looked_up_call = ctx->call;
        return class;
    }
    name = ice_name(&ctx->view.classes, id, &text);
    if (!name)
        ice_host_fail("a class that is not there");
    encoding = ice_class_name_encoding(&ctx->view, &name->node);
    if (class->is_builtin)
        klass = builtin_class(class->builtin_kind, text, name->node.aux);
    else if (rules->rename)
        klass = ice_look_up_renamed_class(rules, text, name->node.aux, encoding);
    else
        klass = look_up_class(text, name->node.aux, encoding, constants);
    /* Loading a class may have called this module again, so the entries may have moved. */
    ice_check_call(ctx, call);
    class = ice_class_entry(ctx, id);
    /* A layout belongs to one class. */
    if (class->klass != klass && class->layout) {
        class->layout->is_known = false;
        class->layout->count = 0;
    }
    class->klass = klass;
    memcpy(class->constants, constants, sizeof constants);
    class->looked_up_call = ctx->call;
    memset(class->last_keys, 0, sizeof class->last_keys);
    if (class->is_builtin) {
        class->kind = class->builtin_kind;
        class->constants[0] = 0;
    } else if (RB_TYPE_P(klass, T_CLASS)) {
        class->allocate = rb_get_alloc_func(klass);
        class->kind = class_kind_of(klass, class->allocate);
    } else
        class->kind = ICE_CLASS_OTHER;
    return class;
}
