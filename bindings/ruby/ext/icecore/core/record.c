/* Defines Icecore::Record. A record replaces an object whose class is not built. It contains
 * everything that the data says about the object, and is dumped as the same data again.
 *
 * Its own fields are not instance variables, because Marshal would dump those. */
#include "core/icecore_ruby.h"

typedef struct {
    VALUE kind, name, value;
} record_fields;

VALUE ice_record;

/* These three functions are for record_fields: the collector calls `mark` and `size_of`, and Ruby calls
 * `allocate`. */
static void
mark(void *data)
{
    const record_fields *record = data;
    rb_gc_mark(record->kind);
    rb_gc_mark(record->name);
    rb_gc_mark(record->value);
}

static size_t
size_of(const void *data)
{
    return sizeof(record_fields);
}

static const rb_data_type_t type = {
    .wrap_struct_name = "Icecore::Record",
    .function = { mark, RUBY_DEFAULT_FREE, size_of },
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE
allocate(VALUE class)
{
    record_fields *fields;
    VALUE record = TypedData_Make_Struct(class, record_fields, &type, fields);
    fields->kind = fields->name = fields->value = Qnil;
    return record;
}

/* Returns the fields of a record. Raises for other objects. */
static record_fields *
fields_of(VALUE record)
{
    return rb_check_typeddata(record, &type);
}

VALUE
ice_record_new(const char *kind, VALUE name, VALUE value)
{
    VALUE record = allocate(ice_record);
    record_fields *fields = fields_of(record);
    RB_OBJ_WRITE(record, &fields->kind, ID2SYM(rb_intern(kind)));
    RB_OBJ_WRITE(record, &fields->name, name);
    RB_OBJ_WRITE(record, &fields->value, value);
    return record;
}

VALUE
ice_record_kind(VALUE record)
{
    return fields_of(record)->kind;
}

VALUE
ice_record_name(VALUE record)
{
    return fields_of(record)->name;
}

VALUE
ice_record_value(VALUE record)
{
    return fields_of(record)->value;
}

void
ice_record_set(VALUE record, VALUE value)
{
    record_fields *fields = fields_of(record);
    RB_OBJ_WRITE(record, &fields->value, value);
}

/* ---- methods -------------------------------------------------------------------- */

/* The method `initialize_copy`, for dup and clone. */
static VALUE
initialize_copy(VALUE record, VALUE other)
{
    record_fields *target = fields_of(record);
    const record_fields *source = fields_of(other);
    rb_check_frozen(record);
    RB_OBJ_WRITE(record, &target->kind, source->kind);
    RB_OBJ_WRITE(record, &target->name, source->name);
    RB_OBJ_WRITE(record, &target->value, source->value);
    return record;
}

/* The method `to_h`: returns the members of an object or a Struct by their names. */
static VALUE
to_h(VALUE record)
{
    const record_fields *fields = fields_of(record);
    if (fields->kind != ID2SYM(rb_intern("object")) && fields->kind != ID2SYM(rb_intern("struct")))
        ice_raise(ice_type_error, "usage", "", "a record of the kind %+" PRIsVALUE " has no members, but a value",
                  fields->kind);
    return fields->value;
}

/* The method `[]`: returns a member by its name, with or without the leading `@`. */
static VALUE
fetch_member(VALUE record, VALUE name)
{
    VALUE hash = to_h(record), text = SYMBOL_P(name) ? rb_sym2str(name) : StringValue(name), found;
    found = rb_hash_lookup2(hash, rb_str_intern(text), Qundef);
    if (found == Qundef) {
        VALUE with_sign = rb_str_concat(rb_enc_str_new("@", 1, rb_enc_get(text)), text);
        found = rb_hash_lookup2(hash, rb_str_intern(with_sign), Qnil);
    }
    return found;
}

/* For rb_exec_recursive_paired: compares the fields of two records. A pair that is already being
 * compared further out counts as equal. */
static VALUE
compare_contents(VALUE record, VALUE other, int is_recursive)
{
    const record_fields *one = fields_of(record), *two = fields_of(other);
    if (is_recursive)
        return Qtrue;
    return one->kind == two->kind && RTEST(rb_equal(one->name, two->name)) && RTEST(rb_equal(one->value, two->value))
               ? Qtrue
               : Qfalse;
}

/* The method `==`. */
static VALUE
is_equal(VALUE record, VALUE other)
{
    if (record == other)
        return Qtrue;
    if (!rb_typeddata_is_kind_of(other, &type) || rb_obj_class(record) != rb_obj_class(other))
        return Qfalse;
    return rb_exec_recursive_paired(compare_contents, record, other, other);
}

/* For rb_exec_recursive: returns the text of `inspect`. */
static VALUE
inspect_contents(VALUE record, VALUE nothing, int is_recursive)
{
    const record_fields *fields = fields_of(record);
    VALUE text = rb_enc_sprintf(rb_utf8_encoding(), "#<%" PRIsVALUE " %+" PRIsVALUE " %+" PRIsVALUE,
                                rb_obj_class(record), fields->kind, fields->name);
    if (is_recursive)
        rb_str_cat_cstr(text, " ...");
    else if (!NIL_P(fields->value))
        rb_str_catf(text, " %+" PRIsVALUE, fields->value);
    return rb_str_cat_cstr(text, ">");
}

/* The method `inspect`. */
static VALUE
inspect(VALUE record)
{
    return rb_exec_recursive(inspect_contents, record, Qnil);
}

void
ice_record_init(void)
{
    ice_record = rb_define_class_under(ice_module, "Record", rb_cObject);
    rb_define_alloc_func(ice_record, allocate);
    rb_undef_method(CLASS_OF(ice_record), "new");
    rb_undef_method(CLASS_OF(ice_record), "allocate");
    rb_define_method(ice_record, "initialize_copy", initialize_copy, 1);
    rb_define_method(ice_record, "kind", ice_record_kind, 0);
    rb_define_method(ice_record, "class_name", ice_record_name, 0);
    rb_define_method(ice_record, "value", ice_record_value, 0);
    rb_define_method(ice_record, "to_h", to_h, 0);
    rb_define_method(ice_record, "[]", fetch_member, 1);
    rb_define_method(ice_record, "==", is_equal, 1);
    rb_define_method(ice_record, "inspect", inspect, 0);
}
