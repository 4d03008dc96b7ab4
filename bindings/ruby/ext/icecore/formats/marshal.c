/* Icecore::Marshal: dump and load. */
#include "formats/formats.h"
#include "core/documents.h"

static ID id_read, id_getbyte, id_write, id_binmode;

/* The keywords of `load`. */
enum { FREEZE, CLASSES, RENAME, REPORT, MAX_DEPTH, KEYWORD_COUNT };
static ID keywords[KEYWORD_COUNT];

/* ---- dump ---------------------------------------------------------------------------- */

NORETURN(static void raise_io_needed(void));

static void
raise_io_needed(void)
{
    ice_raise(ice_type_error, "usage", "", "instance of IO needed");
}

/* The method `dump(value, io = nil, limit = -1)`; the second argument may be the limit. */
static VALUE
dump(int argc, VALUE *argv, VALUE self)
{
    VALUE io = Qnil, bytes;
    int limit = -1;
    rb_check_arity(argc, 1, 3);
    if (argc == 3) {
        if (!NIL_P(argv[2]))
            limit = NUM2INT(argv[2]);
        if (NIL_P(argv[1]))
            raise_io_needed();
        io = argv[1];
    } else if (argc == 2) {
        if (FIXNUM_P(argv[1]))
            limit = FIX2INT(argv[1]);
        else if (NIL_P(argv[1]))
            raise_io_needed();
        else
            io = argv[1];
    }
    if (!NIL_P(io)) {
        if (!rb_respond_to(io, id_write))
            raise_io_needed();
        rb_check_funcall(io, id_binmode, 0, NULL);
    }
    bytes = ice_write(NULL, argv[0], limit);
    if (NIL_P(io))
        return bytes;
    rb_io_write(io, bytes);
    return io;
}

/* ---- load ------------------------------------------------------------------------------- */

typedef struct {
    ice_reading reading;
    icecore_stage *stage; /* a stage that this call must free, or NULL */
} load_call;

/* For rb_ensure: loads a value, or returns the names of refused classes. */
static VALUE
load_body(VALUE argument)
{
    load_call *call = (load_call *)argument;
    VALUE value = ice_read(&call->reading);
    return call->reading.only_refused ? rb_funcall(value, rb_intern("keys"), 0) : value;
}

/* For rb_ensure: frees the stage of the call. */
static VALUE
load_end(VALUE argument)
{
    icecore_stage_free(((load_call *)argument)->stage);
    return Qnil;
}

/* The methods `load` and `restore(source, proc = nil, **keywords)`. */
static VALUE
load(int argc, VALUE *argv, VALUE self)
{
    load_call call = { .reading = { .classes = Qnil, .rename = Qnil, .may_trail = true } };
    ice_reading *reading = &call.reading;
    VALUE source, values[KEYWORD_COUNT];
    bool has_max_depth = false;
    uint64_t max_depth = 0;
    reading->settings.proc = Qnil;
    if (argc == 1 && RB_TYPE_P(argv[0], T_STRING))
        source = argv[0];
    else {
        ice_scan_options(argc, argv, &source, &reading->settings.proc, keywords, KEYWORD_COUNT, values);
        reading->settings.freeze = values[FREEZE] != Qundef && RTEST(values[FREEZE]);
        reading->classes = values[CLASSES] == Qundef ? Qnil : values[CLASSES];
        reading->rename = values[RENAME] == Qundef ? Qnil : values[RENAME];
        reading->only_refused = values[REPORT] != Qundef && RTEST(values[REPORT]);
        has_max_depth = values[MAX_DEPTH] != Qundef;
        if (has_max_depth)
            max_depth = ice_depth_option(values[MAX_DEPTH]);
    }
    if (RB_TYPE_P(source, T_STRING))
        reading->settings.source = source;
    else {
        VALUE text = rb_check_string_type(source);
        if (!NIL_P(text))
            reading->settings.source = text;
        else if (rb_respond_to(source, id_getbyte) && rb_respond_to(source, id_read)) {
            rb_check_funcall(source, id_binmode, 0, NULL);
            reading->is_stream = true;
            reading->settings.source = ice_stream_bytes(source);
        } else
            raise_io_needed();
    }
    /* Nothing above may raise with a stage, because load_end frees it. */
    if (has_max_depth)
        call.stage = ice_marshal_stage_of_depth(max_depth);
    reading->stage = call.stage ? call.stage : ice_marshal_stage();
    if (call.stage || reading->only_refused)
        return rb_ensure(load_body, (VALUE)&call, load_end, (VALUE)&call);
    return ice_read(reading);
}

void
ice_marshal_init(void)
{
    VALUE module = rb_define_module_under(ice_module, "Marshal");
    id_read = rb_intern("read");
    id_getbyte = rb_intern("getbyte");
    id_write = rb_intern("write");
    id_binmode = rb_intern("binmode");
    keywords[FREEZE] = rb_intern("freeze");
    keywords[CLASSES] = rb_intern("classes");
    keywords[RENAME] = rb_intern("rename");
    keywords[REPORT] = rb_intern("report");
    keywords[MAX_DEPTH] = rb_intern("max_depth");
    rb_define_const(module, "MAJOR_VERSION", INT2FIX(4));
    rb_define_const(module, "MINOR_VERSION", INT2FIX(8));
    rb_define_singleton_method(module, "dump", dump, -1);
    rb_define_singleton_method(module, "load", load, -1);
    rb_define_singleton_method(module, "restore", load, -1);
}
