/* Documents of any format, and queries that build nothing.
 *
 * Marshal data is built directly. In data of another language, the classes are first checked by
 * the names that they have in that language. Then the engine converts the data to Marshal, as
 * `icecore convert -t marshal` does, and the result is built. */
#include "formats/formats.h"
#include "core/documents.h"
#include "common/ice_found_classes.h"
#include <stddef.h>

/* The keywords of `decode`. */
enum { CLASSES, RENAME, FREEZE, MAX_DEPTH, REPORT, KEYWORD_COUNT };
static ID keywords[KEYWORD_COUNT];

/* Returns a new stage for a format, a String or a Symbol such as "gzip/php". */
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

/* Returns a new stage for a format; if that is nil, detects the format of the bytes. */
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
is_marshal_stage(const icecore_stage *stage)
{
    return strcmp(icecore_stage_format(stage), "marshal") == 0;
}

/* ---- cached stages --------------------------------------------------------------- */

/* Most programs use the same few formats in all calls, so the stages of the first formats are
 * cached. A cached stage is never changed or freed, so a nested call from a hook can use it too. */
#define MAX_CACHED_STAGES 8

typedef struct {
    icecore_stage *stage;
    size_t len;
    char name[64]; /* the format as the program wrote it */
} cached_stage;

static cached_stage cached_reading_stages[MAX_CACHED_STAGES], cached_writing_stages[MAX_CACHED_STAGES];

/* Returns a new stage for writing. The depth of Ruby's values is not limited. */
static icecore_stage *
stage_for_writing(VALUE format)
{
    icecore_stage *stage = stage_named(format);
    if (is_marshal_stage(stage))
        icecore_stage_limit(stage, "depth", 5, UINT64_MAX, NULL);
    return stage;
}

/* Returns the stage of a format from a cache. A stage that is not there yet is created with
 * `make` and added. Returns NULL if the format can't be cached. */
static const icecore_stage *
find_cached_stage(cached_stage *entry, VALUE format, icecore_stage *(*make)(VALUE))
{
    cached_stage *const end = entry + MAX_CACHED_STAGES;
    size_t len;
    if (!RB_TYPE_P(format, T_STRING) || (len = RSTRING_LEN(format)) > sizeof entry->name)
        return NULL;
    for (; entry < end && entry->stage; entry++)
        if (entry->len == len && memcmp(entry->name, RSTRING_PTR(format), len) == 0)
            return entry->stage;
    if (entry == end)
        return NULL;
    /* `make` may raise. The entry is then still free. */
    entry->stage = make(format);
    entry->len = len;
    memcpy(entry->name, RSTRING_PTR(format), len);
    return entry->stage;
}

/* ---- classes --------------------------------------------------------------------------- */

typedef struct {
    VALUE bytes, format;       /* in `encode`, `bytes` is the value */
    VALUE target;              /* the format to convert to */
    icecore_stage *stage, *to; /* stages that this call must free, or NULL; `to` is for `target` */
    const icecore_stage *from; /* the stage to read with */
    ice_found_classes found_classes;
    ice_reading reading;
    uint64_t depth;            /* `max_depth`, or 0 for the default */
    VALUE losses;              /* the keyword of `encode` and `convert`, or nil */
} document_call;

static VALUE
utf8_string(const ice_found_text *text)
{
    return rb_utf8_str_new(text->bytes, text->len);
}

/* Stores all classes that a document names in `found_classes`. */
static void
find_classes(document_call *call)
{
    icecore_error error;
    if (icecore_classes(call->from, (const uint8_t *)RSTRING_PTR(call->bytes), RSTRING_LEN(call->bytes),
                        ice_found_classes_add, &call->found_classes, &error))
        ice_raise_error(&error, NULL, 0, false);
    if (call->found_classes.failed)
        rb_memerror();
}

/* Returns an Array with a Hash for each class. */
static VALUE
classes_as_hashes(document_call *call)
{
    VALUE list = rb_ary_new();
    const char *cursor = NULL;
    ice_found_class class_use;
    find_classes(call);
    while (ice_found_classes_next(&call->found_classes, &cursor, &class_use)) {
        VALUE entry = rb_hash_new();
        rb_hash_aset(entry, ID2SYM(rb_intern("class")), utf8_string(&class_use.name));
        rb_hash_aset(entry, ID2SYM(rb_intern("kind")), utf8_string(&class_use.kind));
        rb_hash_aset(entry, ID2SYM(rb_intern("path")), utf8_string(&class_use.path));
        rb_hash_aset(entry, ID2SYM(rb_intern("count")), ULL2NUM(class_use.count));
        rb_ary_push(list, entry);
    }
    return list;
}

static bool
equals(const ice_found_text *text, const char *other)
{
    return text->len == strlen(other) && memcmp(text->bytes, other, text->len) == 0;
}

/* Returns true if this is a value of one of Ruby's own classes. A list need not allow these
 * classes. Only Marshal data has the kinds user-dump and user-marshal, so the stage is not
 * checked. */
static bool
is_builtin_value(const ice_found_class *class_use)
{
    const ice_found_text *name = &class_use->name;
    if (equals(&class_use->kind, "user-dump"))
        return equals(name, "Time") || equals(name, "BigDecimal") || equals(name, "Date") || equals(name, "DateTime");
    return equals(&class_use->kind, "user-marshal") && (equals(name, "Date") || equals(name, "DateTime") ||
                                                        equals(name, "Rational") || equals(name, "Complex"));
}

/* Returns a Hash from the name of each class to its first path, without Ruby's own classes. */
static VALUE
first_paths_by_name(document_call *call)
{
    VALUE names = rb_hash_new();
    const char *cursor = NULL;
    ice_found_class class_use;
    find_classes(call);
    while (ice_found_classes_next(&call->found_classes, &cursor, &class_use)) {
        VALUE name = utf8_string(&class_use.name);
        /* An object of PHP's stdClass becomes a Hash. */
        if (RSTRING_LEN(name) == 8 && STRNCASECMP(RSTRING_PTR(name), "stdClass", 8) == 0)
            continue;
        if (is_builtin_value(&class_use))
            continue;
        if (NIL_P(rb_hash_lookup(names, name)))
            rb_hash_aset(names, name, utf8_string(&class_use.path));
    }
    return names;
}

/* For rb_ensure: frees what a call owns. */
static VALUE
free_call(VALUE argument)
{
    document_call *call = (document_call *)argument;
    ice_found_classes_free(&call->found_classes);
    icecore_stage_free(call->stage);
    icecore_stage_free(call->to);
    return Qnil;
}

/* For rb_ensure: lists the classes of a document. */
static VALUE
classes_body(VALUE argument)
{
    document_call *call = (document_call *)argument;
    call->from = call->stage = stage_for(call->format, call->bytes);
    return classes_as_hashes(call);
}

/* The method `Icecore.classes(bytes, format = nil)`. */
static VALUE
classes(int argc, VALUE *argv, VALUE self)
{
    document_call call = { .format = Qnil };
    rb_scan_args(argc, argv, "11", &call.bytes, &call.format);
    StringValue(call.bytes);
    return rb_ensure(classes_body, (VALUE)&call, free_call, (VALUE)&call);
}

/* ---- decode -------------------------------------------------------------------------------- */

/* For ice_reading. Checks the classes before the conversion, because some of them don't exist
 * in the converted data. */
static VALUE
convert_to_marshal(ice_reading *reading)
{
    /* `reading` is a field of a document_call: decode_body passes it. */
    document_call *call = (document_call *)((char *)reading - offsetof(document_call, reading));
    VALUE names = first_paths_by_name(call);
    /* If no class is refused here, the caller still checks the payloads of hooks. */
    if (reading->only_refused) {
        VALUE refused = ice_policy_refused_names(&reading->settings.rules, names);
        if (RHASH_SIZE(refused))
            return refused;
    }
    ice_policy_check_names(&reading->settings.rules, names);
    if (call->depth)
        call->to = ice_marshal_stage_of_depth(call->depth);
    reading->stage = call->to ? call->to : ice_marshal_stage();
    reading->settings.source = ice_convert(call->bytes, call->from, reading->stage, ID2SYM(rb_intern("ignore")));
    return Qundef;
}

/* For rb_ensure: decodes the bytes of a call. */
static VALUE
decode_body(VALUE argument)
{
    document_call *call = (document_call *)argument;
    ice_reading *reading = &call->reading;
    VALUE value;
    if (!call->from) {
        call->from = call->stage = stage_for(call->format, call->bytes);
        if (call->depth)
            icecore_stage_limit(call->stage, "depth", 5, call->depth, NULL);
    }
    reading->stage = call->from;
    reading->settings.source = call->bytes;
    if (!is_marshal_stage(call->from))
        reading->convert_to_marshal = convert_to_marshal;
    value = ice_read(reading);
    return reading->only_refused ? rb_funcall(value, rb_intern("keys"), 0) : value;
}

/* The method `Icecore.decode(bytes, format = nil, **keywords)`. */
static VALUE
decode(int argc, VALUE *argv, VALUE self)
{
    document_call call = { .format = Qnil, .reading = { .classes = Qnil, .rename = Qnil } };
    VALUE values[KEYWORD_COUNT];
    ice_scan_options(argc, argv, &call.bytes, &call.format, keywords, KEYWORD_COUNT, values);
    StringValue(call.bytes);
    call.reading.settings.proc = Qnil;
    call.reading.classes = values[CLASSES] == Qundef ? Qnil : values[CLASSES];
    call.reading.rename = values[RENAME] == Qundef ? Qnil : values[RENAME];
    call.reading.settings.freeze = values[FREEZE] != Qundef && RTEST(values[FREEZE]);
    if (values[MAX_DEPTH] != Qundef)
        call.depth = ice_depth_option(values[MAX_DEPTH]);
    call.reading.only_refused = values[REPORT] != Qundef && RTEST(values[REPORT]);
    /* A stage with another `max_depth` can't be shared. */
    if (!call.depth)
        call.from = find_cached_stage(cached_reading_stages, call.format, stage_named);
    /* A cached stage is not freed, and `found_classes` stays empty for Marshal data. So there is
     * nothing to free, and rb_ensure is not needed. */
    if (call.from && is_marshal_stage(call.from))
        return decode_body((VALUE)&call);
    return rb_ensure(decode_body, (VALUE)&call, free_call, (VALUE)&call);
}

/* ---- encode, convert, detect ------------------------------------------------------------------ */

/* Encodes a value. For another format than Marshal, it is dumped, and the dump is converted. */
static VALUE
encode_value(VALUE value, const icecore_stage *stage, VALUE losses)
{
    VALUE dumped;
    if (is_marshal_stage(stage)) {
        ice_check_losses_option(losses);
        return ice_write(stage, value, -1);
    }
    dumped = ice_write(NULL, value, -1);
    return ice_convert(dumped, ice_marshal_stage(), stage, losses);
}

/* Parses the only keyword of `encode` and `convert`; returns nil if it is not given. */
static VALUE
losses_keyword(VALUE options)
{
    VALUE losses = Qundef;
    const ID name = rb_intern("losses");
    if (!NIL_P(options))
        rb_get_kwargs(options, &name, 0, 1, &losses);
    return losses == Qundef ? Qnil : losses;
}

/* For rb_ensure: encodes the value of a call with a stage that is not cached. */
static VALUE
encode_body(VALUE argument)
{
    document_call *call = (document_call *)argument;
    call->stage = stage_for_writing(call->format);
    return encode_value(call->bytes, call->stage, call->losses);
}

/* The method `Icecore.encode(value, format, losses: :warn)`. */
static VALUE
encode(int argc, VALUE *argv, VALUE self)
{
    document_call call = { .format = Qnil };
    const icecore_stage *stage;
    VALUE options;
    rb_scan_args(argc, argv, "2:", &call.bytes, &call.format, &options);
    call.losses = losses_keyword(options);
    stage = find_cached_stage(cached_writing_stages, call.format, stage_for_writing);
    if (stage)
        return encode_value(call.bytes, stage, call.losses);
    return rb_ensure(encode_body, (VALUE)&call, free_call, (VALUE)&call);
}

/* For rb_ensure: converts the bytes of a call. */
static VALUE
convert_body(VALUE argument)
{
    document_call *call = (document_call *)argument;
    call->stage = stage_for(call->format, call->bytes);
    call->to = stage_named(call->target);
    return ice_convert(call->bytes, call->stage, call->to, call->losses);
}

/* The method `Icecore.convert(bytes, from, to, losses: :warn)`. */
static VALUE
convert(int argc, VALUE *argv, VALUE self)
{
    document_call call = { .format = Qnil };
    VALUE options;
    rb_scan_args(argc, argv, "3:", &call.bytes, &call.format, &call.target, &options);
    call.losses = losses_keyword(options);
    StringValue(call.bytes);
    return rb_ensure(convert_body, (VALUE)&call, free_call, (VALUE)&call);
}

/* The method `Icecore.detect(bytes)`. */
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

/* The method `Icecore.allow(*classes)`. */
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
    keywords[CLASSES] = rb_intern("classes");
    keywords[RENAME] = rb_intern("rename");
    keywords[FREEZE] = rb_intern("freeze");
    keywords[MAX_DEPTH] = rb_intern("max_depth");
    keywords[REPORT] = rb_intern("report");
    rb_define_singleton_method(ice_module, "decode", decode, -1);
    rb_define_singleton_method(ice_module, "encode", encode, -1);
    rb_define_singleton_method(ice_module, "convert", convert, -1);
    rb_define_singleton_method(ice_module, "classes", classes, -1);
    rb_define_singleton_method(ice_module, "detect", detect, 1);
    rb_define_singleton_method(ice_module, "allow", allow, -1);
}
