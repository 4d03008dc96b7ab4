/* An error of the engine as one line, in the host's words.
 *
 * The engine's message has what was expected and found, the offset and the path, and
 * names a limit as `depth`. A host has a name of its own for what raises it. Of bytes
 * behind a document the engine says what the command does: a host has something of its own.
 *
 * Ownership: the line is the caller's; nothing is held.
 *
 *   static const ice_limit_words words[] = { { "depth", "raise it with max_depth => N" } };
 *   ice_line line;
 *   throw(ice_message(&error, words, 1, &line));
 */
#ifndef ICE_MESSAGE_H
#define ICE_MESSAGE_H
#include "icecore.h"

typedef struct {
    const char *limit; /* as the engine calls it; ICE_TRAILING */
    const char *words; /* what the host says about raising it */
} ice_limit_words;

/* In the place of a limit: bytes behind the document. */
#define ICE_TRAILING "documents that stand one behind the other"

typedef struct {
    char text[sizeof(((icecore_error *)0)->message) + 256];
} ice_line;

/* The message of an error, ending with 0, without line breaks or other control characters.
 * `count` may be 0: limits keep the engine's words. It is the text in `line`. */
const char *ice_message(const icecore_error *error, const ice_limit_words *words, size_t count, ice_line *line);

/* The name of the kind of an error, for programs. `bad_link` is how the host writes the only one of two words. */
const char *ice_kind_name(uint32_t kind, const char *bad_link);

#endif
