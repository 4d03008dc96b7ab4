/* Set where it is a class of Ruby's core.
 *
 * Until Ruby 3.4 a Set is a plain object with a Hash in @hash. From Ruby 4.0 on its items are in memory of its own,
 * but Marshal still writes an object with that variable. The allocator of Set tells such objects, also those of
 * subclasses. The methods called here are Ruby's own, whatever a program defined later. */
#include "core/icecore_ruby.h"

/* NULL if Set is not a core class. */
static rb_alloc_func_t set_allocator;

/* For rb_protect: returns the dump of an empty set. */
static VALUE
dump_empty_set(VALUE klass)
{
    return ice_original_dump(rb_obj_alloc(klass));
}

/* Returns true if the objects of a class have their items in memory of their own, and Marshal writes them with a
 * variable @hash. */
static bool
is_core_set(VALUE klass)
{
    static const char head[] = "\x04\bo:\bSet\x06:\n@hash}";
    const rb_alloc_func_t allocate = rb_get_alloc_func(klass);
    VALUE bytes;
    int state = 0;
    if (!allocate || allocate == rb_get_alloc_func(rb_cObject) || !RB_TYPE_P(rb_obj_alloc(klass), T_DATA))
        return false;
    bytes = rb_protect(dump_empty_set, klass, &state);
    if (state) {
        rb_set_errinfo(Qnil);
        return false;
    }
    return RSTRING_LEN(bytes) >= (long)sizeof head - 1 && memcmp(RSTRING_PTR(bytes), head, sizeof head - 1) == 0;
}

void
ice_core_set_init(void)
{
    const ID id = rb_intern("Set");
    VALUE klass;
    /* Before Ruby 4.0 the constant does not exist, or loads a library. */
    if (!rb_const_defined(rb_cObject, id) || rb_autoload_p(rb_cObject, id) != Qnil)
        return;
    klass = rb_const_get(rb_cObject, id);
    if (!RB_TYPE_P(klass, T_CLASS) || !is_core_set(klass))
        return;
    set_allocator = rb_get_alloc_func(klass);
    ice_originals_add(ICE_SET_ITEMS, klass, "to_a");
    ice_originals_add(ICE_SET_MERGE, klass, "merge");
    ice_originals_add(ICE_SET_BY_IDENTITY, klass, "compare_by_identity?");
    ice_originals_add(ICE_SET_MAKE_IDENTITY, klass, "compare_by_identity");
}

bool
ice_is_core_set_class(VALUE klass)
{
    return set_allocator && rb_get_alloc_func(klass) == set_allocator;
}

VALUE
ice_core_set_hash(VALUE set)
{
    VALUE items = ice_call_original(ICE_SET_ITEMS, set, 0, NULL), hash = rb_hash_new();
    long i;
    if (RTEST(ice_call_original(ICE_SET_BY_IDENTITY, set, 0, NULL)))
        ice_call_original(ICE_HASH_MAKE_IDENTITY, hash, 0, NULL);
    for (i = 0; i < RARRAY_LEN(items); i++)
        rb_hash_aset(hash, RARRAY_AREF(items, i), Qtrue);
    RHASH_SET_IFNONE(hash, Qfalse);
    RB_GC_GUARD(items);
    return hash;
}

/* For rb_hash_foreach: adds the key to an Array. */
static int
collect_item(VALUE item, VALUE value, VALUE items)
{
    if (value != Qtrue)
        ice_raise(ice_runtime_error, "malformed", "", "expect true as Set value: %" PRIsVALUE, rb_obj_class(value));
    rb_ary_push(items, item);
    return ST_CONTINUE;
}

void
ice_core_set_fill(VALUE set, VALUE hash)
{
    VALUE items = rb_ary_new();
    if (!RB_TYPE_P(hash, T_HASH))
        ice_raise(ice_type_error, "malformed", "", "wrong argument type %" PRIsVALUE " (expected Hash)",
                  NIL_P(hash) ? rb_str_new_cstr("nil") : rb_obj_class(hash));
    if (ice_hash_compares_by_identity(hash))
        ice_call_original(ICE_SET_MAKE_IDENTITY, set, 0, NULL);
    rb_hash_foreach(hash, collect_item, items);
    ice_call_original(ICE_SET_MERGE, set, 1, &items);
}
