/* The facts about classes of objects that are written. */
#include "core/walk.h"

static VALUE
path_of(VALUE module, ID *steps)
{
    VALUE path = rb_class_path(module);
    const char *kind = RB_TYPE_P(module, T_CLASS) ? "class" : "module";
    if (RSTRING_LEN(path) == 0 || *RSTRING_PTR(path) == '#')
        ice_raise(ice_type_error, "value", "", "can't dump anonymous %s %" PRIsVALUE, kind, path);
    if (ice_class_at(RSTRING_PTR(path), RSTRING_LEN(path), ENCODING_GET(path) != rb_ascii8bit_encindex(), steps) != module)
        ice_raise(ice_type_error, "value", "", "%" PRIsVALUE " can't be referred to", path);
    return path;
}

VALUE
ice_path_of(VALUE module)
{
    return path_of(module, NULL);
}

uint32_t
ice_class_id(ice_walker *w, VALUE path)
{
    const uint8_t kind = rb_enc_str_coderange(path) == ENC_CODERANGE_BROKEN || ENCODING_GET(path) == rb_ascii8bit_encindex()
                             ? ICECORE_BYTES
                             : ICECORE_TEXT;
    const uint32_t id = icecore_class(w->engine, kind, (const uint8_t *)RSTRING_PTR(path), RSTRING_LEN(path));
    if (!id)
        ice_host_fail("too many classes");
    return id;
}

/* Finds the dump methods of a class. With `is_asked`, each object decides itself. */
static void
look_for_hooks(ice_written *class)
{
    const VALUE klass = class->klass;
    class->is_asked = !rb_method_basic_definition_p(klass, rb_intern("respond_to?")) ||
                      !rb_method_basic_definition_p(klass, rb_intern("respond_to_missing?"));
    class->has_marshal_dump = rb_method_boundp(klass, rb_intern("marshal_dump"), 0);
    class->has_dump = rb_method_boundp(klass, rb_intern("_dump"), 0);
    class->is_plain = !class->is_asked && !class->has_marshal_dump && !class->has_dump && class->real == klass;
}

static ice_written *
add(ice_walker *w, VALUE klass)
{
    ice_context *ctx = w->ctx;
    ice_written *class;
    if (ctx->written_count == ctx->written_room) {
        const uint32_t room = ctx->written_room ? ctx->written_room * 2 : 16;
        ctx->written = ice_host_resize(ctx->written, room * sizeof *ctx->written);
        memset(ctx->written + ctx->written_room, 0, (room - ctx->written_room) * sizeof *ctx->written);
        ctx->written_room = room;
    }
    class = ctx->written[ctx->written_count];
    if (!class)
        class = ctx->written[ctx->written_count] = ice_host_resize(NULL, sizeof *class);
    memset(class, 0, sizeof *class);
    class->klass = klass;
    class->real = rb_class_real(klass);
    ice_map_add(&ctx->written_places, (const void *)klass, ctx->written_count);
    ctx->written_count++;
    return class;
}

/* A singleton class belongs to one object, and would fill the table. */
static ice_written *
singleton_of(ice_walker *w, VALUE klass, VALUE real)
{
    ice_written *base = ice_written_of(w, real), *class = &w->ctx->singleton;
    *class = *base;
    class->klass = klass;
    class->real = real;
    class->base = base;
    look_for_hooks(class);
    return class;
}

ice_written *
ice_written_of(ice_walker *w, VALUE klass)
{
    ice_context *ctx = w->ctx;
    ice_written **near = &ctx->near_written[(klass >> 3 ^ klass >> 9) & (ICE_NEAR_WRITTEN - 1)];
    ice_written *class = *near;
    if (ICE_UNLIKELY(!class || class->klass != klass)) {
        const ice_slot *slot = ice_map_find(&ctx->written_places, (const void *)klass);
        if (slot)
            class = ctx->written[slot->value];
        else {
            const VALUE real = rb_class_real(klass);
            if (real != klass)
                return singleton_of(w, klass, real);
            class = add(w, klass);
        }
        *near = class;
    }
    if (ICE_UNLIKELY(class->call != ctx->call)) {
        class->call = ctx->call;
        class->is_checked = false;
        class->row_call = 0;
        look_for_hooks(class);
    }
    return class;
}

uint32_t
ice_written_id(ice_walker *w, ice_written *class)
{
    if (ICE_UNLIKELY(class->base != NULL))
        class = class->base;
    if (ICE_UNLIKELY(!class->is_checked)) {
        /* An autoload may use the module. */
        if (!class->id || !ice_class_is_at(class->real, class->steps)) {
            VALUE path = path_of(class->real, class->steps);
            ice_check_call(w->ctx, w->call);
            class->id = ice_class_id(w, path);
        }
        class->is_checked = true;
    }
    return class->id;
}
