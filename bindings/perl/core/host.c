/* Perl's implementation of common/ice_host.h: memory and errors for the files in
 * bindings/common. */
#include "core/icecore_perl.h"

void *
ice_host_resize(void *memory, size_t size)
{
    return saferealloc(memory, size);
}

void
ice_host_free(void *memory)
{
    safefree(memory);
}

void
ice_host_fail(const char *message)
{
    dTHX;
    croak("Icecore: %s", message);
}
