#include "common/ice_message.h"
#include <stdio.h>
#include <string.h>

/* Returns the host's advice for a limit, or NULL. `name` begins with the name of the limit and a
 * quote, or with ICE_TRAILING and a space. */
static const char *
find_host_advice(const char *name, const ice_limit_words *words, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const size_t len = strlen(words[i].limit);
        if (strncmp(name, words[i].limit, len) == 0 && (name[len] == '`' || name[len] == ' '))
            return words[i].words;
    }
    return NULL;
}

/* Returns the engine's advice at the end of a message, or NULL. `name` receives the name of the
 * limit in it. */
static const char *
find_engine_advice(const char *message, const char **name)
{
    static const char raise[] = "(raise the limit `";
    const char *start = strstr(message, raise);
    if (start) {
        *name = start + sizeof raise - 1;
        return start;
    }
    start = strstr(message, ICE_TRAILING);
    if (!start)
        return NULL;
    *name = start;
    /* The advice begins with the parenthesis around these words. */
    while (start > message && !(start[0] == '(' && start[-1] == ' '))
        start--;
    return start > message ? start : NULL;
}

const char *
ice_message(const icecore_error *error, const ice_limit_words *words, size_t count, ice_line *line)
{
    const char *name = NULL, *engine_advice = find_engine_advice(error->message, &name);
    const char *host_advice = engine_advice ? find_host_advice(name, words, count) : NULL;
    char *byte;
    if (host_advice)
        snprintf(line->text, sizeof line->text, "%.*s(%s)", (int)(engine_advice - error->message), error->message,
                 host_advice);
    else
        snprintf(line->text, sizeof line->text, "%s", error->message);
    /* The message may contain text of the data. Control characters become blanks, so it stays one
     * line and can't change a terminal. */
    for (byte = line->text; *byte; byte++)
        if ((unsigned char)*byte < 0x20 || *byte == 0x7F)
            *byte = ' ';
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
    /* The kinds that are not in the table have NULL there. */
    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "other";
}
