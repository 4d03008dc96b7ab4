/* Names of classes in data that a class froze itself (`C:`), if the engine can't read
 * it; and pieces of PHP's text.
 *
 * Everything that looks like the front of an object or of an enum case is taken for one,
 * in strings too, so that no class that PHP would build is missed. */
#include "core/scan.h"

/* Reads the digits at `at` up to `:"`; returns the start of the name, or NULL. */
static const char *
name_at(const char *at, const char *end, size_t *len)
{
    size_t value = 0;
    const char *digits = at;
    /* PHP takes any number of zeros, and the signs that it once took. Too large a number
     * ends the search below. */
    if (at < end && *at == '+')
        digits = ++at;
    while (at < end && *at >= '0' && *at <= '9') {
        value = value > SIZE_MAX / 16 ? value : value * 10 + (size_t)(*at - '0');
        at++;
    }
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
        if (*at == 'E') {
            zval needed;
            ZVAL_TRUE(&needed);
            if ((colon = memchr(name, ':', len)))
                len = (size_t)(colon - name);
            zend_hash_str_update(names, name, len, &needed);
        } else
            zend_hash_str_add_empty_element(names, name, len);
    }
}

/* Returns the end of a piece of text that ends with ';' or '{': a scalar, or the front
 * of a container. */
static const char *
behind(const char *at, const char *end)
{
    size_t len;
    const char *text;
    switch (*at) {
    case 's':
    case 'E': text = name_at(at + 2, end, &len); return text ? text + len + 2 : end;
    case 'O': text = name_at(at + 2, end, &len); at = text ? text + len : end; break;
    case 'S': /* a backslash and two digits: none of them is a quote */
        for (at += 4; at < end && !(at[-1] == '"' && *at == ';' && at[-2] != ':'); at++)
            ;
        return at + 1;
    case 'a': break;
    default: at = memchr(at, ';', end - at); return at ? at + 1 : end;
    }
    at = memchr(at, '{', end - at);
    return at ? at + 1 : end;
}

/* Returns the end of the front of a `C:` object, and the length of its payload. */
static const char *
front_of_payload(const char *at, const char *end, size_t *len)
{
    size_t value = 0;
    at = name_at(at + 2, end, len);
    if (!at || (size_t)(end - at) < *len + 2)
        return NULL;
    for (at += *len + 2; at < end && *at >= '0' && *at <= '9' && value <= (size_t)(end - at); at++)
        value = value * 10 + (size_t)(*at - '0');
    if (end - at < 2 || (size_t)(end - at - 2) < value)
        return NULL;
    *len = value;
    return at + 2;
}

void
ice_scan_payloads(zend_string *text, HashTable *payloads)
{
    const char *at = ZSTR_VAL(text), *end = at + ZSTR_LEN(text);
    /* Nested payloads are copied once per level, so the total is limited. */
    size_t room = 16 * ZSTR_LEN(text) + 65536, len;
    while (at < end) {
        if (strchr("};:,", *at)) /* and NUL */
            at++;
        else if (*at == 'x' || *at == 'm')
            at += 2;
        else if (*at != 'C')
            at = behind(at, end);
        else {
            if (!(at = front_of_payload(at, end, &len)) || len > room)
                return;
            if (len < 2 || !strchr("aOCEsSidbrRNxm", *at) || (at[1] != ':' && at[1] != ';')) {
                at += len;
                continue;
            }
            room -= len;
            zend_hash_str_add_empty_element(payloads, at, len);
        }
    }
}

size_t
ice_scan_behind(zend_string *text, size_t offset)
{
    const char *start = ZSTR_VAL(text), *end = start + ZSTR_LEN(text);
    return offset < ZSTR_LEN(text) ? (size_t)(MIN(behind(start + offset, end), end) - start) : ZSTR_LEN(text);
}

/* Whether an integer, which ends with ';', exceeds 64 bits. */
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

static bool
is_wide(const char *at)
{
    return *at == 'i' && overflows(at + 2);
}

void
ice_scan_begin(ice_scan *scan, const icecore_view *view)
{
    const ice_scan begun = { .view = view, .at = (const char *)view->input, .node = view->root };
    *scan = begun;
}

static void
pass(ice_scan *scan, const char *end)
{
    if (scan->at >= end)
        return;
    scan->wide += end - scan->at > 2 && is_wide(scan->at);
    scan->at = behind(scan->at, end);
}

static void
scan_to(ice_scan *scan, uint32_t node, bool is_behind)
{
    const icecore_view *view = scan->view;
    const char *end = (const char *)view->input + view->input_len;
    for (; scan->node <= node && scan->at < end; scan->node++, scan->is_key_done = false) {
        const icecore_node *this = &view->nodes[scan->node];
        const bool is_root = scan->node == view->root;
        /* The body of an object has no text of its own. */
        if (!is_root && this[-1].kind == ICECORE_OBJECT)
            continue;
        if (!scan->is_key_done) {
            while (scan->at < end && *scan->at == '}')
                scan->at++;
            if (!is_root && this->key != ICECORE_KEY_NODE && this->key != ICECORE_IS_KEY)
                pass(scan, end);
            scan->is_key_done = true;
        }
        if (scan->node == node && !is_behind)
            return;
        pass(scan, end);
    }
}

void
ice_say_wide(uint32_t count)
{
    while (count-- && !EG(exception))
        php_error_docref(NULL, E_WARNING, "Numerical result out of range");
}

void
ice_scan_say_wide(ice_scan *scan, uint32_t node, bool is_behind)
{
    uint32_t count;
    scan_to(scan, node, is_behind);
    count = scan->wide - scan->wide_said;
    scan->wide_said = scan->wide;
    ice_say_wide(count);
}

size_t
ice_scan_offset(const icecore_view *view, uint32_t node, bool is_behind)
{
    ice_scan scan;
    ice_scan_begin(&scan, view);
    scan_to(&scan, node, is_behind);
    return MIN((size_t)(scan.at - (const char *)view->input), view->input_len);
}

/* Counts the pieces of text for which `fits` is true. */
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

uint32_t
ice_scan_overflows(zend_string *text, size_t len)
{
    return count_pieces(text, len, is_wide);
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

bool
ice_scan_payload(zend_string *text, size_t offset, zend_long *len, bool *is_wide)
{
    const char *start = ZSTR_VAL(text), *at = start + offset, *front;
    if (offset < 8 || offset > ZSTR_LEN(text) || at[-1] != '{' || at[-2] != ':')
        return false;
    /* The name of its class is searched backwards from here. */
    for (front = at - 1; front >= start && at - front < 300; front--) {
        size_t name_len;
        const char *name;
        if (*front != 'C' || at - front < 8 || front[1] != ':' || !(name = name_at(front + 2, at, &name_len)))
            continue;
        if (name + name_len + 2 < at && name[name_len] == '"' && name[name_len + 1] == ':') {
            *len = ZEND_STRTOL(name + name_len + 2, NULL, 10);
            *is_wide = overflows(name + name_len + 2);
            return true;
        }
    }
    return false;
}

const char *
ice_scan_enum(zend_string *text, size_t offset, size_t *len)
{
    const char *at = ZSTR_VAL(text) + offset, *end = ZSTR_VAL(text) + ZSTR_LEN(text), *name;
    if (offset >= ZSTR_LEN(text) || *at != 'E' || at[1] != ':' || !(name = name_at(at + 2, end, len)) || *len == 0)
        return NULL;
    return end - name >= (ptrdiff_t)*len + 2 && name[*len] == '"' && name[*len + 1] == ';' ? name : NULL;
}
