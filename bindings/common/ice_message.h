/* An error of the engine as one line, in the host's words.
 *
 * The engine's message has what was expected and found, the offset and the path, and it
 * names limits in its own way, for example `depth`. A host has its own name for the
 * option that raises a limit. About bytes after a document the engine gives the advice
 * of the command; a host has advice of its own.
 *
 * Ownership: the line belongs to the caller; nothing is held.
 *
 *   static const ice_limit_words words[] = { { "depth", "raise it with max_depth => N" } };
 *   ice_line line;
 *   throw(ice_message(&error, words, 1, &line));
 */
#ifndef ICE_MESSAGE_H
#define ICE_MESSAGE_H
#include "icecore.h"

typedef struct {
    const char *limit; /* the engine's name of the limit, or ICE_TRAILING */
    const char *words; /* the host's advice for raising it */
} ice_limit_words;

/* Stands for bytes after the document, instead of a limit. */
#define ICE_TRAILING "documents that follow one another"

typedef struct {
    char text[sizeof(((icecore_error *)0)->message) + 256];
} ice_line;

/* Writes the message of an error to `line` and returns its text, which ends with 0 and
 * has no line breaks or other control characters. `count` may be 0: then limits keep the
 * engine's words. */
const char *ice_message(const icecore_error *error, const ice_limit_words *words, size_t count, ice_line *line);

/* Returns the name of the kind of an error, for programs. `bad_link` is the host's
 * spelling of the only name that has two words. */
const char *ice_kind_name(uint32_t kind, const char *bad_link);

#endif
