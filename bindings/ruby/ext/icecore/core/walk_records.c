/* Records are written as they were read. */
#include "core/walk_frames.h"

static bool
is_kind(VALUE kind, const char *name)
{
    return kind == ID2SYM(rb_intern(name));
}

static int
collect_member(VALUE key, VALUE value, VALUE to)
{
    if (!SYMBOL_P(key))
        ice_raise(ice_type_error, "other", "", "the members of a record have symbols as names");
    return ice_collect_entry(key, value, to);
}

void
ice_open_record(ice_walker *w, VALUE record, uint16_t key, long limit)
{
    const VALUE kind = ice_record_kind(record), name = ice_record_name(record), value = ice_record_value(record);
    uint32_t id;
    if (!RB_TYPE_P(name, T_STRING))
        ice_raise(ice_type_error, "other", "", "a record without the name of its class");
    if (is_kind(kind, "class") || is_kind(kind, "module") || is_kind(kind, "old_module")) {
        const uint8_t form = is_kind(kind, "module")       ? ICECORE_FORM_MODULE
                             : is_kind(kind, "old_module") ? ICECORE_FORM_OLD_MODULE
                                                           : ICECORE_FORM_USUAL;
        ice_note_seen(w, record);
        ice_push_string(w->engine, w->tape, ICECORE_MODULE, 0, key, RSTRING_PTR(name), RSTRING_LEN(name));
        w->tape->nodes[w->tape->node_count - 1].payload |= ICE_FORM(form);
        return;
    }
    id = ice_class_id(w, name);
    if (is_kind(kind, "object") || is_kind(kind, "struct")) {
        const uint32_t base = w->ctx->value_count;
        Check_Type(value, T_HASH);
        ice_note_seen(w, record);
        rb_hash_foreach(value, collect_member, (VALUE)w);
        ice_open_named(w, record, id, is_kind(kind, "struct") ? ICECORE_FORM_STRUCT : ICECORE_FORM_USUAL, key, limit, 0, base);
    } else if (is_kind(kind, "marshal") || is_kind(kind, "data")) {
        const uint8_t form = is_kind(kind, "data") ? ICECORE_FORM_DATA : ICECORE_FORM_USER_MARSHAL;
        ice_walk_frame *frame;
        ice_note_seen(w, record);
        frame = ice_open_frame(w, W_ONE, record, ice_put_node(w, ICECORE_OPAQUE, 0, key, ICE_CLASS(id) | ICE_FORM(form)), 1,
                           limit);
        frame->extra = value;
    } else if (is_kind(kind, "dump")) {
        const uint32_t base = w->ctx->value_count;
        uint32_t count;
        Check_Type(value, T_STRING);
        count = ice_variables_of(w, value);
        ice_open_frame(w, W_DUMP, record,
                   ice_put_node(w, ICECORE_OPAQUE, 0, key, ICE_CLASS(id) | ICE_FORM(ICECORE_FORM_USER_DUMP)), 1, limit)
            ->base = base;
        if (count) {
            const uint32_t around = ice_put_node(w, ICECORE_ATTRS, 0, ICECORE_NO_KEY, 0);
            ice_open_frame(w, W_VARIABLES, value, around, count, limit)->base = base;
        }
        ice_put_string(w, value, ICECORE_NO_KEY, 0);
    } else if (is_kind(kind, "regexp")) {
        uint32_t node;
        Check_Type(value, T_ARRAY);
        if (RARRAY_LEN(value) != 2 || !RB_TYPE_P(RARRAY_AREF(value, 0), T_STRING) || !RB_TYPE_P(RARRAY_AREF(value, 1), T_STRING))
            ice_raise(ice_type_error, "other", "", "the record of a regexp has a pattern and letters");
        ice_note_seen(w, record);
        node = ice_put_node(w, ICECORE_REGEXP, 0, key, 0);
        ice_put_string(w, RARRAY_AREF(value, 0), ICECORE_NO_KEY, 0);
        ice_put_string(w, RARRAY_AREF(value, 1), ICECORE_NO_KEY, 0);
        ice_end_node(w->tape, node, 2, 0);
    } else if (is_kind(kind, "extended") || is_kind(kind, "subclass")) {
        const uint8_t form = is_kind(kind, "extended") ? ICECORE_FORM_MODULE : ICECORE_FORM_SUBCLASS;
        const uint32_t node = ice_put_node(w, ICECORE_ATTRS, 0, key, ICE_CLASS(id) | ICE_FORM(form));
        ice_walk_frame *frame = ice_open_frame(w, W_AROUND, record, node, 1, limit);
        frame->extra = value;
    } else
        ice_raise(ice_type_error, "other", "", "a record of an unknown kind, %+" PRIsVALUE, kind);
}
