/* Searches PHP's serialized text: class names in payloads that the engine can't read, and
 * tokens of text that the engine has read.
 *
 * The search for class names takes everything for an object or an enum case that looks like
 * one, even in strings. So it misses no class that PHP would build. */
#include "core/scan.h"

/* Parses `4:"Name`, and returns the start of the name; NULL if the text is something else or
 * ends within the name. `len` receives the length that the text states. */
static const char *
parse_quoted_name(const char *cursor, const char *end, size_t *len)
{
    size_t value = 0;
    const char *digits = cursor;
    /* PHP accepts leading zeros, and a plus sign for old data. The value stops growing before it
     * overflows. It is then longer than any text, so the comparison below refuses it. */
    if (cursor < end && *cursor == '+')
        digits = ++cursor;
    while (cursor < end && *cursor >= '0' && *cursor <= '9') {
        value = value > SIZE_MAX / 16 ? value : value * 10 + (size_t)(*cursor - '0');
        cursor++;
    }
    if (cursor == digits || end - cursor < 2 || cursor[0] != ':' || cursor[1] != '"' ||
        (size_t)(end - cursor - 2) < value)
        return NULL;
    *len = value;
    return cursor + 2;
}

void
ice_scan_classes(const char *cursor, size_t size, HashTable *names)
{
    const char *end = cursor + size;
    for (; end - cursor > 4; cursor++) {
        const char *name, *colon;
        size_t len;
        if ((*cursor != 'O' && *cursor != 'C' && *cursor != 'E') || cursor[1] != ':' ||
            !(name = parse_quoted_name(cursor + 2, end, &len)))
            continue;
        if (*cursor == 'E') {
            zval is_required;
            ZVAL_TRUE(&is_required);
            if ((colon = memchr(name, ':', len)))
                len = (size_t)(colon - name);
            zend_hash_str_update(names, name, len, &is_required);
        } else
            zend_hash_str_add_empty_element(names, name, len);
    }
}

/* Returns the end of the token at the cursor. A token ends with ';' or '{'. */
static const char *
token_end(const char *cursor, const char *end)
{
    size_t len;
    const char *text;
    switch (*cursor) {
    case 's':
    case 'E': text = parse_quoted_name(cursor + 2, end, &len); return text ? text + len + 2 : end;
    case 'O': text = parse_quoted_name(cursor + 2, end, &len); cursor = text ? text + len : end; break;
    case 'S':
        /* Its bytes may be escaped, as a backslash and two digits, so its length in the text is
         * unknown. It ends at the first `";` after the opening quote, which follows a colon. */
        for (cursor += 4; cursor < end && !(cursor[-1] == '"' && *cursor == ';' && cursor[-2] != ':'); cursor++)
            ;
        return cursor + 1;
    case 'a': break;
    default: cursor = memchr(cursor, ';', end - cursor); return cursor ? cursor + 1 : end;
    }
    cursor = memchr(cursor, '{', end - cursor);
    return cursor ? cursor + 1 : end;
}

/* Parses the header of a `C:` object. Returns the start of its payload, and `len` receives the
 * length of the payload; NULL if the header is malformed. */
static const char *
parse_payload_header(const char *cursor, const char *end, size_t *len)
{
    size_t value = 0;
    cursor = parse_quoted_name(cursor + 2, end, len);
    if (!cursor || (size_t)(end - cursor) < *len + 2)
        return NULL;
    cursor += *len + 2;
    for (; cursor < end && *cursor >= '0' && *cursor <= '9' && value <= (size_t)(end - cursor); cursor++)
        value = value * 10 + (size_t)(*cursor - '0');
    if (end - cursor < 2 || (size_t)(end - cursor - 2) < value)
        return NULL;
    *len = value;
    return cursor + 2;
}

/* Does what ice_scan_payloads does. If `has_names` is true, a name and `|` are before each value that
 * is not in a container. */
static void
scan_payloads(zend_string *text, bool has_names, HashTable *payloads)
{
    const char *cursor = ZSTR_VAL(text), *end = cursor + ZSTR_LEN(text);
    /* A nested payload is also part of the payloads around it, so the total is limited. */
    size_t remaining_bytes = 16 * ZSTR_LEN(text) + 65536, len, depth = 0;
    bool is_at_name = has_names;
    while (cursor < end) {
        if (is_at_name) {
            const char *bar = memchr(cursor, '|', end - cursor);
            if (!bar)
                return;
            cursor = bar + 1;
            is_at_name = false;
            continue;
        }
        /* These bytes are between tokens. strchr also finds a NUL byte, so it is skipped, too. */
        if (strchr("};:,", *cursor)) {
            depth -= *cursor == '}' && depth;
            is_at_name = has_names && *cursor == '}' && !depth;
            cursor++;
        } else if (*cursor == 'x' || *cursor == 'm')
            cursor += 2;
        else if (*cursor != 'C') {
            cursor = token_end(cursor, end);
            if (cursor[-1] == '{')
                depth++;
            else
                is_at_name = has_names && !depth;
        } else {
            depth++;
            if (!(cursor = parse_payload_header(cursor, end, &len)) || len > remaining_bytes)
                return;
            if (len < 2 || !strchr("aOCEsSidbrRNxm", *cursor) || (cursor[1] != ':' && cursor[1] != ';')) {
                cursor += len;
                continue;
            }
            remaining_bytes -= len;
            zend_hash_str_add_empty_element(payloads, cursor, len);
        }
    }
}

void
ice_scan_payloads(zend_string *text, HashTable *payloads)
{
    scan_payloads(text, false, payloads);
}

void
ice_scan_session_payloads(zend_string *text, HashTable *payloads)
{
    scan_payloads(text, true, payloads);
}

size_t
ice_scan_token_end_in(const char *start, size_t len, size_t offset)
{
    const char *end = start + len;
    return offset < len ? (size_t)(MIN(token_end(start + offset, end), end) - start) : len;
}

size_t
ice_scan_name_end(const char *start, size_t len, size_t offset)
{
    const char *name;
    size_t name_len;
    if (len - offset < 4 || !strchr("OCE", start[offset]) ||
        !(name = parse_quoted_name(start + offset + 2, start + len, &name_len)))
        return offset;
    return MIN((size_t)(name - start) + name_len + 2, len);
}

size_t
ice_scan_token_end(zend_string *text, size_t offset)
{
    return ice_scan_token_end_in(ZSTR_VAL(text), ZSTR_LEN(text), offset);
}

/* Returns true if an integer needs more than 64 bits. Its digits end at any other byte. */
static bool
exceeds_64_bits(const char *digits)
{
    const bool is_negative = *digits == '-';
    uint64_t value = 0;
    int count = 0;
    if (*digits == '-' || *digits == '+')
        digits++;
    while (*digits == '0')
        digits++;
    for (; *digits >= '0' && *digits <= '9'; digits++, count++) {
        /* Any number of 19 digits fits into a uint64_t. A number of 20 digits is too large. */
        if (count == 19)
            return true;
        value = value * 10 + (uint64_t)(*digits - '0');
    }
    return value > (uint64_t)ZEND_LONG_MAX + is_negative;
}

/* Returns true if the token is an integer that needs more than 64 bits. */
static bool
is_wide_integer(const char *cursor)
{
    return *cursor == 'i' && exceeds_64_bits(cursor + 2);
}

void
ice_scan_start(ice_scan *scan, const icecore_view *view)
{
    const ice_scan started = { .view = view, .cursor = (const char *)view->input, .next_node = view->root };
    *scan = started;
}

/* Moves the cursor past a token. */
static void
scan_token(ice_scan *scan, const char *end)
{
    if (scan->cursor >= end)
        return;
    scan->wide_count += end - scan->cursor > 2 && is_wide_integer(scan->cursor);
    scan->cursor = token_end(scan->cursor, end);
}

/* Scans the text up to the value of a node. If `includes_node` is true, also scans the first token
 * of the value. */
static void
scan_to(ice_scan *scan, uint32_t node, bool includes_node)
{
    const icecore_view *view = scan->view;
    const char *end = (const char *)view->input + view->input_len;
    for (; scan->next_node <= node && scan->cursor < end; scan->next_node++, scan->is_key_done = false) {
        const icecore_node *current = &view->nodes[scan->next_node];
        const bool is_root = scan->next_node == view->root;
        /* The body of an object has no text of its own. */
        if (!is_root && current[-1].kind == ICECORE_OBJECT)
            continue;
        if (!scan->is_key_done) {
            while (scan->cursor < end && *scan->cursor == '}')
                scan->cursor++;
            if (!is_root && current->key != ICECORE_KEY_PRECEDES && current->key != ICECORE_IS_KEY)
                scan_token(scan, end);
            scan->is_key_done = true;
        }
        if (scan->next_node == node && !includes_node)
            return;
        scan_token(scan, end);
    }
}

void
ice_warn_wide(uint32_t count)
{
    while (count-- && !EG(exception))
        php_error_docref(NULL, E_WARNING, "Numerical result out of range");
}

void
ice_scan_warn_wide(ice_scan *scan, uint32_t node, bool includes_node)
{
    uint32_t count;
    scan_to(scan, node, includes_node);
    count = scan->wide_count - scan->warned_wide_count;
    scan->warned_wide_count = scan->wide_count;
    ice_warn_wide(count);
}

size_t
ice_scan_offset(const icecore_view *view, uint32_t node, bool includes_node)
{
    ice_scan scan;
    ice_scan_start(&scan, view);
    scan_to(&scan, node, includes_node);
    return MIN((size_t)(scan.cursor - (const char *)view->input), view->input_len);
}

/* Counts the tokens for which `matches` returns true. */
static uint32_t
count_tokens(zend_string *text, size_t len, bool (*matches)(const char *cursor))
{
    const char *cursor = ZSTR_VAL(text), *end = cursor + len;
    uint32_t count = 0;
    while (cursor < end) {
        if (*cursor == '}') {
            cursor++;
            continue;
        }
        count += end - cursor > 2 && matches(cursor);
        cursor = token_end(cursor, end);
    }
    return count;
}

uint32_t
ice_scan_count_wide(zend_string *text, size_t len)
{
    return count_tokens(text, len, is_wide_integer);
}

/* Returns true if the token is a string with escapes. */
static bool
is_escaped_string(const char *cursor)
{
    return *cursor == 'S';
}

uint32_t
ice_scan_count_escaped(zend_string *text, size_t len)
{
    const bool may_have = zend_memnstr(ZSTR_VAL(text), "S:", 2, ZSTR_VAL(text) + len) != NULL;
    return may_have ? count_tokens(text, len, is_escaped_string) : 0;
}

bool
ice_scan_payload_length(zend_string *text, size_t offset, zend_long *len, bool *is_wide)
{
    const char *start = ZSTR_VAL(text), *cursor = start + offset, *header;
    /* The shortest header, `C:0:"":0:{`, has more than 8 bytes. */
    if (offset < 8 || offset > ZSTR_LEN(text) || cursor[-1] != '{' || cursor[-2] != ':')
        return false;
    /* Searches backwards from the payload for a `C` whose header ends at the payload. The search
     * ends after 300 bytes, because names of classes are rarely longer. */
    for (header = cursor - 1; header >= start && cursor - header < 300; header--) {
        size_t name_len;
        const char *name;
        if (*header != 'C' || cursor - header < 8 || header[1] != ':' ||
            !(name = parse_quoted_name(header + 2, cursor, &name_len)))
            continue;
        if (name + name_len + 2 < cursor && name[name_len] == '"' && name[name_len + 1] == ':') {
            *len = ZEND_STRTOL(name + name_len + 2, NULL, 10);
            *is_wide = exceeds_64_bits(name + name_len + 2);
            return true;
        }
    }
    return false;
}

const char *
ice_scan_enum_name(zend_string *text, size_t offset, size_t *len)
{
    const char *cursor = ZSTR_VAL(text) + offset, *end = ZSTR_VAL(text) + ZSTR_LEN(text), *name;
    if (offset >= ZSTR_LEN(text) || *cursor != 'E' || cursor[1] != ':' ||
        !(name = parse_quoted_name(cursor + 2, end, len)) || *len == 0)
        return NULL;
    return end - name >= (ptrdiff_t)*len + 2 && name[*len] == '"' && name[*len + 1] == ';' ? name : NULL;
}
