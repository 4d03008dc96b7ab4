/* A class Set as Ruby 4.0 has it in its core: the items are in memory of its own, and Marshal knows how to write and
 * read such an object. For the test of older Rubies, in which Set is written in Ruby. */
#include <ruby.h>

static VALUE hash_of(VALUE set);

static void
mark(void *hash)
{
    rb_gc_mark((VALUE)hash);
}

static const rb_data_type_t set_type = { "core set", { mark, NULL, NULL }, NULL, NULL, RUBY_TYPED_FREE_IMMEDIATELY };

static VALUE
allocate(VALUE klass)
{
    VALUE hash = rb_hash_new();
    return TypedData_Wrap_Struct(klass, &set_type, (void *)hash);
}

static VALUE
hash_of(VALUE set)
{
    return (VALUE)rb_check_typeddata(set, &set_type);
}

static VALUE
add(VALUE set, VALUE item)
{
    rb_check_frozen(set);
    rb_hash_aset(hash_of(set), item, Qtrue);
    return set;
}

static VALUE
merge(VALUE set, VALUE items)
{
    long i;
    Check_Type(items, T_ARRAY);
    for (i = 0; i < RARRAY_LEN(items); i++)
        add(set, RARRAY_AREF(items, i));
    return set;
}

static VALUE
to_a(VALUE set)
{
    return rb_funcall(hash_of(set), rb_intern("keys"), 0);
}

static VALUE
compare_by_identity(VALUE set)
{
    rb_funcall(hash_of(set), rb_intern("compare_by_identity"), 0);
    return set;
}

static VALUE
compares_by_identity(VALUE set)
{
    return rb_funcall(hash_of(set), rb_intern("compare_by_identity?"), 0);
}

static VALUE
dump_object(VALUE set)
{
    VALUE object = rb_obj_alloc(rb_cObject), hash = rb_hash_new();
    if (RTEST(compares_by_identity(set)))
        rb_funcall(hash, rb_intern("compare_by_identity"), 0);
    rb_funcall(hash, rb_intern("update"), 1, hash_of(set));
    rb_hash_set_ifnone(hash, Qfalse);
    rb_ivar_set(object, rb_intern("@hash"), hash);
    return object;
}

static int
add_item(VALUE item, VALUE value, VALUE set)
{
    if (value != Qtrue)
        rb_raise(rb_eRuntimeError, "expect true as Set value: %" PRIsVALUE, rb_obj_class(value));
    add(set, item);
    return ST_CONTINUE;
}

static VALUE
load_object(VALUE set, VALUE object)
{
    VALUE hash = rb_ivar_get(object, rb_intern("@hash"));
    Check_Type(hash, T_HASH);
    if (RTEST(rb_funcall(hash, rb_intern("compare_by_identity?"), 0)))
        compare_by_identity(set);
    rb_hash_foreach(hash, add_item, set);
    return set;
}

RUBY_FUNC_EXPORTED void
Init_core_set(void)
{
    VALUE set = rb_define_class("Set", rb_cObject);
    rb_define_alloc_func(set, allocate);
    rb_define_method(set, "add", add, 1);
    rb_define_method(set, "<<", add, 1);
    rb_define_method(set, "merge", merge, 1);
    rb_define_method(set, "to_a", to_a, 0);
    rb_define_method(set, "compare_by_identity", compare_by_identity, 0);
    rb_define_method(set, "compare_by_identity?", compares_by_identity, 0);
    rb_marshal_define_compat(set, rb_cObject, dump_object, load_object);
}
