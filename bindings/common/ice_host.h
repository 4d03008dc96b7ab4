/* What a host gives to the pieces here: memory, and a way to fail.
 *
 * Each module writes these three functions once. They are called from C only, never with
 * a frame of Rust on the stack, so they may leave by an exception of the host (perl's
 * croak, PHP's bailout, Ruby's raise). What is half done then is still whole: a piece
 * calls them before it changes anything.
 *
 *   void *ice_host_resize(void *memory, size_t size) { return Perl_safesysrealloc(memory, size); }
 *   void ice_host_free(void *memory) { Perl_safesysfree(memory); }
 *   void ice_host_fail(const char *message) { dTHX; croak("Icecore: %s", message); }
 */
#ifndef ICE_HOST_H
#define ICE_HOST_H
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#  define ICE_LIKELY(is) __builtin_expect(!!(is), 1)
#  define ICE_UNLIKELY(is) __builtin_expect(!!(is), 0)
#  define ICE_NORETURN __attribute__((noreturn))
#else
#  define ICE_LIKELY(is) (is)
#  define ICE_UNLIKELY(is) (is)
#  define ICE_NORETURN
#endif

/* Memory of `size` bytes, more than 0, with what `memory` had; NULL had nothing. Fails
 * in the host's way, and never returns NULL. */
void *ice_host_resize(void *memory, size_t size);
/* Gives it back, or does nothing with NULL. */
void ice_host_free(void *memory);
/* Called before the memory of a tape grows to so many bytes, if the host defines ICE_HOST_CLAIMS where it compiles these
 * pieces: it may count them, and leave as ice_host_fail does. */
struct icecore_context;
void ice_host_claim(struct icecore_context *engine, size_t bytes);
/* Ends the call with an error of the host's. */
ICE_NORETURN void ice_host_fail(const char *message);

#endif
