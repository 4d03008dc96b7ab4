/* Information about the classes of objects that are written: names, hooks, layouts. */
#include "core/walk.h"

/* Returns the path of a class or module, and verifies that it leads there. `constants` receives
 * the path in parts, unless it is NULL. */
static VALUE
checked_path(VALUE module, ID *constants)
{
    VALUE path = rb_class_path(module);
    const char *kind = RB_TYPE_P(module, T_CLASS) ? "class" : "module";
    if (RSTRING_LEN(path) == 0 || *RSTRING_PTR(path) == '#')
        ice_raise(ice_type_error, "value", "", "can't dump anonymous %s %" PRIsVALUE, kind, path);
    if (ice_look_up_class(RSTRING_PTR(path), RSTRING_LEN(path), rb_enc_get(path), constants) != module)
        ice_raise(ice_type_error, "value", "", "%" PRIsVALUE " can't be referred to", path);
    return path;
}

VALUE
ice_class_path(VALUE module)
{
    return checked_path(module, NULL);
}

uint32_t
ice_class_id(ice_walker *w, VALUE path)
{
    const int index = ENCODING_GET(path);
    const uint8_t *bytes = (const uint8_t *)RSTRING_PTR(path);
    const size_t len = RSTRING_LEN(path);
    uint32_t id;
    if (index == rb_utf8_encindex() || rb_enc_str_asciionly_p(path))
        id = icecore_class(w->engine, ICECORE_TEXT, bytes, len);
    else
        id = icecore_encoded_class(w->engine, (uint16_t)(ice_encoding_id(w, index) >> 48), bytes, len);
    if (!id)
        ice_host_fail("too many classes");
    return id;
}

/* Finds out which hooks the objects of a class have. If the class overrides respond_to? or
 * respond_to_missing?, each object may answer differently, so it must be asked itself. */
static void
find_hooks(ice_written_class *class)
{
    const VALUE klass = class->klass;
    class->is_decided_by_object = !rb_method_basic_definition_p(klass, rb_intern("respond_to?")) ||
                                  !rb_method_basic_definition_p(klass, rb_intern("respond_to_missing?"));
    class->has_marshal_dump = rb_method_boundp(klass, rb_intern("marshal_dump"), 0);
    class->has_dump = rb_method_boundp(klass, rb_intern("_dump"), 0);
    class->is_plain = !class->is_decided_by_object && !class->has_marshal_dump && !class->has_dump &&
                      class->real_class == klass;
}

/* Adds an entry for a class to the table. */
static ice_written_class *
add_written_class(ice_walker *w, VALUE klass)
{
    ice_context *ctx = w->ctx;
    ice_written_class *class;
    if (ctx->written_count == ctx->written_capacity) {
        const uint32_t old_capacity = ctx->written_capacity, capacity = old_capacity ? old_capacity * 2 : 16;
        ctx->written_classes = ice_host_resize(ctx->written_classes, capacity * sizeof *ctx->written_classes);
        memset(ctx->written_classes + old_capacity, 0, (capacity - old_capacity) * sizeof *ctx->written_classes);
        ctx->written_capacity = capacity;
    }
    class = ctx->written_classes[ctx->written_count];
    if (!class)
        class = ctx->written_classes[ctx->written_count] = ice_host_resize(NULL, sizeof *class);
    memset(class, 0, sizeof *class);
    class->klass = klass;
    class->real_class = rb_class_real(klass);
    ice_map_add(&ctx->written_class_indexes, (const void *)klass, ctx->written_count);
    ctx->written_count++;
    return class;
}

/* Describes a singleton class outside of the table. Each singleton class belongs to one object, so
 * in the table there would be an entry for each such object. */
static ice_written_class *
describe_singleton(ice_walker *w, VALUE klass, VALUE real)
{
    ice_written_class *base = ice_find_written_class(w, real), *class = &w->ctx->singleton_class;
    *class = *base;
    class->klass = klass;
    class->real_class = real;
    class->base_class = base;
    find_hooks(class);
    return class;
}

ice_written_class *
ice_find_written_class(ice_walker *w, VALUE klass)
{
    ice_context *ctx = w->ctx;
    ice_written_class **cached = &ctx->written_class_cache[(klass >> 3 ^ klass >> 9) & (ICE_WRITTEN_CACHE_SIZE - 1)];
    ice_written_class *class = *cached;
    if (ICE_UNLIKELY(!class || class->klass != klass)) {
        const ice_slot *slot = ice_map_find(&ctx->written_class_indexes, (const void *)klass);
        if (slot)
            class = ctx->written_classes[slot->value];
        else {
            const VALUE real = rb_class_real(klass);
            if (real != klass)
                return describe_singleton(w, klass, real);
            class = add_written_class(w, klass);
        }
        *cached = class;
    }
    if (ICE_UNLIKELY(class->call != ctx->call)) {
        class->call = ctx->call;
        class->is_checked = false;
        class->layout_call = 0;
        find_hooks(class);
    }
    return class;
}

uint32_t
ice_written_class_id(ice_walker *w, ice_written_class *class)
{
    if (ICE_UNLIKELY(class->base_class != NULL))
        class = class->base_class;
    if (ICE_UNLIKELY(!class->is_checked)) {
        /* Looking up the path may load a file, and so run any code: therefore ice_check_call. */
        if (!class->id || !ice_constants_lead_to(class->real_class, class->constants)) {
            VALUE path = checked_path(class->real_class, class->constants);
            ice_check_call(w->ctx, w->call);
            class->id = ice_class_id(w, path);
        }
        class->is_checked = true;
    }
    return class->id;
}
