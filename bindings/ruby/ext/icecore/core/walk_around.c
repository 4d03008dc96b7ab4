/* Wrappers of a value: variables, modules that are mixed in, a subclass of a core class. */
#include "core/walk.h"

/* ---- modules -------------------------------------------------------------------------- */

static bool
has_own_methods(VALUE singleton)
{
    VALUE own = Qfalse;
    return RARRAY_LEN(ice_call_original(ICE_INSTANCE_METHODS, singleton, 1, &own)) > 0 ||
           RARRAY_LEN(ice_call_original(ICE_PRIVATE_METHODS, singleton, 1, &own)) > 0 ||
           RARRAY_LEN(rb_obj_instance_variables(singleton)) > 0 ||
           RARRAY_LEN(rb_mod_class_variables(1, &own, singleton)) > 0;
}

static void
put_module(ice_walker *w, uint32_t id, uint8_t form, uint16_t *key)
{
    ice_put_node(w, ICECORE_ATTRS, 0, *key, ICE_CLASS(id) | ICE_FORM(form));
    *key = ICECORE_NO_KEY;
}

/* Modules that are mixed into one object alone come before the ancestors of its class. */
static uint32_t
put_modules(ice_walker *w, ice_written *class, uint16_t *key)
{
    VALUE all, below;
    long i, own;
    uint32_t count = 0;
    if (has_own_methods(class->klass))
        ice_raise(ice_type_error, "value", "", "singleton can't be dumped");
    all = ice_call_original(ICE_ANCESTORS, class->klass, 0, NULL);
    below = ice_call_original(ICE_ANCESTORS, class->real, 0, NULL);
    own = RARRAY_LEN(all) - RARRAY_LEN(below);
    for (i = 0; i < own && i < RARRAY_LEN(all); i++) {
        VALUE module = RARRAY_AREF(all, i), path;
        if (module == class->klass) {
            if (i == 0)
                continue;
            module = class->real;
        }
        path = rb_class_path(module);
        if (*RSTRING_PTR(path) == '#')
            ice_raise(ice_type_error, "value", "", "can't dump anonymous class %" PRIsVALUE, path);
        put_module(w, ice_class_id(w, path), ICECORE_FORM_MODULE, key);
        count++;
    }
    return count;
}

uint32_t
ice_put_around(ice_walker *w, VALUE object, ice_written *class, VALUE core, uint16_t *key)
{
    uint32_t count = 0;
    if (class->real != class->klass)
        count = put_modules(w, class, key);
    if (core && class->real != core) {
        put_module(w, ice_written_id(w, class), ICECORE_FORM_SUBCLASS, key);
        count++;
    }
    return count;
}

/* ---- variables ---------------------------------------------------------------------------- */

typedef struct {
    ice_walker *walker;
    VALUE object;
    uint32_t count;
} collecting;

static int
collect(ID id, VALUE value, st_data_t to)
{
    collecting *all = (collecting *)to;
    static ID id_e, id_k, id_encoding;
    if (!id_e) {
        id_e = rb_intern("E");
        id_k = rb_intern("K");
        id_encoding = rb_intern("encoding");
    }
    if (ICE_UNLIKELY(id == id_e || id == id_k)) {
        rb_warn("instance variable `%s' on class %" PRIsVALUE " is not dumped", rb_id2name(id), CLASS_OF(all->object));
        return ST_CONTINUE;
    }
    if (id == id_encoding || !rb_id2str(id))
        return ST_CONTINUE;
    ice_push_value(all->walker->ctx, ID2SYM(id));
    ice_push_value(all->walker->ctx, value);
    all->count++;
    return ST_CONTINUE;
}

uint32_t
ice_variables_of(ice_walker *w, VALUE object)
{
    collecting all = { w, object, 0 };
    if (RB_TYPE_P(object, T_HASH) && RBASIC(object)->flags & ice_hash_is_keywords) {
        ice_push_value(w->ctx, ID2SYM(rb_intern("K")));
        ice_push_value(w->ctx, Qtrue);
        all.count++;
    }
    if (RB_TYPE_P(object, T_OBJECT) || RB_FL_ANY_RAW(object, FL_EXIVAR))
        rb_ivar_foreach(object, collect, (st_data_t)&all);
    return all.count;
}
