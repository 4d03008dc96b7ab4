/* The bytes of one document from an IO, and not one more. */
#include "core/documents.h"

VALUE
ice_stream_bytes(VALUE io)
{
    return rb_funcall(io, rb_intern("read"), 0);
}
