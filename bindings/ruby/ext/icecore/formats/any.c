/* Documents of any format, and what is asked of them without building anything.
 *
 * What Ruby froze is built from its own tape. What another language froze is turned into
 * Ruby's terms by the engine first, as `icecore convert -t marshal` does. */
#include "formats/formats.h"
#include "core/documents.h"

static ID keywords[3];

/* The stage that is named, or that fits the bytes. */
static icecore_stage *
stage_for(VALUE format, VALUE bytes)
{
    icecore_error error;
    icecore_stage *stage;
    if (NIL_P(format))
        stage = icecore_detect((const uint8_t *)RSTRING_PTR(bytes), RSTRING_LEN(bytes), &error);
    else {
        VALUE spec = SYMBOL_P(format) ? rb_sym2str(format) : StringValue(format);
        stage = icecore_stage_new(RSTRING_PTR(spec), RSTRING_LEN(spec), &error);
    }
    if (!stage)
        ice_raise_error(&error, NULL, 0, false);
    return stage;
}

static bool
is_ruby(const icecore_stage *stage)
{
    return strcmp(icecore_stage_format(stage), "marshal") == 0;
}

/* ---- classes --------------------------------------------------------------------------- */

/* What a visitor notes. It runs while the engine does, so nothing of Ruby's may be called,
 * which could leave by a jump. */
typedef struct {
    char *text; /* lengths, counts and bytes, one behind the other */
    size_t len, room;
    bool failed;
} notes;

static void
note(notes *to, const void *bytes, size_t len)
{
    if (to->room - to->len < len) {
        const size_t room = (to->room + len) * 2;
        char *text = realloc(to->text, room);
        if (!text) {
            to->failed = true;
            return;
        }
        to->text = text;
        to->room = room;
    }
    memcpy(to->text + to->len, bytes, len);
    to->len += len;
}

static void
note_bytes(notes *to, const icecore_bytes *bytes)
{
    note(to, &bytes->len, sizeof bytes->len);
    note(to, bytes->bytes, bytes->len);
}

static void
visit(const icecore_class_use *use, void *to)
{
    note_bytes(to, &use->name);
    note_bytes(to, &use->kind);
    note_bytes(to, &use->path);
    note(to, &use->count, sizeof use->count);
}

typedef struct {
    VALUE bytes, format;
    icecore_stage *stage;
    notes found;
    ice_reading reading;
    icecore_stage *marshal;
} any_call;

static VALUE
noted_text(const char **at)
{
    size_t len;
    VALUE text;
    memcpy(&len, *at, sizeof len);
    text = rb_utf8_str_new(*at + sizeof len, len);
    *at += sizeof len + len;
    return text;
}

/* All classes that a document names, as Hashes. */
static VALUE
all_classes(any_call *call)
{
    icecore_error error;
    VALUE list = rb_ary_new();
    const char *at;
    if (icecore_classes(call->stage, (const uint8_t *)RSTRING_PTR(call->bytes), RSTRING_LEN(call->bytes), visit,
                        &call->found, &error))
        ice_raise_error(&error, NULL, 0, false);
    if (call->found.failed)
        rb_memerror();
    for (at = call->found.text; at && at < call->found.text + call->found.len;) {
        VALUE entry = rb_hash_new();
        uint64_t count;
        rb_hash_aset(entry, ID2SYM(rb_intern("class")), noted_text(&at));
        rb_hash_aset(entry, ID2SYM(rb_intern("kind")), noted_text(&at));
        rb_hash_aset(entry, ID2SYM(rb_intern("path")), noted_text(&at));
        memcpy(&count, at, sizeof count);
        at += sizeof count;
        rb_hash_aset(entry, ID2SYM(rb_intern("count")), ULL2NUM(count));
        rb_ary_push(list, entry);
    }
    return list;
}

static VALUE
any_end(VALUE argument)
{
    any_call *call = (any_call *)argument;
    free(call->found.text);
    icecore_stage_free(call->stage);
    icecore_stage_free(call->marshal);
    return Qnil;
}

static VALUE
classes_body(VALUE argument)
{
    any_call *call = (any_call *)argument;
    call->stage = stage_for(call->format, call->bytes);
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

/* The bytes in another format. */
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

static VALUE
decode_body(VALUE argument)
{
    any_call *call = (any_call *)argument;
    ice_reading *reading = &call->reading;
    call->stage = stage_for(call->format, call->bytes);
    reading->stage = call->stage;
    reading->settings.source = call->bytes;
    if (!is_ruby(call->stage)) {
        reading->settings.source = converted(call->bytes, call->stage, ice_marshal_stage());
        reading->stage = ice_marshal_stage();
    }
    return ice_read(reading);
}

static VALUE
decode(int argc, VALUE *argv, VALUE self)
{
    any_call call = { .format = Qnil, .reading = { .classes = Qnil, .rename = Qnil } };
    VALUE options, values[3];
    rb_scan_args(argc, argv, "11:", &call.bytes, &call.format, &options);
    StringValue(call.bytes);
    call.reading.settings.proc = Qnil;
    if (!NIL_P(options)) {
        rb_get_kwargs(options, keywords, 0, 3, values);
        call.reading.classes = values[0] == Qundef ? Qnil : values[0];
        call.reading.rename = values[1] == Qundef ? Qnil : values[1];
        call.reading.settings.freeze = values[2] != Qundef && RTEST(values[2]);
    }
    return rb_ensure(decode_body, (VALUE)&call, any_end, (VALUE)&call);
}

/* ---- encode, convert, detect ------------------------------------------------------------------ */

static VALUE
encode_body(VALUE argument)
{
    any_call *call = (any_call *)argument;
    VALUE dumped;
    call->stage = stage_for(call->format, Qnil);
    if (is_ruby(call->stage))
        return ice_write(call->stage, call->bytes, -1);
    dumped = ice_write(NULL, call->bytes, -1);
    return converted(dumped, ice_marshal_stage(), call->stage);
}

static VALUE
encode(VALUE self, VALUE value, VALUE format)
{
    any_call call = { .bytes = value, .format = format };
    return rb_ensure(encode_body, (VALUE)&call, any_end, (VALUE)&call);
}

static VALUE
convert(VALUE self, VALUE bytes, VALUE from, VALUE to)
{
    icecore_buffer out = { NULL, 0, 0 };
    icecore_error error;
    VALUE text;
    StringValue(bytes);
    if (icecore_convert((const uint8_t *)RSTRING_PTR(bytes), RSTRING_LEN(bytes), NIL_P(from) ? NULL : StringValueCStr(from),
                        StringValueCStr(to), &out, &error))
        ice_raise_error(&error, NULL, 0, false);
    text = rb_str_new((const char *)out.bytes, out.len);
    icecore_buffer_free(&out);
    return text;
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
    rb_define_singleton_method(ice_module, "decode", decode, -1);
    rb_define_singleton_method(ice_module, "encode", encode, 2);
    rb_define_singleton_method(ice_module, "convert", convert, 3);
    rb_define_singleton_method(ice_module, "classes", classes, -1);
    rb_define_singleton_method(ice_module, "detect", detect, 1);
    rb_define_singleton_method(ice_module, "allow", allow, -1);
}
