/* Calls the hooks of objects (marshal_dump, _dump, _dump_data), and opens their results.
 *
 * A hook may change each object that is being walked, and may define methods. */
#include "core/walk_frames.h"

ID ice_id_marshal_dump, ice_id_dump, ice_id_dump_data;

void
ice_walk_hooks_init(void)
{
    ice_id_marshal_dump = rb_intern("marshal_dump");
    ice_id_dump = rb_intern("_dump");
    ice_id_dump_data = rb_intern("_dump_data");
}

bool
ice_has_hook(const ice_written_class *class, VALUE object, bool class_has, ID method)
{
    return class->is_decided_by_object ? rb_obj_respond_to(object, method, 1) : class_has;
}

VALUE
ice_call_hook(ice_walker *w, VALUE object, ID method, int argc, const VALUE *argv)
{
    const VALUE klass = CLASS_OF(object);
    VALUE result;
    uint32_t i;
    w->ctx->ran_hooks = true;
    /* The hook may define hooks for String, so this is determined again. */
    w->has_plain_strings = false;
    result = rb_funcallv(object, method, argc, argv);
    ice_check_call(w->ctx, w->call);
    /* Objects may have got new variables, so the order of each layout must be verified again. */
    for (i = 0; i < w->ctx->written_count; i++)
        w->ctx->written_classes[i]->layout_call = 0;
    if (CLASS_OF(result) == klass)
        ice_raise(ice_runtime_error, "other", "", "%" PRIsVALUE "#%s returned same class instance", klass,
                  rb_id2name(method));
    return result;
}

void
ice_open_hook_result(ice_walker *w, VALUE object, ice_written_class *class, uint8_t form, uint16_t key, long limit,
                     uint32_t wrapper_count, VALUE result)
{
    const uint64_t payload = ICE_CLASS(ice_written_class_id(w, class)) | ICE_FORM(form);
    const uint32_t node = ice_put_node(w, ICECORE_OPAQUE, 0, key, payload);
    ice_walk_frame *frame = ice_open_frame(w, ICE_WALK_HOOK_RESULT, object, node, 1, limit);
    frame->extra_value = result;
    frame->wrapper_count = wrapper_count;
}

void
ice_open_marshal_dump(ice_walker *w, VALUE object, ice_written_class *class, uint16_t key, long limit)
{
    VALUE result = ice_call_hook(w, object, ice_id_marshal_dump, 0, NULL);
    ice_register_object(w, object);
    ice_open_hook_result(w, object, class, ICECORE_FORM_USER_MARSHAL, key, limit, 0, result);
}

/* Returns true if the object is inside of its own _dump too often. Before Ruby 3.3 Marshal allows
 * such a recursion, and it may end by itself, so there the limit is high. */
static bool
is_inside_dump(const ice_context *ctx, VALUE object)
{
    const uint32_t max_count = RUBY_API_VERSION_CODE < 30300 ? 1000 : 1;
    uint32_t i, count = 0;
    for (i = 0; i < ctx->walk_depth; i++)
        count += ctx->walk_frames[i].kind == ICE_WALK_DUMP && ctx->walk_frames[i].object == object;
    return count >= max_count;
}

void
ice_open_dump(ice_walker *w, VALUE object, ice_written_class *class, uint16_t key, long limit)
{
    VALUE argument = LONG2NUM(limit), text;
    ice_walk_frame *frame;
    uint32_t node, count, base = w->ctx->value_count;
    bool has_encoding;
    if (is_inside_dump(w->ctx, object))
        ice_raise(ice_runtime_error, "other", "", "can't dump recursive object using _dump()");
    text = ice_call_hook(w, object, ice_id_dump, 1, &argument);
    if (!RB_TYPE_P(text, T_STRING))
        ice_raise(ice_type_error, "other", "", "_dump() must return string");
    count = ice_push_variables(w, text);
    has_encoding = ENCODING_GET(text) != rb_ascii8bit_encindex();
    /* Marshal writes variables of the object itself only if the string has neither variables nor
     * an encoding. */
    if (!count && !has_encoding && !RB_TYPE_P(object, T_OBJECT) && !RB_TYPE_P(object, T_CLASS) &&
        !RB_TYPE_P(object, T_MODULE))
        count = ice_push_variables(w, object);
    node = ice_put_node(w, ICECORE_OPAQUE, 0, key,
                        ICE_CLASS(ice_written_class_id(w, class)) | ICE_FORM(ICECORE_FORM_USER_DUMP));
    frame = ice_open_frame(w, ICE_WALK_DUMP, object, node, 1, limit);
    frame->base = base;
    frame->extra_value = text;
    if (count) {
        const uint32_t wrapper = ice_put_node(w, ICECORE_ATTRS, 0, ICECORE_NO_KEY, 0);
        ice_walk_frame *variables;
        variables = ice_open_frame(w, ICE_WALK_VARIABLES, text, wrapper, count, limit);
        variables->base = base;
    }
    ice_put_string(w, text, ICECORE_NO_KEY, 0);
}
