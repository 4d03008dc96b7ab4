/* Functions that a host provides for the common pieces: memory, and a way to fail.
 *
 * Each module defines these three functions once. They are called from C only, never
 * with a Rust frame on the stack, so they may leave by an exception of the host (perl's
 * croak, PHP's bailout, Ruby's raise). Data stays consistent then: the pieces call them
 * before they change anything.
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

/* Resizes `memory` to `size` bytes, which is more than 0, and keeps its contents; NULL
 * is an empty one. Fails in the host's way, and never returns NULL. */
void *ice_host_resize(void *memory, size_t size);
/* Frees memory; NULL is ignored. */
void ice_host_free(void *memory);
/* Called before the memory of a tape grows to `bytes`, if the host defines
 * ICE_HOST_CLAIMS where it compiles these pieces. It may count the memory, and leave as
 * ice_host_fail does. */
struct icecore_context;
void ice_host_claim(struct icecore_context *engine, size_t bytes);
/* Ends the call with an error of the host. */
ICE_NORETURN void ice_host_fail(const char *message);

#endif
