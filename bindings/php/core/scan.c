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

/* Whether an integer, which ends with ';', is beyond 64 bits. */
static bool
overflows(const char *digits)
{
    const bool is_negative = *digits == '-';
    uint64_t value = 0;
    int count = 0;
    if (*digits == '-' || *digits == '+')
        digits++;
    while (*digits == '0')
        digits++;
    for (; *digits >= '0' && *digits <= '9'; digits++, count++) {
        if (count == 19)
            return true;
        value = value * 10 + (uint64_t)(*digits - '0');
    }
    return value > (uint64_t)ZEND_LONG_MAX + is_negative;
}

/* How many pieces of text there are that this says yes to. */
static uint32_t
count_pieces(zend_string *text, size_t len, bool (*fits)(const char *at))
{
    const char *at = ZSTR_VAL(text), *end = at + len;
    uint32_t count = 0;
    while (at < end) {
        if (*at == '}') {
            at++;
            continue;
        }
        count += end - at > 2 && fits(at);
        at = behind(at, end);
    }
    return count;
}

static bool
is_beyond(const char *at)
{
    return *at == 'i' && overflows(at + 2);
}

uint32_t
ice_scan_overflows(zend_string *text, size_t len)
{
    return count_pieces(text, len, is_beyond);
}

static bool
is_escaped(const char *at)
{
    return *at == 'S';
}

uint32_t
ice_scan_escaped(zend_string *text, size_t len)
{
    const bool may_have = zend_memnstr(ZSTR_VAL(text), "S:", 2, ZSTR_VAL(text) + len) != NULL;
    return may_have ? count_pieces(text, len, is_escaped) : 0;
}

/* The front of a `C:` object that ends at `at`; its length, or -1. */
static zend_long
payload_len(const char *start, const char *at)
{
    const char *front;
    for (front = at - 1; front >= start && at - front < 300; front--) {
        size_t len;
        const char *name;
        if (*front != 'C' || at - front < 8 || front[1] != ':' || !(name = name_at(front + 2, at, &len)))
            continue;
        if (name + len + 2 < at && name[len] == '"' && name[len + 1] == ':')
            return ZEND_STRTOL(name + len + 2, NULL, 10);
    }
    return -1;
}

zend_long
ice_scan_missing(zend_string *text, size_t offset)
{
    const char *start = ZSTR_VAL(text), *at = start + offset;
    zend_long len;
    if (offset < 8 || offset > ZSTR_LEN(text) || at[-1] != '{' || at[-2] != ':')
        return -1;
    len = payload_len(start, at);
    return len >= (zend_long)(ZSTR_LEN(text) - offset) ? len : -1;
}

const char *
ice_scan_enum(zend_string *text, size_t offset, size_t *len)
{
    const char *at = ZSTR_VAL(text) + offset, *end = ZSTR_VAL(text) + ZSTR_LEN(text), *name;
    if (offset >= ZSTR_LEN(text) || *at != 'E' || at[1] != ':' || !(name = name_at(at + 2, end, len)) || *len == 0)
        return NULL;
    return end - name >= (ptrdiff_t)*len + 2 && name[*len] == '"' && name[*len + 1] == ';' ? name : NULL;
}
