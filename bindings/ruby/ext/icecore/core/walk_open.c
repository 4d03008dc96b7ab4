/* Opens or puts values without calling hooks: members, structs, ranges, regexps, and classes that
 * are values themselves. */
#include "core/walk_frames.h"

void
ice_raise_too_deep(void)
{
    ice_raise(ice_argument_error, "limit", "", "exceed depth limit");
}

int
ice_collect_entry(VALUE key, VALUE value, VALUE data)
{
    ice_walker *w = (ice_walker *)data;
    ice_push_value(w->ctx, key);
    ice_push_value(w->ctx, value);
    return ST_CONTINUE;
}

ice_walk_frame *
ice_open_members(ice_walker *w, VALUE object, uint32_t class, uint8_t form, uint16_t key, long limit,
                 uint32_t wrapper_count, uint32_t base)
{
    const uint32_t node = ice_put_object(w, class, form, key);
    const uint32_t count = (w->ctx->value_count - base) / 2;
    ice_walk_frame *frame = ice_open_frame(w, ICE_WALK_MEMBERS, object, node, count, limit);
    frame->base = base;
    frame->wrapper_count = wrapper_count + 1;
    return frame;
}

/* For rb_ivar_foreach: pushes the name and the value of a variable. */
static int
collect_variable(ID id, VALUE value, st_data_t data)
{
    ice_walker *w = (ice_walker *)data;
    ice_push_value(w->ctx, ID2SYM(id));
    ice_push_value(w->ctx, value);
    return ST_CONTINUE;
}

/* Marshal writes a Range as an object with three variables, in the order in which Ruby lists
 * them. That order depends on the process, so it is read from a new object with the same
 * variables. */
void
ice_open_range(ice_walker *w, VALUE range, ice_written_class *class, uint16_t key, long limit,
               uint32_t wrapper_count)
{
    VALUE first, last, stand_in = rb_obj_alloc(rb_cObject);
    int excludes;
    const uint32_t base = w->ctx->value_count;
    rb_range_values(range, &first, &last, &excludes);
    rb_ivar_set(stand_in, rb_intern("excl"), excludes ? Qtrue : Qfalse);
    rb_ivar_set(stand_in, rb_intern("begin"), first);
    rb_ivar_set(stand_in, rb_intern("end"), last);
    rb_ivar_foreach(stand_in, collect_variable, (st_data_t)w);
    ice_open_members(w, range, ice_written_class_id(w, class), ICECORE_FORM_USUAL, key, limit, wrapper_count, base);
    RB_GC_GUARD(stand_in);
}

void
ice_open_struct(ice_walker *w, VALUE object, ice_written_class *class, uint16_t key, long limit,
                uint32_t wrapper_count)
{
    const uint32_t id = ice_written_class_id(w, class);
    VALUE members = rb_struct_members(object);
    const uint32_t node = ice_put_object(w, id, ICECORE_FORM_STRUCT, key);
    ice_walk_frame *frame = ice_open_frame(w, ICE_WALK_STRUCT, object, node, (uint32_t)RARRAY_LEN(members), limit);
    frame->extra_value = members;
    frame->wrapper_count = wrapper_count + 1;
}

void
ice_put_regexp(ice_walker *w, VALUE regexp, uint16_t key, uint32_t wrapper_count)
{
    /* The bits are those of Ruby and of its regexp library: close_regexp reads the same letters. */
    static const struct { int bit; char letter; } options[] = {
        { 4, 's' }, { 1, 'i' }, { 2, 'x' }, { 16, 'u' }, { 32, 'n' }
    };
    const int bits = rb_reg_options(regexp);
    char letters[8];
    size_t count = 0, i;
    VALUE source = rb_enc_str_new(RREGEXP_SRC_PTR(regexp), RREGEXP_SRC_LEN(regexp), rb_enc_get(regexp));
    const uint32_t node = ice_put_node(w, ICECORE_REGEXP, 0, key, 0);
    for (i = 0; i < sizeof options / sizeof *options; i++)
        if (bits & options[i].bit)
            letters[count++] = options[i].letter;
    ice_put_string(w, source, ICECORE_NO_KEY, 0);
    ice_push_string(w->engine, w->tape, ICECORE_BYTES, 0, ICECORE_NO_KEY, letters, count);
    ice_end_node(w->tape, node, 2, wrapper_count);
    RB_GC_GUARD(source);
}

/* Puts the encoding of the name of a class or module as an instance variable. */
static void
put_name_encoding(ice_walker *w, int index)
{
    const bool is_utf8 = index == rb_utf8_encindex();
    const uint16_t key = ice_put_name(w, ID2SYM(rb_intern(is_utf8 ? "E" : "encoding")), true);
    if (is_utf8)
        ice_put_node(w, ICECORE_BOOL, 0, key, 1);
    else
        ice_push_string(w->engine, w->tape, ICECORE_BYTES, ICECORE_FLAG_HINT, key, rb_enc_name(rb_enc_from_index(index)),
                        strlen(rb_enc_name(rb_enc_from_index(index))));
}

void
ice_put_module(ice_walker *w, VALUE module, uint16_t key)
{
    const bool is_class = RB_TYPE_P(module, T_CLASS);
    bool has_encoding = false;
    uint32_t wrapper = 0;
    VALUE path;
    if (is_class && RTEST(ice_call_original(ICE_IS_SINGLETON, module, 0, NULL)))
        ice_raise(ice_type_error, "value", "", "singleton class can't be dumped");
    path = ice_class_path(module);
    if (ice_names_have_encodings && !rb_enc_str_asciionly_p(path) && ENCODING_GET(path) != rb_ascii8bit_encindex()) {
        wrapper = ice_put_node(w, ICECORE_ATTRS, 0, key, 0);
        has_encoding = true;
        key = ICECORE_NO_KEY;
    }
    ice_register_object(w, module);
    ice_push_string(w->engine, w->tape, ICECORE_MODULE, 0, key, RSTRING_PTR(path), RSTRING_LEN(path));
    w->tape->nodes[w->tape->node_count - 1].payload |= is_class ? 0 : ICE_FORM(ICECORE_FORM_MODULE);
    if (has_encoding) {
        put_name_encoding(w, ENCODING_GET(path));
        ice_end_node(w->tape, wrapper, 2, 0);
    }
}

/* For rb_ivar_foreach: counts the variables that Marshal writes. */
static int
count_variable(ID id, VALUE value, st_data_t data)
{
    const bool is_skipped =
        id == rb_intern("E") || id == rb_intern("K") || id == rb_intern("encoding") || !rb_id2str(id);
    *(uint32_t *)data += !is_skipped;
    return ST_CONTINUE;
}

void
ice_raise_variables_changed(VALUE object, bool is_more)
{
    ice_raise(ice_runtime_error, "other", "", "instance variable %s %" PRIsVALUE " instance",
              is_more ? "added to" : "removed from", CLASS_OF(object));
}

void
ice_check_variable_count(VALUE object, uint32_t count)
{
    uint32_t now = 0;
    rb_ivar_foreach(object, count_variable, (st_data_t)&now);
    if (now != count)
        ice_raise_variables_changed(object, now > count);
}
