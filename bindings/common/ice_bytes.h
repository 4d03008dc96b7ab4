/* Copies of short strings.
 *
 * Most keys and many values have fewer than 16 bytes. A call of memcpy with a length
 * that is not a constant costs more than copying them here.
 *
 *   ice_copy(arena + offset, text, len);
 */
#ifndef ICE_BYTES_H
#define ICE_BYTES_H
#include <stdint.h>
#include <string.h>

/* Copies `len` bytes; `to` and `from` must not overlap. 4 to 16 bytes are copied as two parts of
 * a constant length: the first bytes and the last bytes. The parts may overlap in the middle,
 * where both have the same bytes. */
static inline void
ice_copy(char *to, const char *from, size_t len)
{
    if (len > 16)
        memcpy(to, from, len);
    else if (len >= 8) {
        uint64_t a, b;
        memcpy(&a, from, 8);
        memcpy(&b, from + len - 8, 8);
        memcpy(to, &a, 8);
        memcpy(to + len - 8, &b, 8);
    } else if (len >= 4) {
        uint32_t a, b;
        memcpy(&a, from, 4);
        memcpy(&b, from + len - 4, 4);
        memcpy(to, &a, 4);
        memcpy(to + len - 4, &b, 4);
    } else
        while (len--)
            *to++ = *from++;
}

#endif
