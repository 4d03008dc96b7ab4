/* Wrappers of a value: instance variables, modules that are mixed in, a subclass of a core
 * class. */
#include "core/walk.h"

/* ---- modules -------------------------------------------------------------------------- */

/* Returns true if a singleton class has more than modules: methods or variables. */
static bool
has_own_members(VALUE singleton)
{
    VALUE own_count = Qfalse;
    return RARRAY_LEN(ice_call_original(ICE_INSTANCE_METHODS, singleton, 1, &own_count)) > 0 ||
           RARRAY_LEN(ice_call_original(ICE_PRIVATE_METHODS, singleton, 1, &own_count)) > 0 ||
           RARRAY_LEN(rb_obj_instance_variables(singleton)) > 0 ||
           RARRAY_LEN(rb_mod_class_variables(1, &own_count, singleton)) > 0;
}

/* Puts a wrapper. Only the first wrapper of a value has the value's key. */
static void
put_module(ice_walker *w, uint32_t id, uint8_t form, uint16_t *key)
{
    ice_put_node(w, ICECORE_ATTRS, 0, *key, ICE_CLASS(id) | ICE_FORM(form));
    *key = ICECORE_NO_KEY;
}

/* Puts a wrapper for each module that is mixed into the object itself, and returns their number.
 * The ancestors of the singleton class are first these modules, then the ancestors of the class.
 * So the difference of both numbers says how many to take. */
static uint32_t
put_modules(ice_walker *w, ice_written_class *class, uint16_t *key)
{
    VALUE ancestors, class_ancestors;
    long i, own_count;
    uint32_t count = 0;
    if (has_own_members(class->klass))
        ice_raise(ice_type_error, "value", "", "singleton can't be dumped");
    ancestors = ice_call_original(ICE_ANCESTORS, class->klass, 0, NULL);
    class_ancestors = ice_call_original(ICE_ANCESTORS, class->real_class, 0, NULL);
    own_count = RARRAY_LEN(ancestors) - RARRAY_LEN(class_ancestors);
    for (i = 0; i < own_count && i < RARRAY_LEN(ancestors); i++) {
        VALUE module = RARRAY_AREF(ancestors, i), path;
        /* The singleton class itself is not a module. If modules are prepended to it, it comes
         * after them. Marshal then writes the name of the object's class in its place. */
        if (module == class->klass) {
            if (i == 0)
                continue;
            module = class->real_class;
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
ice_put_wrappers(ice_walker *w, VALUE object, ice_written_class *class, VALUE core, uint16_t *key)
{
    uint32_t count = 0;
    if (class->real_class != class->klass)
        count = put_modules(w, class, key);
    if (core && class->real_class != core) {
        put_module(w, ice_written_class_id(w, class), ICECORE_FORM_SUBCLASS, key);
        count++;
    }
    return count;
}

/* ---- variables ---------------------------------------------------------------------------- */

typedef struct {
    ice_walker *walker;
    VALUE object;
    uint32_t count;
} variable_collector;

/* For rb_ivar_foreach: pushes a variable to the stack of values, unless Marshal does not write it. */
static int
collect_variable(ID id, VALUE value, st_data_t data)
{
    variable_collector *collector = (variable_collector *)data;
    static ID id_e, id_k, id_encoding;
    if (!id_e) {
        id_e = rb_intern("E");
        id_k = rb_intern("K");
        id_encoding = rb_intern("encoding");
    }
    /* Marshal uses these names for the encoding and for the keywords flag. */
    if (ICE_UNLIKELY(id == id_e || id == id_k)) {
        rb_warn("instance variable `%s' on class %" PRIsVALUE " is not dumped", rb_id2name(id),
                CLASS_OF(collector->object));
        return ST_CONTINUE;
    }
    if (id == id_encoding || !rb_id2str(id))
        return ST_CONTINUE;
    ice_push_value(collector->walker->ctx, ID2SYM(id));
    ice_push_value(collector->walker->ctx, value);
    collector->count++;
    return ST_CONTINUE;
}

uint32_t
ice_push_variables(ice_walker *w, VALUE object)
{
    variable_collector collector = { w, object, 0 };
    /* The keywords flag is written like a variable K, before all others. */
    if (RB_TYPE_P(object, T_HASH) && RBASIC(object)->flags & ice_hash_is_keywords) {
        ice_push_value(w->ctx, ID2SYM(rb_intern("K")));
        ice_push_value(w->ctx, Qtrue);
        collector.count++;
    }
    if (RB_TYPE_P(object, T_OBJECT) || ICE_MAY_HAVE_VARIABLES(object))
        rb_ivar_foreach(object, collect_variable, (st_data_t)&collector);
    return collector.count;
}
