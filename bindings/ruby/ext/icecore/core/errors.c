/* Defines and raises exceptions. Each class of exceptions is a subclass of the class that Marshal
 * raises, and includes Icecore::Error. */
#include "core/icecore_ruby.h"
#include <stdarg.h>

VALUE ice_error, ice_argument_error, ice_type_error, ice_eof_error, ice_runtime_error, ice_zero_division_error,
    ice_class_error;

void
ice_raise_message(VALUE class, const char *kind, int64_t offset, const char *path, VALUE message)
{
    VALUE error = rb_exc_new_str(class, message);
    rb_ivar_set(error, rb_intern("@kind"), ID2SYM(rb_intern(kind)));
    rb_ivar_set(error, rb_intern("@offset"), offset < 0 ? Qnil : LL2NUM(offset));
    rb_ivar_set(error, rb_intern("@path"), rb_utf8_str_new_cstr(path));
    rb_exc_raise(error);
}

void
ice_raise(VALUE class, const char *kind, const char *path, const char *format, ...)
{
    va_list arguments;
    VALUE message;
    va_start(arguments, format);
    message = rb_enc_vsprintf(rb_utf8_encoding(), format, arguments);
    va_end(arguments);
    ice_raise_message(class, kind, -1, path, message);
}

/* Returns the message that Marshal has for an error, or NULL. The message may be written to
 * `buffer`; `class` may be changed to Marshal's exception class. */
static const char *
marshal_message(const icecore_error *error, const char *bytes, size_t len, char *buffer, size_t size, VALUE *class)
{
    const bool is_inside = error->offset >= 0 && (size_t)error->offset < len;
    switch (error->kind) {
    case ICECORE_TRUNCATED:
        return "marshal data too short";
    case ICECORE_BAD_LINK:
        return is_inside && bytes[error->offset] == '@' ? "dump format error (unlinked)" : "bad symbol";
    case ICECORE_UNSUPPORTED:
        if (len < 2)
            return NULL;
        *class = ice_type_error;
        snprintf(buffer, size,
                 "incompatible marshal file format (can't be read)\n\tformat version 4.8 required; %d.%d given",
                 (unsigned char)bytes[0], (unsigned char)bytes[1]);
        return buffer;
    case ICECORE_MALFORMED:
        if (!is_inside)
            return "dump format error";
        snprintf(buffer, size, "dump format error(0x%x)", (unsigned char)bytes[error->offset]);
        return buffer;
    default:
        return NULL;
    }
}

void
ice_raise_error(const icecore_error *error, const char *bytes, size_t len, bool is_stream)
{
    static const ice_limit_words words[] = {
        { "depth", "raise it with max_depth: N" },
        { ICE_TRAILING, "cut the input there" },
    };
    ice_line line;
    char buffer[128];
    VALUE class = ice_argument_error, message = rb_utf8_str_new(NULL, 0);
    const char *original = bytes ? marshal_message(error, bytes, len, buffer, sizeof buffer, &class) : NULL;
    if (error->kind == ICECORE_TRUNCATED && is_stream) {
        class = ice_eof_error;
        original = "end of file reached";
    }
    if (error->kind == ICECORE_USAGE || error->kind == ICECORE_UNREPRESENTABLE)
        class = ice_argument_error;
    if (original)
        rb_str_catf(message, "%s: ", original);
    rb_str_cat_cstr(message, ice_message(error, words, sizeof words / sizeof *words, &line));
    ice_raise_message(class, ice_kind_name(error->kind, "bad_link"), error->offset, error->path, message);
}

/* Defines a class of exceptions that includes Icecore::Error. */
static VALUE
define_error(const char *name, VALUE superclass)
{
    VALUE class = rb_define_class_under(ice_module, name, superclass);
    rb_include_module(class, ice_error);
    return class;
}

void
ice_errors_init(void)
{
    ice_error = rb_define_module_under(ice_module, "Error");
    rb_define_attr(ice_error, "kind", 1, 0);
    rb_define_attr(ice_error, "offset", 1, 0);
    rb_define_attr(ice_error, "path", 1, 0);
    ice_argument_error = define_error("ArgumentError", rb_eArgError);
    ice_type_error = define_error("TypeError", rb_eTypeError);
    ice_eof_error = define_error("EOFError", rb_eEOFError);
    ice_runtime_error = define_error("RuntimeError", rb_eRuntimeError);
    ice_zero_division_error = define_error("ZeroDivisionError",
                                           rb_const_get(rb_cObject, rb_intern("ZeroDivisionError")));
    ice_class_error = rb_define_class_under(ice_module, "ClassError", ice_argument_error);
    rb_define_attr(ice_class_error, "classes", 1, 0);
}
