/* What the common pieces need of PHP: memory that outlives a request, and a way to fail. */
#include "core/icecore_php.h"

void *
ice_host_resize(void *memory, size_t size)
{
    return perealloc(memory, size, 1);
}

void
ice_host_free(void *memory)
{
    pefree(memory, 1);
}

/* Leaves by PHP's bailout: what the call had open is released when the request ends. */
void
ice_host_fail(const char *message)
{
    zend_error_noreturn(E_ERROR, "Icecore: %s", message);
}
