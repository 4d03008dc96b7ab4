/* Icecore::Record: what stands in the place of an object whose class was not built. It has
 * all that the data says of it, and is dumped as the same data again. */
#include "core/icecore_ruby.h"

VALUE ice_record;
static ID id_kind, id_name, id_value;

VALUE
ice_record_new(const char *kind, VALUE name, VALUE value)
{
    VALUE record = rb_obj_alloc(ice_record);
    rb_ivar_set(record, id_kind, ID2SYM(rb_intern(kind)));
    rb_ivar_set(record, id_name, name);
    rb_ivar_set(record, id_value, value);
    return record;
}

VALUE
ice_record_kind(VALUE record)
{
    return rb_ivar_get(record, id_kind);
}

VALUE
ice_record_name(VALUE record)
{
    return rb_ivar_get(record, id_name);
}

VALUE
ice_record_value(VALUE record)
{
    return rb_ivar_get(record, id_value);
}

void
ice_record_set(VALUE record, VALUE value)
{
    rb_ivar_set(record, id_value, value);
}

void
ice_record_init(void)
{
    id_kind = rb_intern("@kind");
    id_name = rb_intern("@class_name");
    id_value = rb_intern("@value");
    ice_record = rb_define_class_under(ice_module, "Record", rb_cObject);
    rb_define_attr(ice_record, "kind", 1, 0);
    rb_define_attr(ice_record, "class_name", 1, 0);
    rb_define_attr(ice_record, "value", 1, 0);
    rb_undef_method(CLASS_OF(ice_record), "new");
}
