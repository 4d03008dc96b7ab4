#include "common/ice_message.h"
#include <stdio.h>
#include <string.h>

/* Returns the words for a limit; `name` begins with its name and a quote. */
static const char *
words_for(const char *name, const ice_limit_words *words, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const size_t len = strlen(words[i].limit);
        if (strncmp(name, words[i].limit, len) == 0 && (name[len] == '`' || name[len] == ' '))
            return words[i].words;
    }
    return NULL;
}

/* Finds the engine's advice in a message, and the name of the limit in it; NULL if
 * there is none. */
static const char *
advice_of(const char *message, const char **name)
{
    static const char raise[] = "(raise the limit `", each[] = ICE_TRAILING;
    const char *at = strstr(message, raise);
    if (at) {
        *name = at + sizeof raise - 1;
        return at;
    }
    at = strstr(message, each);
    if (!at)
        return NULL;
    *name = at;
    while (at > message && !(at[0] == '(' && at[-1] == ' '))
        at--;
    return at > message ? at : NULL;
}

const char *
ice_message(const icecore_error *error, const ice_limit_words *words, size_t count, ice_line *line)
{
    const char *name = NULL, *advice = advice_of(error->message, &name);
    const char *own = advice ? words_for(name, words, count) : NULL;
    char *at;
    if (own)
        snprintf(line->text, sizeof line->text, "%.*s(%s)", (int)(advice - error->message), error->message, own);
    else
        snprintf(line->text, sizeof line->text, "%s", error->message);
    for (at = line->text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            *at = ' ';
    return line->text;
}

const char *
ice_kind_name(uint32_t kind, const char *bad_link)
{
    static const char *const names[] = {
        [ICECORE_TRUNCATED] = "truncated",
        [ICECORE_TRAILING] = "trailing",
        [ICECORE_MALFORMED] = "malformed",
        [ICECORE_UNSUPPORTED] = "unsupported",
        [ICECORE_LIMIT] = "limit",
        [ICECORE_FORMAT] = "format",
        [ICECORE_USAGE] = "usage",
        [ICECORE_UNREPRESENTABLE] = "unrepresentable",
        [ICECORE_OUTPUT] = "output",
    };
    if (kind == ICECORE_BAD_LINK)
        return bad_link;
    if (kind == ICECORE_PANIC)
        return "defect";
    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "other";
}
