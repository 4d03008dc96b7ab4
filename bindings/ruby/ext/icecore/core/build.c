/* The machine that builds values. It has a frame for each container that contains others,
 * so a deep value needs memory for frames, but not the C stack.
 *
 * The contents of a container are on the context's stack of values until the container
 * ends, each key before its value. If a link refers to the container, a hook may see it before
 * it ends. Such a container is therefore created first, and gets each value at once. */
#include "core/build.h"

/* Number of items that wait on the stack before they are added to an array. */
#define MAX_PENDING_ITEMS 64

/* Pushes a frame for the container at `index`, which ends at `end`. */
static ice_build_frame *
open_frame(ice_builder *b, uint8_t kind, uint32_t index, uint32_t end)
{
    ice_context *ctx = b->ctx;
    ice_build_frame *frame;
    if (ICE_UNLIKELY(ctx->build_depth == ctx->build_capacity))
        ctx->build_frames = ice_stack_grow(ctx->build_frames, &ctx->build_capacity, sizeof *ctx->build_frames, 64);
    frame = &ctx->build_frames[ctx->build_depth];
    *frame = (ice_build_frame){ .kind = kind, .node = index, .end = end, .base = ctx->value_count };
    ctx->build_depth++;
    return frame;
}

/* Returns the frame that was opened last, or NULL. */
static ice_build_frame *
top_frame(const ice_context *ctx)
{
    return ctx->build_depth ? &ctx->build_frames[ctx->build_depth - 1] : NULL;
}

/* Returns true if a container around the value that begins now completes it. Except for regexps,
 * only the first value of a frame can be completed, so the frame must not have values yet. */
static bool
is_partial(ice_context *ctx)
{
    const ice_build_frame *top = top_frame(ctx);
    if (top && top->kind == ICE_BUILD_REGEXP)
        return true;
    if (!top || ctx->value_count != top->base)
        return false;
    return top->kind == ICE_BUILD_VARIABLES || top->kind == ICE_BUILD_MODULE ||
           top->kind == ICE_BUILD_WRAPPER_RECORD || top->kind == ICE_BUILD_LOAD ||
           (top->kind == ICE_BUILD_SUBCLASS && (top->is_partial || top->declares_encoding)) ||
           (top->kind == ICE_BUILD_LOAD_DATA && top->is_partial) ||
           (top->kind == ICE_BUILD_RECORD && ctx->view.nodes[top->node].kind == ICECORE_OPAQUE &&
            ICE_FORM_OF(&ctx->view.nodes[top->node]) == ICECORE_FORM_USER_DUMP);
}

/* Returns true if objects of a class become records. */
static bool
is_record(const ice_class *class)
{
    return class->verdict == ICECORE_AS_RECORD;
}

/* Returns the name of a class as a string. In Marshal data the name of a class is a symbol. If values
 * are finished, this symbol is registered, and its encoding is finished at the first use. */
static VALUE
class_name_string(ice_builder *b, uint32_t id)
{
    const char *text;
    const icecore_name *name = ice_name(&b->ctx->view.classes, id, &text);
    VALUE string = rb_enc_str_new(text, name->node.aux, ice_class_name_encoding(&b->ctx->view, &name->node));
    if (b->finishes_values) {
        VALUE symbol = rb_str_intern(string);
        if (ice_is_first_use(b, symbol, symbol) && name->node.kind != ICECORE_BYTES && !rb_enc_str_asciionly_p(string))
            ice_finish_encoding(b, &name->node, text, name->node.aux, Qnil);
    }
    return string;
}

/* Registers the name of a class as a symbol that was met, if values are finished. */
static void
register_class_name(ice_builder *b, uint32_t id)
{
    if (b->finishes_values)
        class_name_string(b, id);
}

/* ---- opening ------------------------------------------------------------------------- */

/* Opens an array. The Array is created now if a link may refer to it, or if it is long. Any other is
 * created at its end, from the values on the stack. */
static void
open_array(ice_builder *b, uint32_t index, const icecore_node *node)
{
    VALUE array = 0;
    ice_build_frame *frame;
    if (node->flags & ICECORE_FLAG_TARGET || node->aux > MAX_PENDING_ITEMS)
        array = rb_ary_new_capa(node->aux);
    frame = open_frame(b, ICE_BUILD_ARRAY, index, (uint32_t)node->payload);
    frame->object = array;
}

/* Opens a map. The Hash is created now if a link may refer to it, or if it must compare by
 * identity before it gets its first key. */
static void
open_hash(ice_builder *b, uint32_t index, const icecore_node *node)
{
    VALUE hash = 0;
    ice_build_frame *frame;
    if (node->flags & (ICECORE_FLAG_TARGET | ICECORE_FLAG_IDENTITY))
        hash = rb_hash_new();
    if (node->flags & ICECORE_FLAG_IDENTITY)
        ice_call_original(ICE_HASH_MAKE_IDENTITY, hash, 0, NULL);
    frame = open_frame(b, ICE_BUILD_HASH, index, (uint32_t)node->payload);
    frame->object = hash;
}

/* Opens a record in the place of an object. */
static void
open_record(ice_builder *b, uint32_t index, const icecore_node *node, const char *kind, VALUE name)
{
    VALUE record = ice_record_new(kind, name, Qnil);
    ice_build_frame *frame = open_frame(b, ICE_BUILD_RECORD, index, (uint32_t)node->payload);
    frame->object = record;
}

/* Opens an object with instance variables, a Struct, a Range, a Set or an old number; or a record
 * if its class is not built. */
static void
open_object(ice_builder *b, uint32_t index, const icecore_node *node)
{
    const bool is_struct = ICE_FORM_OF(node) == ICECORE_FORM_STRUCT;
    const uint32_t id = ICE_CLASS_OF(node);
    ice_class *class = ice_class_entry(b->ctx, id);
    uint8_t kind = ICE_BUILD_OBJECT;
    VALUE object;
    ice_build_frame *frame;
    register_class_name(b, id);
    if (is_record(class)) {
        open_record(b, index, node, is_struct ? "struct" : "object", class_name_string(b, id));
        return;
    }
    class = ice_class_by_id(b->ctx, &b->settings->rules, id);
    if (!RB_TYPE_P(class->klass, T_CLASS))
        ice_raise(ice_argument_error, "value", "", "%" PRIsVALUE " does not refer to class", class->klass);
    if (class->is_builtin && (class->kind == ICE_CLASS_RATIONAL || class->kind == ICE_CLASS_COMPLEX)) {
        frame = open_frame(b, ICE_BUILD_OLD_NUMBER, index, (uint32_t)node->payload);
        frame->class = class;
        return;
    }
    object = rb_obj_alloc(class->klass);
    ice_check_call(b->ctx, b->call);
    /* An allocator may run foreign code, so the entry is looked up again. */
    class = ice_class_entry(b->ctx, id);
    if (is_struct) {
        if (!RB_TYPE_P(object, T_STRUCT))
            ice_raise(ice_type_error, "value", "", "class %" PRIsVALUE " not a struct", class->klass);
        kind = ICE_BUILD_STRUCT;
    } else if (class->kind == ICE_CLASS_RANGE)
        kind = ICE_BUILD_RANGE;
    else if (ice_is_core_set_class(class->klass))
        kind = ICE_BUILD_CORE_SET;
    else if (!RB_TYPE_P(object, T_OBJECT))
        ice_raise(ice_argument_error, "malformed", "", "dump format error");
    else if (class->kind == ICE_CLASS_SET)
        kind = ICE_BUILD_SET;
    frame = open_frame(b, kind, index, (uint32_t)node->payload);
    frame->object = object;
    frame->class = class;
}

/* Mixes in the modules around an object before marshal_load is called, because they may
 * define that method. */
static void
extend_before_marshal_load(ice_context *ctx, VALUE object)
{
    uint32_t i;
    for (i = ctx->build_depth; i > 0 && ctx->build_frames[i - 1].kind == ICE_BUILD_MODULE; i--) {
        VALUE module = ctx->build_frames[i - 1].klass;
        if (RB_TYPE_P(module, T_MODULE))
            rb_extend_object(object, module);
    }
}

/* Opens an object whose contents are the argument of a hook (_load, marshal_load, _load_data). */
static void
open_opaque(ice_builder *b, uint32_t index, const icecore_node *node)
{
    const uint8_t form = ICE_FORM_OF(node);
    const uint32_t id = ICE_CLASS_OF(node);
    const char *method;
    ice_class *class = ice_class_entry(b->ctx, id);
    ice_build_frame *frame;
    VALUE object = 0, klass;
    register_class_name(b, id);
    if (is_record(class)) {
        open_record(b, index, node,
                    form == ICECORE_FORM_USER_DUMP ? "dump"
                    : form == ICECORE_FORM_DATA    ? "data"
                                                   : "marshal",
                    class_name_string(b, id));
        return;
    }
    class = ice_class_by_id(b->ctx, &b->settings->rules, id);
    klass = class->klass;
    if (!RB_TYPE_P(klass, T_CLASS))
        ice_raise(ice_argument_error, "value", "", "%" PRIsVALUE " does not refer to class", klass);
    if (class->kind == ICE_CLASS_DATE && class->is_builtin && form == ICECORE_FORM_USER_MARSHAL)
        object = rb_obj_alloc(klass);
    else if (!class->is_builtin) {
        bool responds;
        if (form != ICECORE_FORM_USER_DUMP)
            object = rb_obj_alloc(klass);
        ice_check_call(b->ctx, b->call);
        if (form == ICECORE_FORM_DATA && !RB_TYPE_P(object, T_DATA))
            ice_raise(ice_argument_error, "malformed", "", "dump format error");
        if (form == ICECORE_FORM_USER_MARSHAL)
            extend_before_marshal_load(b->ctx, object);
        method = form == ICECORE_FORM_USER_DUMP ? "_load" : form == ICECORE_FORM_DATA ? "_load_data" : "marshal_load";
        responds = rb_obj_respond_to(object ? object : klass, rb_intern(method), 1);
        ice_check_call(b->ctx, b->call);
        if (!responds)
            ice_raise(ice_type_error, "value", "",
                      form == ICECORE_FORM_USER_DUMP ? "class %" PRIsVALUE " needs to have method `%s'"
                      : form == ICECORE_FORM_DATA    ? "class %" PRIsVALUE " needs to have instance method `%s'"
                                                     : "instance of %" PRIsVALUE " needs to have method `%s'",
                      klass, method);
        class = ice_class_entry(b->ctx, id);
    }
    frame = open_frame(b,
                       form == ICECORE_FORM_USER_DUMP ? ICE_BUILD_LOAD
                       : form == ICECORE_FORM_DATA    ? ICE_BUILD_LOAD_DATA
                                                      : ICE_BUILD_MARSHAL_LOAD,
                       index, (uint32_t)node->payload);
    frame->object = object;
    frame->class = class;
}

/* Returns true if the value inside of modules and classes declares its encoding. */
static bool
value_declares_encoding(ice_builder *b, uint32_t index)
{
    const icecore_node *node = &b->ctx->view.nodes[index];
    /* Wrappers are directly before the value, and the pattern directly after its regexp. */
    while (node->kind == ICECORE_ATTRS)
        node++;
    if (node->kind == ICECORE_REGEXP)
        node++;
    return node->kind == ICECORE_TEXT || node->kind == ICECORE_ENCODED;
}

/* Raises: the data sets instance variables of a module or class. */
static void
raise_module_variables(ice_builder *b, const icecore_node *module)
{
    size_t len;
    const char *name = ice_bytes_of(&b->ctx->view, module, &len);
    const uint8_t form = ICE_FORM_OF(module);
    ice_raise(ice_type_error, "value", "", "can't override instance variable of %s `%" PRIsVALUE "'",
              form == ICECORE_FORM_MODULE ? "module" : form == ICECORE_FORM_OLD_MODULE ? "class/module" : "class",
              rb_utf8_str_new(name, len));
}

/* Opens a wrapper: the variables of a value, a module around it, or a subclass of a core class. */
static void
open_wrapper(ice_builder *b, uint32_t index, const icecore_node *node)
{
    const uint32_t id = ICE_CLASS_OF(node), end = (uint32_t)node->payload;
    const bool is_partial_value = is_partial(b->ctx);
    ice_class *class;
    ice_build_frame *frame;
    VALUE klass;
    bool is_module, declares_encoding;
    /* A wrapper without a class has instance variables. */
    if (!id) {
        const icecore_node *inner = node + 1;
        /* A class has no variables in a dump, but since Ruby 3.4 its name may have an encoding, which is not on the tape. */
        if (inner->kind == ICECORE_MODULE && (node->aux > 1 || !ice_names_have_encodings))
            raise_module_variables(b, inner);
        while (inner->kind == ICECORE_ATTRS)
            inner++;
        frame = open_frame(b, ICE_BUILD_VARIABLES, index, end);
        frame->is_partial = is_partial_value;
        frame->is_shared = b->finishes_values || inner->flags & ICECORE_FLAG_TARGET;
        return;
    }
    is_module = ICE_FORM_OF(node) == ICECORE_FORM_MODULE;
    class = ice_class_entry(b->ctx, id);
    register_class_name(b, id);
    if (is_record(class)) {
        VALUE record = ice_record_new(is_module ? "extended" : "subclass", class_name_string(b, id), Qnil);
        frame = open_frame(b, ICE_BUILD_WRAPPER_RECORD, index, end);
        frame->object = record;
        frame->is_partial = is_partial_value;
        return;
    }
    klass = ice_class_by_id(b->ctx, &b->settings->rules, id)->klass;
    if (!is_module && !RB_TYPE_P(klass, T_CLASS))
        ice_raise(ice_argument_error, "value", "", "%" PRIsVALUE " does not refer to class", klass);
    declares_encoding = b->finishes_values && value_declares_encoding(b, index);
    frame = open_frame(b, is_module ? ICE_BUILD_MODULE : ICE_BUILD_SUBCLASS, index, end);
    frame->klass = klass;
    frame->declares_encoding = declares_encoding;
    frame->is_partial = is_partial_value;
}

/* Opens the container at `index`. */
static void
open_container(ice_builder *b, uint32_t index, const icecore_node *node)
{
    ice_context *ctx = b->ctx;
    const bool is_partial_value = is_partial(ctx);
    ice_build_frame *frame;
    switch (node->kind) {
    case ICECORE_ARRAY:
        open_array(b, index, node);
        break;
    case ICECORE_MAP:
        open_hash(b, index, node);
        break;
    case ICECORE_OBJECT:
        open_object(b, index, node);
        break;
    case ICECORE_OPAQUE:
        open_opaque(b, index, node);
        break;
    case ICECORE_ATTRS:
        open_wrapper(b, index, node);
        return;
    case ICECORE_REGEXP:
        if (ice_policy_is_record(&b->settings->rules, "Regexp", 6))
            open_record(b, index, node, "regexp", rb_utf8_str_new_cstr("Regexp"));
        else
            open_frame(b, ICE_BUILD_REGEXP, index, (uint32_t)node->payload);
        break;
    default:
        ice_host_fail("a value that Ruby has nothing for");
    }
    frame = top_frame(ctx);
    frame->is_partial = is_partial_value;
    /* A target that does not exist yet is set in close_top. */
    if (node->flags & ICECORE_FLAG_TARGET && frame->object) {
        frame->is_shared = true;
        ice_set_link_target(b, index, frame->object);
    }
}

/* ---- adding values ------------------------------------------------------------------------------- */

/* Moves values from the stack to a container that exists already: a shared one, or a long
 * array. */
static void
flush_values(ice_builder *b, ice_build_frame *frame)
{
    ice_context *ctx = b->ctx;
    const VALUE *values = ctx->values + frame->base;
    const uint32_t count = ctx->value_count - frame->base;
    if (frame->kind == ICE_BUILD_VARIABLES) {
        /* The value stays on the stack; a name and a value after it are one variable. */
        if (count == 3) {
            ice_set_variables(values[0], values + 1, 1);
            ctx->value_count -= 2;
        }
        return;
    }
    /* The other containers wait until a key and its value are on the stack. */
    if (frame->kind == ICE_BUILD_ARRAY)
        rb_ary_cat(frame->object, values, count);
    else if (count != 2)
        return;
    else if (frame->kind == ICE_BUILD_HASH) {
        rb_hash_aset(frame->object, values[0], values[1]);
        ice_check_call(ctx, b->call);
    } else if (frame->kind == ICE_BUILD_SET)
        ice_set_set_members(b, frame->object, values, 1);
    /* Marshal sets all variables of an exception at once. */
    else if (frame->kind == ICE_BUILD_OBJECT && frame->class->kind != ICE_CLASS_EXCEPTION)
        ice_set_members(b, NULL, frame->object, values, 1);
    else
        return;
    /* A method of a key may have moved the frames, so `frame` is not used here. */
    ctx->value_count = ctx->build_frames[ctx->build_depth - 1].base;
}

/* Adds a complete value to the top frame. */
static void
add_value(ice_builder *b, VALUE value)
{
    ice_build_frame *top = top_frame(b->ctx);
    ice_push_value(b->ctx, value);
    if (!top)
        return;
    if (ICE_UNLIKELY(top->is_shared) ||
        (top->kind == ICE_BUILD_ARRAY && top->object && b->ctx->value_count - top->base >= MAX_PENDING_ITEMS))
        flush_values(b, top);
}

/* Finishes a key of a hash. In the data, a symbol that was met before is a link, and so is a key
 * that equals an earlier string key. Marshal does not finish a linked symbol again, but it
 * finishes a linked string. */
static VALUE
finish_key(ice_builder *b, const icecore_node *node, const char *text, size_t len, VALUE key)
{
    VALUE name = key;
    /* Strings of different encodings may be equal in Ruby, so the name has the encoding too. */
    if (RB_TYPE_P(key, T_STRING))
        name = rb_ary_new_from_args(2, key, rb_enc_from_encoding(rb_enc_get(key)));
    else if (!SYMBOL_P(key))
        return ice_finish_value(b, key);
    if (ice_is_first_use(b, name, key)) {
        ice_finish_encoding(b, node, text, len, key);
        return ice_finish_value(b, key);
    }
    return SYMBOL_P(key) ? key : ice_finish_linked_string(b, rb_hash_lookup(b->known_names, name));
}

/* Pushes the key of the value at a node, unless the key has a node of its own. Numbers from
 * ICECORE_IS_KEY on are not ids. */
static void
push_key(ice_builder *b, const icecore_node *node)
{
    VALUE key;
    if (node->key == ICECORE_NO_KEY || node->key >= ICECORE_IS_KEY)
        return;
    key = ice_key_value(b, node->key);
    if (ICE_UNLIKELY(b->finishes_values)) {
        const char *text;
        const icecore_name *name = ice_name(&b->ctx->view.keys, node->key, &text);
        if (top_frame(b->ctx)->kind == ICE_BUILD_HASH)
            key = finish_key(b, &name->node, text, name->node.aux, key);
        else if (ice_is_first_use(b, key, key))
            ice_finish_encoding(b, &name->node, text, name->node.aux, Qnil);
    }
    ice_push_value(b->ctx, key);
}

/* Returns true if a frame will still change this value, because it builds the value or sets its
 * variables, modules or class. */
static bool
is_unfinished(const ice_context *ctx, const ice_build_frame *frame, VALUE value)
{
    if (frame->object == value)
        return true;
    /* If the next frame begins at the same place of the stack, the first value there belongs
     * to that frame. */
    if (frame != top_frame(ctx) && (frame + 1)->base == frame->base)
        return false;
    return (frame->kind == ICE_BUILD_VARIABLES || frame->kind == ICE_BUILD_MODULE ||
            frame->kind == ICE_BUILD_SUBCLASS) &&
           ctx->value_count > frame->base && ctx->values[frame->base] == value;
}

/* Returns true if Marshal never finishes a value. This is the argument of _load_data if the
 * object has wrappers. Up to Ruby 3.1 it is also a value with modules mixed in. */
static bool
stays_unfinished(ice_builder *b, uint32_t index)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    uint32_t outer = index;
    while (outer > 0 && nodes[outer - 1].kind == ICECORE_ATTRS)
        outer--;
    if (outer > 1 && nodes[outer - 1].kind == ICECORE_OPAQUE && ICE_FORM_OF(&nodes[outer - 1]) == ICECORE_FORM_DATA &&
        nodes[outer - 2].kind == ICECORE_ATTRS)
        return nodes[index].kind != ICECORE_FLOAT && nodes[index].kind != ICECORE_BIGINT;
    if (RUBY_API_VERSION_CODE >= 30200)
        return false;
    for (; outer < index; outer++) {
        if (!ICE_CLASS_OF(&nodes[outer]))
            return false;
        if (ICE_FORM_OF(&nodes[outer]) == ICECORE_FORM_MODULE)
            return !value_declares_encoding(b, outer);
    }
    return false;
}

/* Builds a leaf, and finishes it. */
static VALUE
build_and_finish_leaf(ice_builder *b, uint32_t index)
{
    const icecore_node *node = &b->ctx->view.nodes[index];
    const ice_build_frame *top = top_frame(b->ctx);
    VALUE value;
    const char *text = NULL;
    size_t len = 0;
    const bool is_string = node->kind == ICECORE_BYTES || node->kind == ICECORE_TEXT || node->kind == ICECORE_ENCODED;
    /* Marshal finishes numbers, true, false and nil at once, even inside of a wrapper. */
    const bool is_partial_value =
        (is_string || node->kind == ICECORE_SYMBOL || node->kind == ICECORE_MODULE) && is_partial(b->ctx);
    value = ice_build_rare_leaf(b, index);
    if (is_string || node->kind == ICECORE_SYMBOL)
        text = ice_bytes_of(&b->ctx->view, node, &len);
    /* A hash that compares by identity treats its keys like values. */
    if (node->key == ICECORE_IS_KEY && node->kind != ICECORE_LINK && node->kind != ICECORE_COPY &&
        !(b->ctx->view.nodes[top->node].flags & ICECORE_FLAG_IDENTITY)) {
        if (top->kind == ICE_BUILD_HASH)
            return finish_key(b, node, text, len, value);
        if (ice_is_first_use(b, value, value))
            ice_finish_encoding(b, node, text, len, Qnil);
        return value;
    }
    if (node->kind == ICECORE_SYMBOL) {
        if (!ice_is_first_use(b, value, value))
            return value;
        ice_finish_encoding(b, node, text, len, value);
        return is_partial_value ? value : ice_finish_value(b, value);
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
            if (is_unfinished(b->ctx, &b->ctx->build_frames[i], value))
                return value;
        return RB_TYPE_P(value, T_STRING) ? ice_finish_linked_string(b, value) : ice_finish_value(b, value);
    }
    if (is_string)
        ice_finish_encoding(b, node, text, len, value);
    if (is_partial_value)
        return value;
    /* A string that gets another class can't be the one that Ruby interns. */
    if (is_string && top && top->kind == ICE_BUILD_SUBCLASS && b->settings->freeze)
        return ice_call_proc(b, rb_obj_freeze(value));
    return ice_finish_value(b, value);
}

/* ---- the machine --------------------------------------------------------------------------------- */

/* Finishes a container, unless a container around it completes its value. Up to Ruby 3.1 Marshal did
 * not finish values with modules mixed in, and did not freeze results of marshal_load. */
static VALUE
finish_container(ice_builder *b, uint8_t kind, VALUE value, bool is_partial_value, bool declares_encoding)
{
    const bool is_before_3_2 = RUBY_API_VERSION_CODE < 30200;
    switch (kind) {
    case ICE_BUILD_SUBCLASS:
        return declares_encoding && !is_partial_value ? ice_finish_value(b, value) : value;
    case ICE_BUILD_MODULE:
        if (declares_encoding)
            return is_partial_value ? value : ice_finish_value(b, value);
        return is_partial_value || is_before_3_2 ? value : ice_finish_value(b, value);
    case ICE_BUILD_MARSHAL_LOAD:
        return is_before_3_2 ? ice_call_proc(b, value) : ice_finish_value(b, value);
    default:
        return is_partial_value ? value : ice_finish_value(b, value);
    }
}

/* Closes the top frame, and returns its value. */
static VALUE
close_top(ice_builder *b)
{
    ice_context *ctx = b->ctx;
    ice_build_frame *frame = top_frame(ctx);
    const uint32_t index = frame->node, base = frame->base;
    const icecore_node *node = &ctx->view.nodes[index];
    const bool is_partial_value = frame->is_partial, declares_encoding = frame->declares_encoding;
    /* The payload of a dump has no variables if it is binary. */
    const bool is_bare_dump = frame->kind == ICE_BUILD_LOAD && node[1].kind == ICECORE_BYTES;
    const uint8_t kind = frame->kind;
    bool was_shared;
    VALUE value = ice_close_frame(b, frame);
    ice_check_call(ctx, b->call);
    was_shared = frame->is_shared;
    ctx->value_count = base;
    ctx->build_depth--;
    /* A link to a wrapped value names the node of the value, so a wrapper is never a target. */
    if (ICE_UNLIKELY(node->flags & ICECORE_FLAG_TARGET) && !was_shared && node->kind != ICECORE_ATTRS)
        ice_set_link_target(b, index, value);
    if (ICE_UNLIKELY(b->finishes_values))
        value = is_bare_dump && !ice_freezes_bare_dumps && !is_partial_value
                    ? ice_call_proc(b, value)
                    : finish_container(b, kind, value, is_partial_value, declares_encoding);
    return value;
}

VALUE
ice_build(ice_context *ctx, const ice_read_settings *settings)
{
    ice_builder builder = { ctx, ctx->call, settings, ice_build, !NIL_P(settings->proc) || settings->freeze, Qnil };
    ice_builder *b = &builder;
    const icecore_view *view = &ctx->view;
    uint32_t index = view->root;
    VALUE value;
    if (b->finishes_values)
        builder.known_names = rb_hash_new();
    ice_check_key_generation(ctx, view->keys.generation);
    ice_renew_classes(ctx, view->classes.generation);
    for (;;) {
        const icecore_node *node = &view->nodes[index];
        push_key(b, node);
        if (ice_is_leaf(node)) {
            value = ICE_UNLIKELY(b->finishes_values) ? build_and_finish_leaf(b, index) : ice_build_rare_leaf(b, index);
            index++;
        } else if (!b->finishes_values && ice_build_flat(b, index, &value))
            index = (uint32_t)node->payload;
        else {
            open_container(b, index, node);
            /* The map of an object is a node too, but it has no frame of its own. */
            index += node->kind == ICECORE_OBJECT ? 2 : 1;
            if (index < top_frame(ctx)->end)
                continue;
            value = close_top(b);
        }
        /* The value may be the last one of several containers, which then all end here. */
        while (ctx->build_depth) {
            add_value(b, value);
            if (index < top_frame(ctx)->end)
                break;
            value = close_top(b);
        }
        if (!ctx->build_depth)
            break;
    }
    RB_GC_GUARD(builder.known_names);
    return value;
}
