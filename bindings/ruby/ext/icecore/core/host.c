/* Functions that the common pieces need from Ruby: memory, and a way to fail. */
#include "core/icecore_ruby.h"

/* May run the collector. The common pieces call this before they change anything, so the collector
 * sees consistent data. */
void *
ice_host_resize(void *memory, size_t size)
{
    return ruby_xrealloc(memory, size);
}

void
ice_host_free(void *memory)
{
    ruby_xfree(memory);
}

void
ice_host_fail(const char *message)
{
    VALUE module = rb_const_get(rb_cObject, rb_intern("Icecore"));
    rb_raise(rb_const_get(module, rb_intern("RuntimeError")), "Icecore: %s", message);
}
