/* Documents of any format, and queries that build nothing.
 *
 * Data that Ruby froze is built from its own tape. For data that another language froze,
 * the names that it has there are checked; then the engine converts it to Ruby's terms,
 * as `icecore convert -t marshal` does. */
#include "formats/formats.h"
#include "core/documents.h"
#include "common/ice_class_notes.h"
#include <stddef.h>

static ID keywords[5];

/* Returns the stage that is named. */
static icecore_stage *
stage_named(VALUE format)
{
    icecore_error error;
    VALUE spec = SYMBOL_P(format) ? rb_sym2str(format) : StringValue(format);
    icecore_stage *stage = icecore_stage_new(RSTRING_PTR(spec), RSTRING_LEN(spec), &error);
    if (!stage)
        ice_raise_error(&error, NULL, 0, false);
    return stage;
}

/* Returns the stage that is named, or that fits the bytes. */
static icecore_stage *
stage_for(VALUE format, VALUE bytes)
{
    icecore_error error;
    icecore_stage *stage;
    if (!NIL_P(format))
        return stage_named(format);
    stage = icecore_detect((const uint8_t *)RSTRING_PTR(bytes), RSTRING_LEN(bytes), &error);
    if (!stage)
        ice_raise_error(&error, NULL, 0, false);
    return stage;
}

static bool
is_ruby(const icecore_stage *stage)
{
    return strcmp(icecore_stage_format(stage), "marshal") == 0;
}

/* ---- cached stages --------------------------------------------------------------- */

/* Most programs name the same few stages again and again, so the first ones are cached.
 * A call need not free a cached stage, and a nested call from a hook can use it too. */
#define KNOWN_STAGES 8

typedef struct {
    icecore_stage *stage;
    size_t len;
    char name[64]; /* as the program writes it */
} known_stage;

static known_stage known_for_reading[KNOWN_STAGES], known_for_writing[KNOWN_STAGES];

/* Values of Ruby may have any depth. */
static icecore_stage *
stage_for_writing(VALUE format)
{
    icecore_stage *stage = stage_named(format);
    if (is_ruby(stage))
        icecore_stage_limit(stage, "depth", 5, UINT64_MAX, NULL);
    return stage;
}

/* Returns the cached stage of this name, made with `make` if it is new; NULL: it is not
 * cached. */
static const icecore_stage *
stage_that_stays(known_stage *known, VALUE format, icecore_stage *(*make)(VALUE))
{
    known_stage *const end = known + KNOWN_STAGES;
    size_t len;
    if (!RB_TYPE_P(format, T_STRING) || (len = RSTRING_LEN(format)) > sizeof known->name)
        return NULL;
    for (; known < end && known->stage; known++)
        if (known->len == len && memcmp(known->name, RSTRING_PTR(format), len) == 0)
            return known->stage;
    if (known == end)
        return NULL;
    known->stage = make(format);
    known->len = len;
    memcpy(known->name, RSTRING_PTR(format), len);
    return known->stage;
}

/* ---- classes --------------------------------------------------------------------------- */

typedef struct {
    VALUE bytes, format, target;
    icecore_stage *stage, *to; /* of this call, or NULL; `to`: of the converted data */
    const icecore_stage *from; /* the one to read with */
    ice_class_notes found;
    ice_reading reading;
    uint64_t depth; /* 0: the default */
} any_call;

static VALUE
string_of(const ice_noted_text *text)
{
    return rb_utf8_str_new(text->bytes, text->len);
}

/* Records all classes that a document names. */
static void
find_classes(any_call *call)
{
    icecore_error error;
    if (icecore_classes(call->from, (const uint8_t *)RSTRING_PTR(call->bytes), RSTRING_LEN(call->bytes), ice_note_class,
                        &call->found, &error))
        ice_raise_error(&error, NULL, 0, false);
    if (call->found.failed)
        rb_memerror();
}

/* Returns the classes as Hashes. */
static VALUE
all_classes(any_call *call)
{
    VALUE list = rb_ary_new();
    const char *at = NULL;
    ice_noted_class use;
    find_classes(call);
    while (ice_next_noted(&call->found, &at, &use)) {
        VALUE entry = rb_hash_new();
        rb_hash_aset(entry, ID2SYM(rb_intern("class")), string_of(&use.name));
        rb_hash_aset(entry, ID2SYM(rb_intern("kind")), string_of(&use.kind));
        rb_hash_aset(entry, ID2SYM(rb_intern("path")), string_of(&use.path));
        rb_hash_aset(entry, ID2SYM(rb_intern("count")), ULL2NUM(use.count));
        rb_ary_push(list, entry);
    }
    return list;
}

static bool
is_text(const ice_noted_text *text, const char *other)
{
    return text->len == strlen(other) && memcmp(text->bytes, other, text->len) == 0;
}

/* Whether this is a value of one of Ruby's own classes, which needs no list. Only dumps
 * of Ruby have these two forms, whatever the format is. */
static bool
is_own_value(const ice_noted_class *use)
{
    if (is_text(&use->kind, "user-dump"))
        return is_text(&use->name, "Time") || is_text(&use->name, "BigDecimal") || is_text(&use->name, "Date") ||
               is_text(&use->name, "DateTime");
    return is_text(&use->kind, "user-marshal") &&
           (is_text(&use->name, "Date") || is_text(&use->name, "DateTime") || is_text(&use->name, "Rational") ||
            is_text(&use->name, "Complex"));
}

/* Returns the names, with the first path of each. */
static VALUE
all_names(any_call *call)
{
    VALUE names = rb_hash_new();
    const char *at = NULL;
    ice_noted_class use;
    find_classes(call);
    while (ice_next_noted(&call->found, &at, &use)) {
        VALUE name = string_of(&use.name);
        /* PHP's object for a map: it becomes a Hash. */
        if (RSTRING_LEN(name) == 8 && STRNCASECMP(RSTRING_PTR(name), "stdClass", 8) == 0)
            continue;
        if (is_own_value(&use))
            continue;
        if (NIL_P(rb_hash_lookup(names, name)))
            rb_hash_aset(names, name, string_of(&use.path));
    }
    return names;
}

static VALUE
any_end(VALUE argument)
{
    any_call *call = (any_call *)argument;
    ice_class_notes_free(&call->found);
    icecore_stage_free(call->stage);
    icecore_stage_free(call->to);
    return Qnil;
}

static VALUE
classes_body(VALUE argument)
{
    any_call *call = (any_call *)argument;
    call->from = call->stage = stage_for(call->format, call->bytes);
    return all_classes(call);
}

static VALUE
classes(int argc, VALUE *argv, VALUE self)
{
    any_call call = { .format = Qnil };
    rb_scan_args(argc, argv, "11", &call.bytes, &call.format);
    StringValue(call.bytes);
    return rb_ensure(classes_body, (VALUE)&call, any_end, (VALUE)&call);
}

/* ---- decode -------------------------------------------------------------------------------- */

/* Returns the bytes in another format. */
static VALUE
converted(VALUE bytes, const icecore_stage *from, const icecore_stage *to)
{
    icecore_buffer out = { NULL, 0, 0 };
    icecore_error error;
    VALUE text;
    if (icecore_convert_stages(from, (const uint8_t *)RSTRING_PTR(bytes), RSTRING_LEN(bytes), to, &out, &error))
        ice_raise_error(&error, NULL, 0, false);
    text = rb_str_new((const char *)out.bytes, out.len);
    icecore_buffer_free(&out);
    return text;
}

/* Checks the classes that data of another language names, because not all of them are
 * classes of the converted data; then converts it. */
static VALUE
prepare(ice_reading *reading)
{
    any_call *call = (any_call *)((char *)reading - offsetof(any_call, reading));
    VALUE names = all_names(call);
    /* If none is refused, the payloads of hooks are checked below. */
    if (reading->only_refused) {
        VALUE refused = ice_policy_refused_names(&reading->settings.classes, names);
        if (RHASH_SIZE(refused))
            return refused;
    }
    ice_policy_check_names(&reading->settings.classes, names);
    if (call->depth)
        call->to = ice_marshal_stage_of_depth(call->depth);
    reading->stage = call->to ? call->to : ice_marshal_stage();
    reading->settings.source = converted(call->bytes, call->from, reading->stage);
    return Qundef;
}

static VALUE
decode_body(VALUE argument)
{
    any_call *call = (any_call *)argument;
    ice_reading *reading = &call->reading;
    VALUE value;
    if (!call->from) {
        call->from = call->stage = stage_for(call->format, call->bytes);
        if (call->depth)
            icecore_stage_limit(call->stage, "depth", 5, call->depth, NULL);
    }
    reading->stage = call->from;
    reading->settings.source = call->bytes;
    if (!is_ruby(call->from))
        reading->prepare = prepare;
    value = ice_read(reading);
    return reading->only_refused ? rb_funcall(value, rb_intern("keys"), 0) : value;
}

static VALUE
decode(int argc, VALUE *argv, VALUE self)
{
    any_call call = { .format = Qnil, .reading = { .classes = Qnil, .rename = Qnil } };
    VALUE values[5];
    ice_scan_options(argc, argv, &call.bytes, &call.format, keywords, 5, values);
    StringValue(call.bytes);
    call.reading.settings.proc = Qnil;
    call.reading.classes = values[0] == Qundef ? Qnil : values[0];
    call.reading.rename = values[1] == Qundef ? Qnil : values[1];
    call.reading.settings.freeze = values[2] != Qundef && RTEST(values[2]);
    if (values[3] != Qundef)
        call.depth = ice_depth_option(values[3]);
    call.reading.only_refused = values[4] != Qundef && RTEST(values[4]);
    /* A stage with a depth of its own is not shared. */
    if (!call.depth)
        call.from = stage_that_stays(known_for_reading, call.format, stage_named);
    /* Then there is nothing to free. */
    if (call.from && is_ruby(call.from))
        return decode_body((VALUE)&call);
    return rb_ensure(decode_body, (VALUE)&call, any_end, (VALUE)&call);
}

/* ---- encode, convert, detect ------------------------------------------------------------------ */

static VALUE
encoded(VALUE value, const icecore_stage *stage)
{
    VALUE dumped;
    if (is_ruby(stage))
        return ice_write(stage, value, -1);
    dumped = ice_write(NULL, value, -1);
    return converted(dumped, ice_marshal_stage(), stage);
}

static VALUE
encode_body(VALUE argument)
{
    any_call *call = (any_call *)argument;
    call->stage = stage_for_writing(call->format);
    return encoded(call->bytes, call->stage);
}

static VALUE
encode(VALUE self, VALUE value, VALUE format)
{
    const icecore_stage *stage = stage_that_stays(known_for_writing, format, stage_for_writing);
    any_call call = { .bytes = value, .format = format };
    if (stage)
        return encoded(value, stage);
    return rb_ensure(encode_body, (VALUE)&call, any_end, (VALUE)&call);
}

static VALUE
convert_body(VALUE argument)
{
    any_call *call = (any_call *)argument;
    call->stage = stage_for(call->format, call->bytes);
    call->to = stage_named(call->target);
    return converted(call->bytes, call->stage, call->to);
}

static VALUE
convert(VALUE self, VALUE bytes, VALUE from, VALUE to)
{
    any_call call = { .bytes = bytes, .format = from, .target = to };
    StringValue(call.bytes);
    return rb_ensure(convert_body, (VALUE)&call, any_end, (VALUE)&call);
}

static VALUE
detect(VALUE self, VALUE bytes)
{
    icecore_error error;
    icecore_stage *stage;
    VALUE spec;
    StringValue(bytes);
    stage = icecore_detect((const uint8_t *)RSTRING_PTR(bytes), RSTRING_LEN(bytes), &error);
    if (!stage)
        return Qnil;
    spec = rb_utf8_str_new_cstr(icecore_stage_spec(stage));
    icecore_stage_free(stage);
    return spec;
}

static VALUE
allow(int argc, VALUE *argv, VALUE self)
{
    int i;
    for (i = 0; i < argc; i++)
        ice_policy_allow(argv[i]);
    return Qnil;
}

void
ice_any_init(void)
{
    keywords[0] = rb_intern("classes");
    keywords[1] = rb_intern("rename");
    keywords[2] = rb_intern("freeze");
    keywords[3] = rb_intern("max_depth");
    keywords[4] = rb_intern("report");
    rb_define_singleton_method(ice_module, "decode", decode, -1);
    rb_define_singleton_method(ice_module, "encode", encode, 2);
    rb_define_singleton_method(ice_module, "convert", convert, 3);
    rb_define_singleton_method(ice_module, "classes", classes, -1);
    rb_define_singleton_method(ice_module, "detect", detect, 1);
    rb_define_singleton_method(ice_module, "allow", allow, -1);
}
