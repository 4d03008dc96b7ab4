/* Names of classes in PHP's text, where the engine can't read it: behind an object that its
 * class froze (`C:`), links count values that only the class knows of.
 *
 * Whatever looks like the front of an object or of an enum case is taken for one, in
 * strings too: a class that PHP would build is never missed. */
#include "core/scan.h"

/* The digits at `at` up to `:"`; where the name begins, or NULL. */
static const char *
name_at(const char *at, const char *end, size_t *len)
{
    size_t value = 0;
    const char *digits = at;
    while (at < end && *at >= '0' && *at <= '9' && at - digits < 9)
        value = value * 10 + (size_t)(*at++ - '0');
    if (at == digits || end - at < 2 || at[0] != ':' || at[1] != '"' || (size_t)(end - at - 2) < value)
        return NULL;
    *len = value;
    return at + 2;
}

void
ice_scan_classes(const char *at, size_t size, HashTable *names)
{
    const char *end = at + size;
    for (; end - at > 4; at++) {
        const char *name, *colon;
        size_t len;
        if ((*at != 'O' && *at != 'C' && *at != 'E') || at[1] != ':' || !(name = name_at(at + 2, end, &len)))
            continue;
        if (*at == 'E' && (colon = memchr(name, ':', len)))
            len = (size_t)(colon - name);
        zend_hash_str_add_empty_element(names, name, len);
    }
}

/* Behind a piece of text that ends with ';' or '{': a scalar, or the front of a container. */
static const char *
behind(const char *at, const char *end)
{
    size_t len;
    const char *text;
    switch (*at) {
    case 's':
    case 'E': text = name_at(at + 2, end, &len); return text ? text + len + 2 : end;
    case 'O': text = name_at(at + 2, end, &len); at = text ? text + len : end; break;
    case 'S': /* two digits behind a backslash: no quote is among them */
        for (at += 4; at < end && !(at[-1] == '"' && *at == ';' && at[-2] != ':'); at++)
            ;
        return at + 1;
    case 'a': break;
    default: at = memchr(at, ';', end - at); return at ? at + 1 : end;
    }
    at = memchr(at, '{', end - at);
    return at ? at + 1 : end;
}

size_t
ice_scan_behind(zend_string *text, size_t offset)
{
    const char *start = ZSTR_VAL(text), *end = start + ZSTR_LEN(text);
    return offset < ZSTR_LEN(text) ? (size_t)(MIN(behind(start + offset, end), end) - start) : ZSTR_LEN(text);
}

size_t
ice_scan_offset(const icecore_view *view, uint32_t node, bool is_behind)
{
    const char *start = (const char *)view->input, *at = start, *end = start + view->input_len;
    uint32_t i;
    for (i = view->root; i <= node && at < end; i++) {
        const icecore_node *this = &view->nodes[i];
        if (i > view->root && this[-1].kind == ICECORE_OBJECT)
            continue;
        while (at < end && *at == '}')
            at++;
        if (i > view->root && this->key != ICECORE_KEY_NODE && this->key != ICECORE_IS_KEY && at < end)
            at = behind(at, end);
        if (at >= end || (i == node && !is_behind))
            break;
        at = behind(at, end);
    }
    return (size_t)(MIN(at, end) - start);
}
