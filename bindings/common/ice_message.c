#include "common/ice_message.h"
#include <stdio.h>
#include <string.h>

/* The words for a limit, of which `name` begins with the name and a quote. */
static const char *
words_for(const char *name, const ice_limit_words *words, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const size_t len = strlen(words[i].limit);
        if (strncmp(name, words[i].limit, len) == 0 && name[len] == '`')
            return words[i].words;
    }
    return NULL;
}

const char *
ice_message(const icecore_error *error, const ice_limit_words *words, size_t count, ice_line *line)
{
    static const char raise[] = "(raise the limit `";
    const char *help = strstr(error->message, raise);
    const char *own = help ? words_for(help + sizeof raise - 1, words, count) : NULL;
    char *at;
    if (own)
        snprintf(line->text, sizeof line->text, "%.*s(%s)", (int)(help - error->message), error->message, own);
    else
        snprintf(line->text, sizeof line->text, "%s", error->message);
    for (at = line->text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            *at = ' ';
    return line->text;
}
