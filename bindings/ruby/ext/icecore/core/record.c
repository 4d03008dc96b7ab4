/* Icecore::Record: replaces an object whose class was not built. It contains everything
 * that the data says about the object, and is dumped as the same data again.
 *
 * Its contents are not instance variables: those would be part of the data, whatever
 * their names are. */
#include "core/icecore_ruby.h"

typedef struct {
    VALUE kind, name, value;
} parts;

VALUE ice_record;

static void
mark(void *data)
{
    const parts *record = data;
    rb_gc_mark(record->kind);
    rb_gc_mark(record->name);
    rb_gc_mark(record->value);
}

static size_t
size_of(const void *data)
{
    return sizeof(parts);
}

static const rb_data_type_t type = {
    .wrap_struct_name = "Icecore::Record",
    .function = { mark, RUBY_DEFAULT_FREE, size_of },
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE
allocate(VALUE class)
{
    parts *made;
    VALUE record = TypedData_Make_Struct(class, parts, &type, made);
    made->kind = made->name = made->value = Qnil;
    return record;
}

static parts *
parts_of(VALUE record)
{
    return rb_check_typeddata(record, &type);
}

VALUE
ice_record_new(const char *kind, VALUE name, VALUE value)
{
    VALUE record = allocate(ice_record);
    parts *made = parts_of(record);
    RB_OBJ_WRITE(record, &made->kind, ID2SYM(rb_intern(kind)));
    RB_OBJ_WRITE(record, &made->name, name);
    RB_OBJ_WRITE(record, &made->value, value);
    return record;
}

VALUE
ice_record_kind(VALUE record)
{
    return parts_of(record)->kind;
}

VALUE
ice_record_name(VALUE record)
{
    return parts_of(record)->name;
}

VALUE
ice_record_value(VALUE record)
{
    return parts_of(record)->value;
}

void
ice_record_set(VALUE record, VALUE value)
{
    parts *made = parts_of(record);
    RB_OBJ_WRITE(record, &made->value, value);
}

/* ---- methods -------------------------------------------------------------------- */

static VALUE
copy(VALUE record, VALUE other)
{
    parts *to = parts_of(record);
    const parts *from = parts_of(other);
    rb_check_frozen(record);
    RB_OBJ_WRITE(record, &to->kind, from->kind);
    RB_OBJ_WRITE(record, &to->name, from->name);
    RB_OBJ_WRITE(record, &to->value, from->value);
    return record;
}

/* Returns the members of an object or a Struct, by their names in the data. */
static VALUE
members(VALUE record)
{
    const parts *of = parts_of(record);
    if (of->kind != ID2SYM(rb_intern("object")) && of->kind != ID2SYM(rb_intern("struct")))
        ice_raise(ice_type_error, "usage", "", "a record of the kind %+" PRIsVALUE " has no members, but a value", of->kind);
    return of->value;
}

/* Returns a member by its name, with or without its `@`. */
static VALUE
member(VALUE record, VALUE name)
{
    VALUE hash = members(record), text = SYMBOL_P(name) ? rb_sym2str(name) : StringValue(name), found;
    found = rb_hash_lookup2(hash, rb_str_intern(text), Qundef);
    if (found == Qundef) {
        VALUE longer = rb_str_concat(rb_enc_str_new("@", 1, rb_enc_get(text)), text);
        found = rb_hash_lookup2(hash, rb_str_intern(longer), Qnil);
    }
    return found;
}

static VALUE
compare(VALUE record, VALUE other, int is_again)
{
    const parts *one = parts_of(record), *two = parts_of(other);
    if (is_again)
        return Qtrue;
    return one->kind == two->kind && RTEST(rb_equal(one->name, two->name)) && RTEST(rb_equal(one->value, two->value))
               ? Qtrue
               : Qfalse;
}

static VALUE
is_equal(VALUE record, VALUE other)
{
    if (record == other)
        return Qtrue;
    if (!rb_typeddata_is_kind_of(other, &type) || rb_obj_class(record) != rb_obj_class(other))
        return Qfalse;
    return rb_exec_recursive_paired(compare, record, other, other);
}

static VALUE
show(VALUE record, VALUE nothing, int is_again)
{
    const parts *of = parts_of(record);
    VALUE text = rb_enc_sprintf(rb_utf8_encoding(), "#<%" PRIsVALUE " %+" PRIsVALUE " %+" PRIsVALUE, rb_obj_class(record),
                                of->kind, of->name);
    if (is_again)
        rb_str_cat_cstr(text, " ...");
    else if (!NIL_P(of->value))
        rb_str_catf(text, " %+" PRIsVALUE, of->value);
    return rb_str_cat_cstr(text, ">");
}

static VALUE
inspect(VALUE record)
{
    return rb_exec_recursive(show, record, Qnil);
}

void
ice_record_init(void)
{
    ice_record = rb_define_class_under(ice_module, "Record", rb_cObject);
    rb_define_alloc_func(ice_record, allocate);
    rb_undef_method(CLASS_OF(ice_record), "new");
    rb_undef_method(CLASS_OF(ice_record), "allocate");
    rb_define_method(ice_record, "initialize_copy", copy, 1);
    rb_define_method(ice_record, "kind", ice_record_kind, 0);
    rb_define_method(ice_record, "class_name", ice_record_name, 0);
    rb_define_method(ice_record, "value", ice_record_value, 0);
    rb_define_method(ice_record, "to_h", members, 0);
    rb_define_method(ice_record, "[]", member, 1);
    rb_define_method(ice_record, "==", is_equal, 1);
    rb_define_method(ice_record, "inspect", inspect, 0);
}
