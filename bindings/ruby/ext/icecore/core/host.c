/* What the common pieces need of Ruby: memory, and a way to fail. */
#include "core/icecore_ruby.h"

/* May run the collector, before anything is changed. */
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
    ice_raise(ice_runtime_error, "limit", "", "Icecore: %s", message);
}
