/* Turns a container into its value when its contents are complete. */
#include "core/build.h"
#include "core/nested.h"
#include "core/policy.h"

/* ---- objects --------------------------------------------------------------------- */

/* Returns the id of a name. The name must be a symbol. */
static ID
symbol_id(VALUE symbol)
{
    if (!SYMBOL_P(symbol))
        ice_raise(ice_argument_error, "malformed", "", "dump format error for symbol");
    return rb_sym2id(symbol);
}

/* Raises if a variable declares an encoding, because this object can't have one. */
static void
check_no_encoding(VALUE object, ID id, VALUE value)
{
    if (ICE_LIKELY(id != rb_intern("E") && id != rb_intern("encoding")))
        return;
    if (id == rb_intern("E") ? value == Qtrue || value == Qfalse
                             : RB_TYPE_P(value, T_STRING) && rb_enc_find_index(StringValueCStr(value)) >= 0)
        ice_raise(ice_argument_error, "malformed", "", "%" PRIsVALUE " is not enc_capable", rb_any_to_s(object));
}

/* Returns true if an object can have an encoding. */
static bool
has_encoding(VALUE object)
{
    return RB_TYPE_P(object, T_STRING) || RB_TYPE_P(object, T_REGEXP) || RB_TYPE_P(object, T_SYMBOL) ||
           rb_obj_class(object) == rb_cEncoding;
}

void
ice_set_members(ice_builder *b, ice_class *class, VALUE object, const VALUE *pairs, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++) {
        const ID id = symbol_id(pairs[2 * i]);
        check_no_encoding(object, id, pairs[2 * i + 1]);
        rb_ivar_set(object, id, pairs[2 * i + 1]);
    }
    if (ICE_UNLIKELY(class && class->kind == ICE_CLASS_EXCEPTION)) {
        /* If `bt` and `bt_locations` are the same object, Ruby keeps only `bt`. */
        const ID locations = rb_intern("bt_locations");
        if (rb_attr_get(object, rb_intern("bt")) == rb_attr_get(object, locations))
            rb_ivar_set(object, locations, Qnil);
    }
#if ICE_HAS_IVAR_LAYOUTS
    if (class && class->kind == ICE_CLASS_OBJECT && count <= ICE_MAX_LAYOUT_IVARS && RB_TYPE_P(object, T_OBJECT)) {
        if (!class->layout) {
            class->layout = ice_host_resize(NULL, sizeof *class->layout);
            memset(class->layout, 0, sizeof *class->layout);
        }
        if (!class->layout->is_known || class->layout->count < count)
            ice_ivar_layout_learn(class->layout, object);
    }
#endif
}

/* Sets the members of a Struct or Data. The data must have exactly the members of the class, in
 * the same order. Each member is set by a call of its own: rb_struct_initialize would mistake a
 * single Hash for keywords if the current Ruby call has keywords. */
static void
set_struct_members(VALUE object, const VALUE *pairs, uint32_t count)
{
    VALUE klass = rb_obj_class(object), members = rb_struct_s_members(klass);
    uint32_t i;
    if (RARRAY_LEN(members) != (long)count)
        ice_raise(ice_type_error, "value", "", "struct %" PRIsVALUE " not compatible (struct size differs)", klass);
    for (i = 0; i < count; i++) {
        VALUE member = RARRAY_AREF(members, i);
        if (member != pairs[2 * i])
            ice_raise(ice_type_error, "value", "",
                      "struct %" PRIsVALUE " not compatible (:%" PRIsVALUE " for :%" PRIsVALUE ")", klass,
                      SYMBOL_P(pairs[2 * i]) ? rb_sym2str(pairs[2 * i]) : pairs[2 * i], rb_sym2str(member));
    }
    for (i = 0; i < count; i++)
        rb_struct_aset(object, UINT2NUM(i), pairs[2 * i + 1]);
#if !ICE_HAS_IVAR_LAYOUTS
    if (RTEST(rb_obj_is_kind_of(object, rb_const_get(rb_cObject, rb_intern("Data")))))
        OBJ_FREEZE(object);
#endif
}

/* Returns the last value of this name, or nil. */
static VALUE
find_member(const VALUE *pairs, uint32_t count, const char *name)
{
    const VALUE symbol = ID2SYM(rb_intern(name));
    VALUE found = Qnil;
    uint32_t i;
    for (i = 0; i < count; i++)
        if (pairs[2 * i] == symbol)
            found = pairs[2 * i + 1];
    return found;
}

/* Initializes a Range from its variables. */
static void
set_range_members(VALUE range, const VALUE *pairs, uint32_t count)
{
    VALUE arguments[3];
    uint32_t i;
    for (i = 0; i < count; i++)
        check_no_encoding(range, symbol_id(pairs[2 * i]), pairs[2 * i + 1]);
    arguments[0] = find_member(pairs, count, "begin");
    arguments[1] = find_member(pairs, count, "end");
    arguments[2] = find_member(pairs, count, "excl");
    /* Marshal leaves a Range without `excl` as it is. */
    if (NIL_P(arguments[2]))
        return;
    arguments[2] = RTEST(arguments[2]) ? Qtrue : Qfalse;
    ice_call_original(ICE_RANGE_INITIALIZE, range, 3, arguments);
}

/* Raises for a Set without a Hash, unless there is a proc. With a proc the program itself may have
 * put another value there. */
static void
check_set_is_from_proc(const ice_builder *b)
{
    if (NIL_P(b->settings->proc))
        ice_raise(ice_argument_error, "malformed", "", "dump format error: a Set has a Hash in @hash");
}

void
ice_set_set_members(ice_builder *b, VALUE set, const VALUE *pairs, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++)
        if (pairs[2 * i] == ID2SYM(rb_intern("@hash")) && !RB_TYPE_P(pairs[2 * i + 1], T_HASH))
            check_set_is_from_proc(b);
    ice_set_members(b, NULL, set, pairs, count);
}

/* Completes a set that has its items in memory of its own. Ruby 3 writes further variables after @hash; Ruby 4.0
 * writes them in a wrapper around the set. */
static void
close_core_set(ice_builder *b, VALUE set, const VALUE *pairs, uint32_t count)
{
    uint32_t i;
    ice_core_set_fill(set, find_member(pairs, count, "@hash"));
    ice_check_call(b->ctx, b->call);
    /* The stack of values may have moved. */
    pairs = b->ctx->values + b->ctx->build_frames[b->ctx->build_depth - 1].base;
    for (i = 0; i < count; i++)
        if (pairs[2 * i] != ID2SYM(rb_intern("@hash")))
            ice_set_members(b, NULL, set, pairs + 2 * i, 1);
}

/* ---- hooks -------------------------------------------------------------------------- */

/* For rb_ivar_foreach: sets a variable of `object` that it does not have yet. */
static int
copy_missing_variable(ID id, VALUE value, st_data_t object)
{
    if (!rb_ivar_defined((VALUE)object, id))
        rb_ivar_set((VALUE)object, id, value);
    return ST_CONTINUE;
}

/* Raises unless the data of a Rational or Complex is an array of two values. */
static void
check_number_fields(VALUE fields, const char *kind)
{
    if (!RB_TYPE_P(fields, T_ARRAY))
        ice_raise(ice_type_error, "malformed", "", "wrong argument type %" PRIsVALUE " (expected Array)",
                  NIL_P(fields) ? rb_str_new_cstr("nil") : rb_obj_class(fields));
    if (RARRAY_LEN(fields) != 2)
        ice_raise(ice_argument_error, "malformed", "", "marshaled %s must have an array whose length is 2 but %ld",
                  kind, RARRAY_LEN(fields));
}

/* Returns a Rational from an array of numerator and denominator. */
static VALUE
build_rational(VALUE fields)
{
    VALUE numerator, denominator;
    check_number_fields(fields, "rational");
    numerator = RARRAY_AREF(fields, 0);
    denominator = RARRAY_AREF(fields, 1);
    if (!RB_INTEGER_TYPE_P(numerator) || !RB_INTEGER_TYPE_P(denominator))
        ice_raise(ice_type_error, "malformed", "", "not an integer");
    if (denominator == INT2FIX(0))
        ice_raise(ice_zero_division_error, "malformed", "", "divided by 0");
    return rb_rational_raw(numerator, denominator);
}

/* Returns true if a value is a number that is not complex, of one of Ruby's own classes. */
static bool
is_real(VALUE value)
{
    return RB_INTEGER_TYPE_P(value) || RB_FLOAT_TYPE_P(value) || RB_TYPE_P(value, T_RATIONAL);
}

/* Returns a Complex from an array of its two parts. */
static VALUE
build_complex(VALUE fields, bool has_proc)
{
    check_number_fields(fields, "complex");
    /* The proc may have replaced a part, so the parts are not checked. */
    if (has_proc)
        return rb_complex_raw(RARRAY_AREF(fields, 0), RARRAY_AREF(fields, 1));
    if (!is_real(RARRAY_AREF(fields, 0)) || !is_real(RARRAY_AREF(fields, 1)))
        ice_raise(ice_type_error, "malformed", "", "not a real");
    return rb_complex_raw(RARRAY_AREF(fields, 0), RARRAY_AREF(fields, 1));
}

/* Builds a Rational or Complex as Ruby 1.8 wrote it: an object with both parts in
 * variables. */
static VALUE
close_old_number(ice_builder *b, const ice_build_frame *frame, const VALUE *pairs, uint32_t count)
{
    const bool is_rational = frame->class->kind == ICE_CLASS_RATIONAL;
    VALUE parts[2], fields;
    parts[0] = find_member(pairs, count, is_rational ? "@numerator" : "@real");
    parts[1] = find_member(pairs, count, is_rational ? "@denominator" : "@image");
    fields = rb_ary_new_from_values(2, parts);
    return is_rational ? build_rational(fields) : build_complex(fields, !NIL_P(b->settings->proc));
}

/* Checks that the fields of a Date are numbers or nil. True and false are accepted too, because
 * Ruby 1.6 wrote one of them as the calendar. */
static void
check_date(VALUE fields)
{
    long i;
    if (!RB_TYPE_P(fields, T_ARRAY))
        ice_raise(ice_type_error, "malformed", "", "expected an array");
    for (i = 0; i < RARRAY_LEN(fields); i++) {
        VALUE field = RARRAY_AREF(fields, i);
        if (!is_real(field) && field != Qtrue && field != Qfalse && !NIL_P(field))
            ice_raise(ice_type_error, "malformed", "", "invalid %" PRIsVALUE " in a date", rb_obj_class(field));
    }
}

/* Calls marshal_load with its argument, and sets the variables of the argument, as Marshal does. Values
 * of core classes are built without that call, because a program may have replaced the method. */
static VALUE
close_marshal_load(ice_builder *b, ice_build_frame *frame, VALUE data)
{
    VALUE object = 0;
    switch (frame->class->kind) {
    case ICE_CLASS_RATIONAL:
        return build_rational(data);
    case ICE_CLASS_COMPLEX:
        return build_complex(data, !NIL_P(b->settings->proc));
    case ICE_CLASS_DATE:
        if (NIL_P(b->settings->proc))
            check_date(data);
        object = frame->object;
        ice_date_load(object, data);
        rb_ivar_foreach(data, copy_missing_variable, (st_data_t)object);
        return object;
    }
    object = frame->object;
    rb_funcallv(object, rb_intern("marshal_load"), 1, &data);
    if (!RB_SPECIAL_CONST_P(data))
        rb_ivar_foreach(data, copy_missing_variable, (st_data_t)object);
    return object;
}

/* Does the work of Date._load, which would pass the bytes to Ruby's own reader: here the engine
 * reads them. The allocator of DateTime is used, because the date may have a time of day. */
static VALUE
load_date(const ice_builder *b, VALUE klass, VALUE text)
{
    const rb_alloc_func_t allocate = rb_get_alloc_func(ice_library_class("date", "DateTime"));
    VALUE fields = ice_date_fields(text, b->build), date = allocate ? allocate(klass) : rb_obj_alloc(klass);
    check_date(fields);
    ice_date_load(date, fields);
    return date;
}

/* Calls _load with its argument. Values of core classes are built without that call. */
static VALUE
close_load(ice_builder *b, ice_build_frame *frame, VALUE text)
{
    const icecore_node *node = &b->ctx->view.nodes[frame->node];
    VALUE klass = frame->class->klass;
    size_t len;
    const char *name = ice_node_class_name(&b->ctx->view, node, &len);
    if (frame->class->kind == ICE_CLASS_TIME)
        return ice_call_original(ICE_TIME_LOAD, klass, 1, &text);
    if (frame->class->kind == ICE_CLASS_DECIMAL)
        return ice_decimal_load(text);
    /* The document may also have a Date in another form that the list allows. The entry of the
     * class then describes that form, so the kind is determined from this node. */
    if (ice_builtin_class_kind(node, name, len) == ICE_CLASS_DATE)
        return load_date(b, klass, text);
    text = rb_funcallv(klass, rb_intern("_load"), 1, &text);
    ice_check_call(b->ctx, b->call);
    /* In Marshal, a link to an Encoding refers to its name. */
    if (klass == rb_cEncoding) {
        if (b->ctx->view.nodes[frame->node].flags & ICECORE_FLAG_TARGET) {
            ice_set_link_target(b, frame->node, text);
            frame->is_shared = true;
        }
        return rb_enc_from_encoding(rb_to_encoding(text));
    }
    return text;
}

/* ---- regexps, wrappers, hashes, records ------------------------------------------------ */

/* Removes backslashes before letters for which Ruby 1.8 did not define an escape, because such
 * an escape has another meaning now. Ruby 1.8 wrote no encodings, so a regexp without an
 * encoding is taken to be one of Ruby 1.8. */
static VALUE
remove_old_escapes(VALUE source)
{
    static const char old[] = "ghijklmopquyEFHIJKLNOPQRSTUVXY";
    const char *from = RSTRING_PTR(source), *end = from + RSTRING_LEN(source);
    VALUE text = rb_str_buf_new(RSTRING_LEN(source));
    char *start = RSTRING_PTR(text), *to = start;
    uint32_t slashes = 0;
    for (; from < end; from++) {
        if (*from == '\\')
            slashes++;
        else {
            /* An odd number of backslashes: the last one belongs to this letter. A NUL byte is
             * excluded, because strchr would find the end of `old`. */
            if (*from && strchr(old, *from) && slashes & 1)
                to--;
            slashes = 0;
        }
        *to++ = *from;
    }
    rb_str_set_len(text, to - start);
    return text;
}

/* Returns true if a pattern has an encoding. The proc may have removed it, or Ruby may not have it: then it is
 * a variable of the string. */
static bool
has_declared_encoding(const icecore_node *pattern, VALUE source)
{
    return pattern->kind != ICECORE_BYTES && !rb_ivar_defined(source, rb_intern("E")) &&
           !rb_ivar_defined(source, rb_intern("encoding"));
}

/* Returns a regexp from its source and the letters of its options. */
static VALUE
close_regexp(ice_builder *b, ice_build_frame *frame, VALUE source, VALUE letters)
{
    /* The letters on the tape, with Ruby's numbers: MULTILINE, IGNORECASE, EXTENDED, FIXEDENCODING and
     * NOENCODING. */
    static const struct { char letter; int bit; } options[] = {
        { 's', 4 }, { 'i', 1 }, { 'x', 2 }, { 'u', 16 }, { 'n', 32 }
    };
    const icecore_node *pattern = &b->ctx->view.nodes[frame->node + 1];
    int bits = 0;
    size_t i;
    for (i = 0; i < sizeof options / sizeof *options; i++)
        if (memchr(RSTRING_PTR(letters), options[i].letter, RSTRING_LEN(letters)))
            bits |= options[i].bit;
    if (frame > b->ctx->build_frames &&
        ((frame - 1)->kind == ICE_BUILD_SUBCLASS || (frame - 1)->kind == ICE_BUILD_MODULE)) {
        /* Inside of a subclass or module, Marshal creates the regexp before it reads the
         * encoding. Without one, the regexp keeps the encoding that its pattern gives it. */
        rb_encoding *encoding = has_declared_encoding(pattern, source) ? rb_enc_get(source) : NULL;
        VALUE regexp;
        rb_enc_associate(source, rb_ascii8bit_encoding());
        regexp = rb_reg_new_str(remove_old_escapes(source), bits);
        if (encoding)
            rb_enc_associate(regexp, encoding);
        return regexp;
    }
    if (!has_declared_encoding(pattern, source))
        source = remove_old_escapes(source);
    return rb_reg_new_str(source, bits);
}

void
ice_set_variables(VALUE object, const VALUE *pairs, uint32_t count)
{
    uint32_t i;
    if (count && (RB_TYPE_P(object, T_CLASS) || RB_TYPE_P(object, T_MODULE)))
        ice_raise(ice_type_error, "value", "", "can't override instance variable of %s `%" PRIsVALUE "'",
                  RB_TYPE_P(object, T_CLASS) ? "class" : "module", object);
    for (i = 0; i < count; i++) {
        if (pairs[2 * i] == ID2SYM(rb_intern("K"))) {
            if (!RB_TYPE_P(object, T_HASH))
                ice_raise(ice_argument_error, "malformed", "",
                          "ruby2_keywords flag is given but %" PRIsVALUE " is not a Hash", object);
            RBASIC(object)->flags |= ice_hash_is_keywords;
        } else {
            if (!has_encoding(object))
                check_no_encoding(object, symbol_id(pairs[2 * i]), pairs[2 * i + 1]);
            rb_ivar_set(object, symbol_id(pairs[2 * i]), pairs[2 * i + 1]);
        }
    }
}

/* Mixes a module in; or, if the data names the class itself, prepends the modules around
 * it to that class. */
static void
close_module(ice_builder *b, ice_build_frame *frame, VALUE object)
{
    ice_context *ctx = b->ctx;
    if (frame->klass == Qfalse) /* an inner frame has prepended this module */
        return;
    if (RB_TYPE_P(frame->klass, T_CLASS)) {
        ice_build_frame *outer = frame;
        if (CLASS_OF(object) != frame->klass)
            ice_raise(ice_argument_error, "value", "",
                      "prepended class %" PRIsVALUE " differs from class %" PRIsVALUE, frame->klass,
                      rb_obj_class(object));
        while (outer > ctx->build_frames && (outer - 1)->kind == ICE_BUILD_MODULE) {
            outer--;
            rb_prepend_module(rb_singleton_class(object), outer->klass);
            outer->klass = Qfalse;
        }
        return;
    }
    rb_extend_object(object, frame->klass);
}

/* Makes a value of a core class an object of a subclass. As in Marshal, the value itself is
 * changed, so existing references to it stay valid. */
static void
change_class(VALUE object, VALUE klass)
{
    if (RB_SPECIAL_CONST_P(object) || RB_TYPE_P(object, T_OBJECT) || RB_TYPE_P(object, T_CLASS) ||
        RB_TYPE_P(object, T_MODULE) || RTEST(rb_class_inherited_p(rb_cInteger, klass)))
        ice_raise(ice_argument_error, "malformed", "", "dump format error (user class)");
    if (!RTEST(rb_class_inherited_p(klass, RBASIC_CLASS(object))) && TYPE(rb_obj_alloc(klass)) != TYPE(object))
        ice_raise(ice_argument_error, "malformed", "", "dump format error (user class)");
    RB_OBJ_WRITE(object, (VALUE *)&RBASIC(object)->klass, klass);
}

/* Returns true if no key can have `hash` and `eql?` methods of a program, so that adding the
 * keys runs no foreign code. */
static bool
are_plain_keys(const VALUE *pairs, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++) {
        const VALUE key = pairs[2 * i];
        if (!RB_SPECIAL_CONST_P(key) && RBASIC_CLASS(key) != rb_cString && !RB_TYPE_P(key, T_SYMBOL) &&
            !RB_TYPE_P(key, T_FLOAT) && !RB_TYPE_P(key, T_BIGNUM))
            return false;
    }
    return true;
}

/* Adds the entries to a Hash, and its default value. `values` are keys and values, alternating. */
static VALUE
close_hash(ice_builder *b, ice_build_frame *frame, const VALUE *values, uint32_t count)
{
    const icecore_node *node = &b->ctx->view.nodes[frame->node];
    VALUE hash = frame->object ? frame->object : rb_hash_new();
    const bool has_default = node->flags & ICECORE_FLAG_DEFAULT;
    /* The default value is last, and has no key. */
    const uint32_t entry_count = (count - has_default) / 2;
    uint32_t i;
    frame->object = hash;
    if (entry_count && RHASH_SIZE(hash) == 0 && !(node->flags & ICECORE_FLAG_IDENTITY) &&
        are_plain_keys(values, entry_count))
        rb_hash_bulk_insert(2 * entry_count, values, hash);
    else
        for (i = 0; i < entry_count; i++) {
            rb_hash_aset(hash, values[2 * i], values[2 * i + 1]);
            ice_check_call(b->ctx, b->call);
        }
    if (has_default)
        RHASH_SET_IFNONE(hash, values[count - 1]);
    return hash;
}

/* Returns a Hash of names and values, which alternate in `pairs`. */
static VALUE
hash_from_pairs(const VALUE *pairs, uint32_t count)
{
    VALUE hash = rb_hash_new();
    uint32_t i;
    for (i = 0; i < count; i++)
        rb_hash_aset(hash, pairs[2 * i], pairs[2 * i + 1]);
    return hash;
}

/* Stores the contents of a record. */
static VALUE
close_record(ice_builder *b, ice_build_frame *frame, const VALUE *values, uint32_t count)
{
    const icecore_node *node = &b->ctx->view.nodes[frame->node];
    VALUE record = frame->object;
    if (node->kind == ICECORE_OBJECT)
        ice_record_set(record, hash_from_pairs(values, count / 2));
    else if (node->kind == ICECORE_REGEXP)
        ice_record_set(record, rb_ary_new_from_values(2, values));
    else
        ice_record_set(record, values[0]);
    return record;
}

/* Closes a record of a module or a subclass around a value. Links to that value refer to the record, so that a program
 * that follows a link also finds the wrapper. */
static VALUE
close_wrapper_record(ice_builder *b, ice_build_frame *frame, VALUE inner)
{
    const icecore_node *nodes = b->ctx->view.nodes;
    uint32_t index = frame->node + 1;
    ice_record_set(frame->object, inner);
    while (nodes[index].kind == ICECORE_ATTRS)
        index++;
    if (nodes[index].flags & ICECORE_FLAG_TARGET)
        ice_set_link_target(b, index, frame->object);
    return frame->object;
}

/* `frame` is the top frame; its contents are on the stack of values. */
VALUE
ice_close_frame(ice_builder *b, ice_build_frame *frame)
{
    ice_context *ctx = b->ctx;
    const VALUE *values = ctx->values + frame->base;
    const uint32_t count = ctx->value_count - frame->base;
    VALUE object = frame->object;
    switch (frame->kind) {
    case ICE_BUILD_ARRAY:
        if (!object)
            return rb_ary_new_from_values(count, values);
        rb_ary_cat(object, values, count);
        return object;
    case ICE_BUILD_HASH:
        return close_hash(b, frame, values, count);
    case ICE_BUILD_OBJECT:
        ice_set_members(b, frame->class, object, values, count / 2);
        return object;
    case ICE_BUILD_STRUCT:
        set_struct_members(object, values, count / 2);
        return object;
    case ICE_BUILD_OLD_NUMBER:
        return close_old_number(b, frame, values, count / 2);
    case ICE_BUILD_RANGE:
        set_range_members(object, values, count / 2);
        return object;
    case ICE_BUILD_SET:
        ice_set_set_members(b, object, values, count / 2);
        if (NIL_P(rb_attr_get(object, rb_intern("@hash"))))
            check_set_is_from_proc(b);
        return object;
    case ICE_BUILD_CORE_SET:
        close_core_set(b, object, values, count / 2);
        return object;
    case ICE_BUILD_LOAD:
        return close_load(b, frame, values[0]);
    case ICE_BUILD_MARSHAL_LOAD:
        return close_marshal_load(b, frame, values[0]);
    case ICE_BUILD_LOAD_DATA: {
        VALUE data = values[0];
        rb_funcallv(object, rb_intern("_load_data"), 1, &data);
        return object;
    }
    case ICE_BUILD_VARIABLES:
        object = values[0];
        ice_set_variables(object, values + 1, (count - 1) / 2);
        return object;
    case ICE_BUILD_MODULE:
        object = values[0];
        close_module(b, frame, object);
        return object;
    case ICE_BUILD_SUBCLASS:
        change_class(values[0], frame->klass);
        return values[0];
    case ICE_BUILD_REGEXP:
        return close_regexp(b, frame, values[0], values[1]);
    case ICE_BUILD_RECORD:
        return close_record(b, frame, values, count);
    case ICE_BUILD_WRAPPER_RECORD:
        return close_wrapper_record(b, frame, values[0]);
    }
    return Qnil;
}
