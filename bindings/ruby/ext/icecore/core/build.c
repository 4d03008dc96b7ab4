/* The machine that builds values. It has a frame for each container that holds others,
 * so depth takes memory, but no stack.
 *
 * The contents of a container are on the stack of values, keys before their values,
 * until the container ends. A container to which a link refers is made first, and gets
 * each value at once, because a hook may look at it. */
#include "core/build.h"

/* Number of items of an array that wait before they are added. */
#define RUN 64

static ice_build_frame *
open_frame(ice_builder *b, uint8_t kind, uint32_t at, uint32_t end)
{
    ice_context *ctx = b->ctx;
    ice_build_frame *frame;
    if (ICE_UNLIKELY(ctx->build_depth == ctx->build_room))
        ctx->building = ice_stack_grow(ctx->building, &ctx->build_room, sizeof *ctx->building, 64);
    frame = &ctx->building[ctx->build_depth];
    *frame = (ice_build_frame){ .kind = kind, .node = at, .end = end, .base = ctx->value_count };
    ctx->build_depth++;
    return frame;
}

static ice_build_frame *
top_frame(const ice_context *ctx)
{
    return ctx->build_depth ? &ctx->building[ctx->build_depth - 1] : NULL;
}

/* Whether the value that begins now is completed by something around it. */
static bool
is_partial(ice_context *ctx)
{
    const ice_build_frame *top = top_frame(ctx);
    if (top && top->kind == ICE_B_REGEXP)
        return true;
    if (!top || ctx->value_count != top->base)
        return false;
    return top->kind == ICE_B_VARIABLES || top->kind == ICE_B_MODULE || top->kind == ICE_B_RECORD_OF ||
           (top->kind == ICE_B_SUBCLASS && (top->is_partial || top->is_said)) || top->kind == ICE_B_DUMP ||
           (top->kind == ICE_B_DATA && top->is_partial) ||
           (top->kind == ICE_B_RECORD && ctx->view.nodes[top->node].kind == ICECORE_OPAQUE &&
            ICE_FORM_OF(&ctx->view.nodes[top->node]) == ICECORE_FORM_USER_DUMP);
}

static bool
is_record(const ice_class *class)
{
    return class->verdict == ICECORE_AS_RECORD;
}

static VALUE
class_name(ice_builder *b, uint32_t id)
{
    const char *text;
    const icecore_name *name = ice_name(&b->ctx->view.classes, id, &text);
    VALUE string = rb_str_new(text, name->node.aux);
    if (name->node.kind == ICECORE_TEXT)
        rb_enc_associate(string, rb_utf8_encoding());
    if (b->is_slow) {
        VALUE symbol = rb_str_intern(string);
        if (ice_is_first(b, symbol, symbol) && name->node.kind == ICECORE_TEXT && !rb_enc_str_asciionly_p(string))
            ice_leave_encoding(b, &name->node, text, name->node.aux, Qnil);
    }
    return string;
}

static void
note_class(ice_builder *b, uint32_t id)
{
    if (b->is_slow)
        class_name(b, id);
}

/* ---- opening ------------------------------------------------------------------------- */

static void
open_array(ice_builder *b, uint32_t at, const icecore_node *node)
{
    VALUE array = 0;
    ice_build_frame *frame;
    if (node->flags & ICECORE_FLAG_TARGET || node->aux > RUN)
        array = rb_ary_new_capa(node->aux);
    frame = open_frame(b, ICE_B_ARRAY, at, (uint32_t)node->payload);
    frame->object = array;
}

static void
open_hash(ice_builder *b, uint32_t at, const icecore_node *node)
{
    VALUE hash = 0;
    ice_build_frame *frame;
    if (node->flags & (ICECORE_FLAG_TARGET | ICECORE_FLAG_IDENTITY))
        hash = rb_hash_new();
    if (node->flags & ICECORE_FLAG_IDENTITY)
        ice_call_original(ICE_HASH_MAKE_IDENTITY, hash, 0, NULL);
    frame = open_frame(b, ICE_B_HASH, at, (uint32_t)node->payload);
    frame->object = hash;
}

static void
open_record(ice_builder *b, uint32_t at, const icecore_node *node, const char *kind, VALUE name)
{
    VALUE record = ice_record_new(kind, name, Qnil);
    ice_build_frame *frame = open_frame(b, ICE_B_RECORD, at, (uint32_t)node->payload);
    frame->object = record;
}

static void
open_object(ice_builder *b, uint32_t at, const icecore_node *node)
{
    const bool is_struct = ICE_FORM_OF(node) == ICECORE_FORM_STRUCT;
    const uint32_t id = ICE_CLASS_OF(node);
    ice_class *class = ice_class_slot(b->ctx, id);
    uint8_t kind = ICE_B_MEMBERS;
    VALUE object;
    ice_build_frame *frame;
    note_class(b, id);
    if (is_record(class)) {
        open_record(b, at, node, is_struct ? "struct" : "object", class_name(b, id));
        return;
    }
    class = ice_class_of(b->ctx, &b->settings->classes, id);
    if (!RB_TYPE_P(class->klass, T_CLASS))
        ice_raise(ice_argument_error, "value", "", "%" PRIsVALUE " does not refer to class", class->klass);
    if (class->is_own && (class->how == ICE_RATIONAL_OF || class->how == ICE_COMPLEX_OF)) {
        frame = open_frame(b, ICE_B_PARTS, at, (uint32_t)node->payload);
        frame->class = class;
        return;
    }
    object = rb_obj_alloc(class->klass);
    ice_check_call(b->ctx, b->call);
    class = ice_class_slot(b->ctx, id);
    if (is_struct) {
        if (!RB_TYPE_P(object, T_STRUCT))
            ice_raise(ice_type_error, "value", "", "class %" PRIsVALUE " not a struct", class->klass);
        kind = ICE_B_STRUCT;
    } else if (class->how == ICE_RANGE_OF)
        kind = ICE_B_RANGE;
    else if (!RB_TYPE_P(object, T_OBJECT))
        ice_raise(ice_argument_error, "malformed", "", "dump format error");
    else if (class->how == ICE_SET_OF)
        kind = ICE_B_SET;
    frame = open_frame(b, kind, at, (uint32_t)node->payload);
    frame->object = object;
    frame->class = class;
}

/* Modules around an object are mixed in before marshal_load, because they may define it. */
static void
extend_early(ice_context *ctx, VALUE object)
{
    uint32_t i;
    for (i = ctx->build_depth; i > 0 && ctx->building[i - 1].kind == ICE_B_MODULE; i--) {
        VALUE module = ctx->building[i - 1].klass;
        if (RB_TYPE_P(module, T_MODULE))
            rb_extend_object(object, module);
    }
}

static void
open_opaque(ice_builder *b, uint32_t at, const icecore_node *node)
{
    const uint8_t form = ICE_FORM_OF(node);
    const uint32_t id = ICE_CLASS_OF(node);
    const char *method;
    ice_class *class = ice_class_slot(b->ctx, id);
    ice_build_frame *frame;
    VALUE object = 0, klass;
    note_class(b, id);
    if (is_record(class)) {
        open_record(b, at, node,
                    form == ICECORE_FORM_USER_DUMP ? "dump"
                    : form == ICECORE_FORM_DATA    ? "data"
                                                   : "marshal",
                    class_name(b, id));
        return;
    }
    class = ice_class_of(b->ctx, &b->settings->classes, id);
    klass = class->klass;
    if (!RB_TYPE_P(klass, T_CLASS))
        ice_raise(ice_argument_error, "value", "", "%" PRIsVALUE " does not refer to class", klass);
    if (class->how == ICE_DATE_OF && class->is_own && form == ICECORE_FORM_USER_MARSHAL)
        object = rb_obj_alloc(klass);
    else if (!class->is_own) {
        bool responds;
        if (form != ICECORE_FORM_USER_DUMP)
            object = rb_obj_alloc(klass);
        ice_check_call(b->ctx, b->call);
        if (form == ICECORE_FORM_DATA && !RB_TYPE_P(object, T_DATA))
            ice_raise(ice_argument_error, "malformed", "", "dump format error");
        if (form == ICECORE_FORM_USER_MARSHAL)
            extend_early(b->ctx, object);
        method = form == ICECORE_FORM_USER_DUMP ? "_load" : form == ICECORE_FORM_DATA ? "_load_data" : "marshal_load";
        responds = rb_obj_respond_to(object ? object : klass, rb_intern(method), 1);
        ice_check_call(b->ctx, b->call);
        if (!responds)
            ice_raise(ice_type_error, "value", "",
                      form == ICECORE_FORM_USER_DUMP ? "class %" PRIsVALUE " needs to have method `%s'"
                      : form == ICECORE_FORM_DATA    ? "class %" PRIsVALUE " needs to have instance method `%s'"
                                                     : "instance of %" PRIsVALUE " needs to have method `%s'",
                      klass, method);
        class = ice_class_slot(b->ctx, id);
    }
    frame = open_frame(b,
                       form == ICECORE_FORM_USER_DUMP ? ICE_B_DUMP
                       : form == ICECORE_FORM_DATA    ? ICE_B_DATA
                                                      : ICE_B_MARSHAL,
                       at, (uint32_t)node->payload);
    frame->object = object;
    frame->class = class;
}

/* Whether the value inside of modules and classes declares its encoding. */
static bool
says_encoding(ice_builder *b, uint32_t at)
{
    const icecore_node *node = &b->ctx->view.nodes[at];
    while (node->kind == ICECORE_ATTRS)
        node++;
    if (node->kind == ICECORE_REGEXP)
        node++;
    return node->kind == ICECORE_TEXT || node->kind == ICECORE_ENCODED;
}

static void
refuse_variables(ice_builder *b, const icecore_node *module)
{
    size_t len;
    const char *name = ice_bytes_of(&b->ctx->view, module, &len);
    const uint8_t form = ICE_FORM_OF(module);
    ice_raise(ice_type_error, "value", "", "can't override instance variable of %s `%" PRIsVALUE "'",
              form == ICECORE_FORM_MODULE ? "module" : form == ICECORE_FORM_OLD_MODULE ? "class/module" : "class",
              rb_utf8_str_new(name, len));
}

static void
open_attributes(ice_builder *b, uint32_t at, const icecore_node *node)
{
    const uint32_t id = ICE_CLASS_OF(node), end = (uint32_t)node->payload;
    const bool partial = is_partial(b->ctx);
    ice_class *class;
    ice_build_frame *frame;
    VALUE klass;
    bool is_module, is_said;
    if (!id) {
        const icecore_node *inner = node + 1;
        if (inner->kind == ICECORE_MODULE)
            refuse_variables(b, inner);
        while (inner->kind == ICECORE_ATTRS)
            inner++;
        frame = open_frame(b, ICE_B_VARIABLES, at, end);
        frame->is_partial = partial;
        frame->is_shared = b->is_slow || inner->flags & ICECORE_FLAG_TARGET;
        return;
    }
    is_module = ICE_FORM_OF(node) == ICECORE_FORM_MODULE;
    class = ice_class_slot(b->ctx, id);
    note_class(b, id);
    if (is_record(class)) {
        VALUE record = ice_record_new(is_module ? "extended" : "subclass", class_name(b, id), Qnil);
        frame = open_frame(b, ICE_B_RECORD_OF, at, end);
        frame->object = record;
        frame->is_partial = partial;
        return;
    }
    klass = ice_class_of(b->ctx, &b->settings->classes, id)->klass;
    if (!is_module && !RB_TYPE_P(klass, T_CLASS))
        ice_raise(ice_argument_error, "value", "", "%" PRIsVALUE " does not refer to class", klass);
    is_said = b->is_slow && says_encoding(b, at);
    frame = open_frame(b, is_module ? ICE_B_MODULE : ICE_B_SUBCLASS, at, end);
    frame->klass = klass;
    frame->is_said = is_said;
    frame->is_partial = partial;
}

static void
open_container(ice_builder *b, uint32_t at, const icecore_node *node)
{
    ice_context *ctx = b->ctx;
    const bool partial = is_partial(ctx);
    ice_build_frame *frame;
    switch (node->kind) {
    case ICECORE_ARRAY:
        open_array(b, at, node);
        break;
    case ICECORE_MAP:
        open_hash(b, at, node);
        break;
    case ICECORE_OBJECT:
        open_object(b, at, node);
        break;
    case ICECORE_OPAQUE:
        open_opaque(b, at, node);
        break;
    case ICECORE_ATTRS:
        open_attributes(b, at, node);
        return;
    case ICECORE_REGEXP:
        if (ice_policy_is_record(&b->settings->classes, "Regexp", 6))
            open_record(b, at, node, "regexp", rb_utf8_str_new_cstr("Regexp"));
        else
            open_frame(b, ICE_B_REGEXP, at, (uint32_t)node->payload);
        break;
    default:
        ice_host_fail("a value that Ruby has nothing for");
    }
    frame = top_frame(ctx);
    frame->is_partial = partial;
    if (node->flags & ICECORE_FLAG_TARGET && frame->object) {
        frame->is_shared = true;
        ice_remember(b, at, frame->object);
    }
}

/* ---- putting ------------------------------------------------------------------------------- */

/* Adds the waiting values to a container to which a link refers. */
static void
hand_over(ice_builder *b, ice_build_frame *frame)
{
    ice_context *ctx = b->ctx;
    const VALUE *values = ctx->values + frame->base;
    const uint32_t count = ctx->value_count - frame->base;
    if (frame->kind == ICE_B_VARIABLES) {
        if (count == 3) {
            ice_set_variables(values[0], values + 1, 1);
            ctx->value_count -= 2;
        }
        return;
    }
    if (frame->kind == ICE_B_ARRAY)
        rb_ary_cat(frame->object, values, count);
    else if (count != 2)
        return;
    else if (frame->kind == ICE_B_HASH)
        rb_hash_aset(frame->object, values[0], values[1]), ice_check_call(ctx, b->call);
    else if (frame->kind == ICE_B_SET)
        ice_set_of(b, frame->object, values, 1);
    /* Marshal sets all variables of an exception at once. */
    else if (frame->kind == ICE_B_MEMBERS && frame->class->how != ICE_EXCEPTION_OF)
        ice_set_members(b, NULL, frame->object, values, 1);
    else
        return;
    ctx->value_count = ctx->building[ctx->build_depth - 1].base;
}

static void
put(ice_builder *b, VALUE value)
{
    ice_build_frame *top = top_frame(b->ctx);
    ice_push_value(b->ctx, value);
    if (!top)
        return;
    if (ICE_UNLIKELY(top->is_shared) ||
        (top->kind == ICE_B_ARRAY && top->object && b->ctx->value_count - top->base >= RUN))
        hand_over(b, top);
}

/* Does what Marshal does after a key of a hash: a symbol that was met before is a link,
 * and so is an equal string. */
static VALUE
leave_key(ice_builder *b, const icecore_node *node, const char *text, size_t len, VALUE key)
{
    VALUE name = key;
    if (RB_TYPE_P(key, T_STRING))
        name = rb_ary_new_from_args(2, key, rb_enc_from_encoding(rb_enc_get(key)));
    else if (!SYMBOL_P(key))
        return ice_leave(b, key);
    if (ice_is_first(b, name, key)) {
        ice_leave_encoding(b, node, text, len, key);
        return ice_leave(b, key);
    }
    return SYMBOL_P(key) ? key : ice_leave_again(b, rb_hash_lookup(b->seen, name));
}

/* Pushes the key of the value at a node, unless the key has a node of its own. */
static void
put_key(ice_builder *b, const icecore_node *node)
{
    VALUE key;
    if (node->key == ICECORE_NO_KEY || node->key >= ICECORE_IS_KEY)
        return;
    key = ice_key_value(b, node->key);
    if (ICE_UNLIKELY(b->is_slow)) {
        const char *text;
        const icecore_name *name = ice_name(&b->ctx->view.keys, node->key, &text);
        if (top_frame(b->ctx)->kind == ICE_B_HASH)
            key = leave_key(b, &name->node, text, name->node.aux, key);
        else if (ice_is_first(b, key, key))
            ice_leave_encoding(b, &name->node, text, name->node.aux, Qnil);
    }
    ice_push_value(b->ctx, key);
}

/* Whether this value is unfinished because of a frame: it is built there, or gets
 * variables there. */
static bool
is_unfinished(const ice_context *ctx, const ice_build_frame *frame, VALUE value)
{
    if (frame->object == value)
        return true;
    /* Its contents are still open, and the first value there belongs to them. */
    if (frame != top_frame(ctx) && (frame + 1)->base == frame->base)
        return false;
    return (frame->kind == ICE_B_VARIABLES || frame->kind == ICE_B_MODULE || frame->kind == ICE_B_SUBCLASS) &&
           ctx->value_count > frame->base && ctx->values[frame->base] == value;
}

/* Whether Marshal treats a value as unfinished to the end: the argument of _load_data,
 * if something is around the object; up to 3.1 also values with modules mixed in. */
static bool
stays_unfinished(ice_builder *b, uint32_t at)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    uint32_t outer = at;
    while (outer > 0 && nodes[outer - 1].kind == ICECORE_ATTRS)
        outer--;
    if (outer > 1 && nodes[outer - 1].kind == ICECORE_OPAQUE && ICE_FORM_OF(&nodes[outer - 1]) == ICECORE_FORM_DATA &&
        nodes[outer - 2].kind == ICECORE_ATTRS)
        return nodes[at].kind != ICECORE_FLOAT && nodes[at].kind != ICECORE_BIGINT;
    if (RUBY_API_VERSION_CODE >= 30200)
        return false;
    for (; outer < at; outer++) {
        if (!ICE_CLASS_OF(&nodes[outer]))
            return false;
        if (ICE_FORM_OF(&nodes[outer]) == ICECORE_FORM_MODULE)
            return !says_encoding(b, outer);
    }
    return false;
}

/* Builds a leaf, and does everything that Marshal does after it. */
static VALUE
slow_leaf(ice_builder *b, uint32_t at)
{
    const icecore_node *node = &b->ctx->view.nodes[at];
    const ice_build_frame *top = top_frame(b->ctx);
    VALUE value;
    const char *text = NULL;
    size_t len = 0;
    const bool is_string = node->kind == ICECORE_BYTES || node->kind == ICECORE_TEXT || node->kind == ICECORE_ENCODED;
    /* Numbers, true, false and nil are finished, whatever is around them. */
    const bool partial =
        (is_string || node->kind == ICECORE_SYMBOL || node->kind == ICECORE_MODULE) && is_partial(b->ctx);
    value = ice_leaf(b, at);
    if (is_string || node->kind == ICECORE_SYMBOL)
        text = ice_bytes_of(&b->ctx->view, node, &len);
    /* A hash that compares by identity treats its keys like values. */
    if (node->key == ICECORE_IS_KEY && node->kind != ICECORE_LINK && node->kind != ICECORE_COPY &&
        !(b->ctx->view.nodes[top->node].flags & ICECORE_FLAG_IDENTITY)) {
        if (top->kind == ICE_B_HASH)
            return leave_key(b, node, text, len, value);
        if (ice_is_first(b, value, value))
            ice_leave_encoding(b, node, text, len, Qnil);
        return value;
    }
    if (node->kind == ICECORE_SYMBOL) {
        if (!ice_is_first(b, value, value))
            return value;
        ice_leave_encoding(b, node, text, len, value);
        return partial ? value : ice_leave(b, value);
    }
    if (node->kind == ICECORE_LINK || node->kind == ICECORE_COPY) {
        const icecore_node *target = &b->ctx->view.nodes[(uint32_t)node->payload];
        uint32_t i;
        /* Marshal treats the result of a hook as unfinished. */
        if (target->kind == ICECORE_OPAQUE && ICE_FORM_OF(target) != ICECORE_FORM_DATA &&
            (ICE_FORM_OF(target) == ICECORE_FORM_USER_MARSHAL || (target + 1)->kind == ICECORE_BYTES))
            return value;
        if (stays_unfinished(b, (uint32_t)node->payload))
            return value;
        for (i = 0; i < b->ctx->build_depth; i++)
            if (is_unfinished(b->ctx, &b->ctx->building[i], value))
                return value;
        return RB_TYPE_P(value, T_STRING) ? ice_leave_again(b, value) : ice_leave(b, value);
    }
    if (is_string)
        ice_leave_encoding(b, node, text, len, value);
    if (partial)
        return value;
    /* A string that gets another class can't be the one that Ruby interns. */
    if (is_string && top && top->kind == ICE_B_SUBCLASS && b->settings->freeze)
        return ice_call_proc(b, rb_obj_freeze(value));
    return ice_leave(b, value);
}

/* ---- the machine --------------------------------------------------------------------------------- */

/* Does what Marshal does after a container. Up to 3.1 Marshal skipped values with
 * modules mixed in, and did not freeze results of marshal_load. */
static VALUE
leave_container(ice_builder *b, uint8_t kind, VALUE value, bool partial, bool is_said)
{
    const bool is_old = RUBY_API_VERSION_CODE < 30200;
    switch (kind) {
    case ICE_B_SUBCLASS:
        return is_said && !partial ? ice_leave(b, value) : value;
    case ICE_B_MODULE:
        if (is_said)
            return partial ? value : ice_leave(b, value);
        return partial || is_old ? value : ice_leave(b, value);
    case ICE_B_MARSHAL:
        return is_old ? ice_call_proc(b, value) : ice_leave(b, value);
    default:
        return partial ? value : ice_leave(b, value);
    }
}

static VALUE
close_top(ice_builder *b)
{
    ice_context *ctx = b->ctx;
    ice_build_frame *frame = top_frame(ctx);
    const uint32_t at = frame->node, base = frame->base;
    const icecore_node *node = &ctx->view.nodes[at];
    const bool partial = frame->is_partial, is_said = frame->is_said;
    const uint8_t kind = frame->kind;
    bool was_there;
    VALUE value = ice_close(b, frame);
    ice_check_call(ctx, b->call);
    was_there = frame->is_shared;
    ctx->value_count = base;
    ctx->build_depth--;
    if (ICE_UNLIKELY(node->flags & ICECORE_FLAG_TARGET) && !was_there && node->kind != ICECORE_ATTRS)
        ice_remember(b, at, value);
    if (ICE_UNLIKELY(b->is_slow))
        value = leave_container(b, kind, value, partial, is_said);
    return value;
}

VALUE
ice_build(ice_context *ctx, const ice_read_settings *settings)
{
    ice_builder builder = { ctx, ctx->call, settings, ice_build, !NIL_P(settings->proc) || settings->freeze, Qnil };
    ice_builder *b = &builder;
    const icecore_view *view = &ctx->view;
    uint32_t at = view->root;
    VALUE value;
    if (b->is_slow)
        builder.seen = rb_hash_new();
    ice_keys_of(ctx, view->keys.generation);
    ice_classes_renew(ctx, view->classes.generation);
    for (;;) {
        const icecore_node *node = &view->nodes[at];
        put_key(b, node);
        if (ice_is_leaf(node)) {
            value = ICE_UNLIKELY(b->is_slow) ? slow_leaf(b, at) : ice_leaf(b, at);
            at++;
        } else if (!b->is_slow && ice_flat(b, at, &value))
            at = (uint32_t)node->payload;
        else {
            open_container(b, at, node);
            at += node->kind == ICECORE_OBJECT ? 2 : 1;
            if (at < top_frame(ctx)->end)
                continue;
            value = close_top(b);
        }
        while (ctx->build_depth) {
            put(b, value);
            if (at < top_frame(ctx)->end)
                break;
            value = close_top(b);
        }
        if (!ctx->build_depth)
            break;
    }
    RB_GC_GUARD(builder.seen);
    return value;
}
