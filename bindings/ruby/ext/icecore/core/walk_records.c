/* Writes instances of Icecore::Record. A record replaces an object whose class was not built; what is
 * written is the data that the object was read from. */
#include "core/walk_frames.h"

/* Returns true if a record is of this kind. */
static bool
is_kind(VALUE kind, const char *name)
{
    return kind == ID2SYM(rb_intern(name));
}

/* For rb_hash_foreach: pushes a member of a record. */
static int
collect_member(VALUE key, VALUE value, VALUE to)
{
    if (!SYMBOL_P(key))
        ice_raise(ice_type_error, "other", "", "the members of a record have symbols as names");
    return ice_collect_entry(key, value, to);
}

/* Puts the record of a class or a module. */
static void
put_module_record(ice_walker *w, VALUE record, VALUE kind, VALUE name, uint16_t key)
{
    const uint8_t form = is_kind(kind, "module")       ? ICECORE_FORM_MODULE
                         : is_kind(kind, "old_module") ? ICECORE_FORM_OLD_MODULE
                                                       : ICECORE_FORM_USUAL;
    ice_register_object(w, record);
    ice_push_string(w->engine, w->tape, ICECORE_MODULE, 0, key, RSTRING_PTR(name), RSTRING_LEN(name));
    w->tape->nodes[w->tape->node_count - 1].payload |= ICE_FORM(form);
}

/* Puts the node of an object whose contents are the argument of a hook. */
static uint32_t
put_opaque(ice_walker *w, uint32_t class, uint8_t form, uint16_t key)
{
    return ice_put_node(w, ICECORE_OPAQUE, 0, key, ICE_CLASS(class) | ICE_FORM(form));
}

/* Opens the record of an object with _dump. The record's value is the string that _dump returned.
 * The frames are those of ice_open_dump. */
static void
open_dump_record(ice_walker *w, VALUE record, VALUE text, uint32_t class, uint16_t key, long limit)
{
    const uint32_t base = w->ctx->value_count;
    uint32_t count, node;
    Check_Type(text, T_STRING);
    count = ice_push_variables(w, text);
    node = put_opaque(w, class, ICECORE_FORM_USER_DUMP, key);
    ice_open_frame(w, ICE_WALK_DUMP, record, node, 1, limit)->base = base;
    if (count) {
        const uint32_t wrapper = ice_put_node(w, ICECORE_ATTRS, 0, ICECORE_NO_KEY, 0);
        ice_open_frame(w, ICE_WALK_VARIABLES, text, wrapper, count, limit)->base = base;
    }
    ice_put_string(w, text, ICECORE_NO_KEY, 0);
}

/* Puts the record of a regexp. The record's value is an array: the pattern, and the letters of
 * the options. */
static void
put_regexp_record(ice_walker *w, VALUE record, VALUE pair, uint16_t key)
{
    uint32_t node;
    Check_Type(pair, T_ARRAY);
    if (RARRAY_LEN(pair) != 2 || !RB_TYPE_P(RARRAY_AREF(pair, 0), T_STRING) ||
        !RB_TYPE_P(RARRAY_AREF(pair, 1), T_STRING))
        ice_raise(ice_type_error, "other", "", "the record of a regexp has a pattern and letters");
    ice_register_object(w, record);
    node = ice_put_node(w, ICECORE_REGEXP, 0, key, 0);
    ice_put_string(w, RARRAY_AREF(pair, 0), ICECORE_NO_KEY, 0);
    ice_put_string(w, RARRAY_AREF(pair, 1), ICECORE_NO_KEY, 0);
    ice_end_node(w->tape, node, 2, 0);
}

void
ice_open_record(ice_walker *w, VALUE record, uint16_t key, long limit)
{
    const VALUE kind = ice_record_kind(record), name = ice_record_name(record), value = ice_record_value(record);
    uint32_t class;
    if (!RB_TYPE_P(name, T_STRING))
        ice_raise(ice_type_error, "other", "", "a record without the name of its class");
    if (is_kind(kind, "class") || is_kind(kind, "module") || is_kind(kind, "old_module")) {
        put_module_record(w, record, kind, name, key);
        return;
    }
    class = ice_class_id(w, name);
    if (is_kind(kind, "object") || is_kind(kind, "struct")) {
        const uint8_t form = is_kind(kind, "struct") ? ICECORE_FORM_STRUCT : ICECORE_FORM_USUAL;
        const uint32_t base = w->ctx->value_count;
        Check_Type(value, T_HASH);
        ice_register_object(w, record);
        rb_hash_foreach(value, collect_member, (VALUE)w);
        ice_open_members(w, record, class, form, key, limit, 0, base);
    } else if (is_kind(kind, "marshal") || is_kind(kind, "data")) {
        const uint8_t form = is_kind(kind, "data") ? ICECORE_FORM_DATA : ICECORE_FORM_USER_MARSHAL;
        uint32_t node;
        ice_register_object(w, record);
        node = put_opaque(w, class, form, key);
        ice_open_frame(w, ICE_WALK_HOOK_RESULT, record, node, 1, limit)->extra_value = value;
    } else if (is_kind(kind, "dump"))
        open_dump_record(w, record, value, class, key, limit);
    else if (is_kind(kind, "regexp"))
        put_regexp_record(w, record, value, key);
    else if (is_kind(kind, "extended") || is_kind(kind, "subclass")) {
        const uint8_t form = is_kind(kind, "extended") ? ICECORE_FORM_MODULE : ICECORE_FORM_SUBCLASS;
        const uint32_t node = ice_put_node(w, ICECORE_ATTRS, 0, key, ICE_CLASS(class) | ICE_FORM(form));
        ice_open_frame(w, ICE_WALK_WRAPPER_RECORD, record, node, 1, limit)->extra_value = value;
    } else
        ice_raise(ice_type_error, "other", "", "a record of an unknown kind, %+" PRIsVALUE, kind);
}
