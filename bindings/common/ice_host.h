/* Functions that each host must define for the common files: memory, and errors.
 *
 * They are called from C only, never with a Rust frame on the stack, so they may leave by an
 * exception of the host (perl's croak, PHP's bailout, Ruby's raise). The common files call
 * them before they change anything, so their data stays consistent after an exception.
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
#  define ICE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#  define ICE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#  define ICE_NORETURN __attribute__((noreturn))
#else
#  define ICE_LIKELY(condition) (condition)
#  define ICE_UNLIKELY(condition) (condition)
#  define ICE_NORETURN
#endif

/* Resizes memory like realloc: `memory` may be NULL, and the contents are kept. `size` is more
 * than 0. If there is not enough memory, leaves by an exception of the host; never returns
 * NULL. */
void *ice_host_resize(void *memory, size_t size);
/* Frees memory; NULL is ignored. */
void ice_host_free(void *memory);
/* Only for a host that defines ICE_HOST_COUNTS_MEMORY when it compiles ice_tape.c. Is called before
 * the memory of a tape grows to `bytes`. It may check a memory limit, and leave by an exception. */
struct icecore_context;
void ice_host_announce_size(struct icecore_context *engine, size_t bytes);
/* Ends the call with an exception of the host. `message` says what is wrong. */
ICE_NORETURN void ice_host_fail(const char *message);

#endif
