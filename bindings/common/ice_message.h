/* Makes the message of an engine's error: one line, with the host's advice.
 *
 * The engine's message says what was expected and found, the offset and the path. If a limit was
 * reached, the message advises to raise it by the engine's name, for example `depth`. A host
 * replaces this by advice with the name of its own option. If bytes follow a document, the message
 * contains the advice of the command `icecore`. A host replaces this too.
 *
 * Ownership: the line belongs to the caller; no memory is allocated.
 *
 *   static const ice_limit_words words[] = { { "depth", "raise it with max_depth => N" } };
 *   ice_line line;
 *   throw(ice_message(&error, words, 1, &line));
 */
#ifndef ICE_MESSAGE_H
#define ICE_MESSAGE_H
#include "icecore.h"

typedef struct {
    const char *limit; /* the engine's name of a limit, or ICE_TRAILING */
    const char *words; /* the host's advice */
} ice_limit_words;

/* In ice_limit_words: the advice is for bytes after the document. The engine's advice about them
 * contains this text, so the text identifies that advice. */
#define ICE_TRAILING "documents that follow one another"

typedef struct {
    char text[sizeof(((icecore_error *)0)->message) + 256];
} ice_line;

/* Writes the message of an error to `line`, and returns its text, which ends with a NUL and
 * contains no line breaks or other control characters. `count` is the number of `words`; if
 * it is 0, the engine's advice stays. */
const char *ice_message(const icecore_error *error, const ice_limit_words *words, size_t count, ice_line *line);

/* Returns the name of the kind of an error, for programs. `bad_link` is the name of
 * ICECORE_BAD_LINK. The host passes it, because it has two words, and hosts join words
 * differently. */
const char *ice_kind_name(uint32_t kind, const char *bad_link);

#endif
