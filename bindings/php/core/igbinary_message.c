/* igbinary's messages about malformed data. They name the function of igbinary that found the fault,
 * and a position in some cases. So the data is walked in the order in which igbinary reads it, but
 * nothing is built. Only data that the engine refuses comes here. */
#include "core/igbinary_message.h"
#include <ctype.h>

/* What a tag begins. */
typedef enum kind {
    KIND_UNKNOWN,
    KIND_NULL,
    KIND_EMPTY,        /* false, true or an empty string */
    KIND_INTEGER,
    KIND_FLOAT,
    KIND_STRING,
    KIND_STRING_ID,
    KIND_ARRAY,
    KIND_OBJECT,
    KIND_OBJECT_ID,
    KIND_PAYLOAD,
    KIND_LINK,
    KIND_BY_REFERENCE,
    KIND_ENUM_CASE
} kind;

/* By tag: its kind, and the width of the number after it. */
static const struct {
    uint8_t kind, width;
} tags[] = {
    { KIND_NULL, 0 },      { KIND_LINK, 1 },      { KIND_LINK, 2 },         { KIND_LINK, 4 },
    { KIND_EMPTY, 0 },     { KIND_EMPTY, 0 },     { KIND_INTEGER, 1 },      { KIND_INTEGER, 1 },
    { KIND_INTEGER, 2 },   { KIND_INTEGER, 2 },   { KIND_INTEGER, 4 },      { KIND_INTEGER, 4 },
    { KIND_FLOAT, 8 },     { KIND_EMPTY, 0 },     { KIND_STRING_ID, 1 },    { KIND_STRING_ID, 2 },
    { KIND_STRING_ID, 4 }, { KIND_STRING, 1 },    { KIND_STRING, 2 },       { KIND_STRING, 4 },
    { KIND_ARRAY, 1 },     { KIND_ARRAY, 2 },     { KIND_ARRAY, 4 },        { KIND_OBJECT, 1 },
    { KIND_OBJECT, 2 },    { KIND_OBJECT, 4 },    { KIND_OBJECT_ID, 1 },    { KIND_OBJECT_ID, 2 },
    { KIND_OBJECT_ID, 4 }, { KIND_PAYLOAD, 1 },   { KIND_PAYLOAD, 2 },      { KIND_PAYLOAD, 4 },
    { KIND_INTEGER, 8 },   { KIND_INTEGER, 8 },   { KIND_LINK, 1 },         { KIND_LINK, 2 },
    { KIND_LINK, 4 },      { KIND_BY_REFERENCE, 0 }, { KIND_STRING, 8 },    { KIND_ENUM_CASE, 0 },
};
enum { TAG_NULL = 0x00, TAG_EMPTY_STRING = 0x0d, TAG_POSITIVE_64 = 0x20 };

typedef struct text {
    size_t offset, len;
} text;

/* An array or the properties of an object whose entries are being walked. */
typedef struct container {
    uint32_t remaining;
    bool is_array;
} container;

typedef struct walk {
    const unsigned char *bytes;
    size_t len, offset;
    container *containers;      /* the open containers, the innermost last */
    size_t depth, container_capacity;
    text *strings;              /* by number */
    size_t string_count, string_capacity;
    size_t value_count;         /* values that links can name */
    zend_string *message;
} walk;

/* Stores the message. Returns false, which the caller returns as well. */
static bool
fail(walk *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->message = zend_vstrpprintf(0, format, arguments);
    va_end(arguments);
    return false;
}

/* Doubles the capacity of a list in PHP's heap, so that nothing leaks if memory_limit is reached. */
static void *
grow(void *items, size_t *capacity, size_t size)
{
    *capacity = *capacity ? *capacity * 2 : 16;
    return safe_erealloc(items, *capacity, size, 0);
}

static uint8_t
kind_of(uint8_t tag)
{
    return tag < sizeof tags / sizeof *tags ? tags[tag].kind : KIND_UNKNOWN;
}

/* Returns true if `count` bytes remain. `function` is the name of the function in the message. */
static bool
has_bytes(walk *w, uint64_t count, const char *function)
{
    return w->len - w->offset >= count || fail(w, "%s: end-of-data", function);
}

static bool
read_number(walk *w, uint8_t width, const char *function, uint64_t *number)
{
    if (!has_bytes(w, width, function))
        return false;
    *number = 0;
    while (width--)
        *number = *number << 8 | w->bytes[w->offset++];
    return true;
}

static bool
read_tag(walk *w, const char *function, uint8_t *tag)
{
    if (!has_bytes(w, 1, function))
        return false;
    *tag = w->bytes[w->offset++];
    return true;
}

/* ---- scalars ------------------------------------------------------------ */

static bool
walk_integer(walk *w, uint8_t tag)
{
    static const char function[] = "igbinary_unserialize_long";
    uint64_t number, limit = (uint64_t)1 << 63;
    if (!read_number(w, tags[tag].width, function, &number))
        return false;
    if (tags[tag].width == 8 && (number > limit || (number == limit && tag == TAG_POSITIVE_64)))
        return fail(w, "%s: too big 64bit long.", function);
    return true;
}

static bool
walk_string(walk *w, uint8_t width, text *found)
{
    static const char function[] = "igbinary_unserialize_chararray";
    uint64_t len;
    if (!read_number(w, width, function, &len) || !has_bytes(w, len, function))
        return false;
    if (w->string_count == w->string_capacity)
        w->strings = grow(w->strings, &w->string_capacity, sizeof *w->strings);
    found->offset = w->offset;
    found->len = (size_t)len;
    w->strings[w->string_count++] = *found;
    w->offset += (size_t)len;
    return true;
}

static bool
walk_string_id(walk *w, uint8_t width, text *found)
{
    static const char function[] = "igbinary_unserialize_string";
    uint64_t id;
    if (!read_number(w, width, function, &id))
        return false;
    if (id >= w->string_count)
        return fail(w, "%s: string index is out-of-bounds", function);
    *found = w->strings[id];
    return true;
}

/* ---- containers --------------------------------------------------------- */

/* Walks the count of an array or of properties, and opens it. */
static bool
open_container(walk *w, uint8_t tag, bool is_array)
{
    const char *function = is_array ? "igbinary_unserialize_array" : "igbinary_unserialize_object_properties";
    container *opened;
    uint64_t count;
    if (!read_number(w, tags[tag].width, function, &count))
        return false;
    if (w->len - w->offset < count)
        return fail(w, "%s: data size %zu smaller that requested array length %zu.", function, w->len - w->offset,
                    (size_t)count);
    if (w->depth == w->container_capacity)
        w->containers = grow(w->containers, &w->container_capacity, sizeof *w->containers);
    opened = &w->containers[w->depth++];
    opened->remaining = (uint32_t)count;
    opened->is_array = is_array;
    return true;
}

/* Walks the key of an entry. `has_value` receives false for an entry without key and value. */
static bool
walk_key(walk *w, bool is_array, bool *has_value)
{
    const char *function = is_array ? "igbinary_unserialize_array" : "igbinary_unserialize_object_properties";
    uint8_t tag;
    text found;
    if (!read_tag(w, function, &tag))
        return false;
    *has_value = tag != TAG_NULL;
    if (tag == TAG_NULL || tag == TAG_EMPTY_STRING)
        return true;
    switch (kind_of(tag)) {
    case KIND_INTEGER: return walk_integer(w, tag);
    case KIND_STRING: return walk_string(w, tags[tag].width, &found);
    case KIND_STRING_ID: return walk_string_id(w, tags[tag].width, &found);
    default: return fail(w, "%s: unknown key type '%02x', position %zu", function, tag, w->offset);
    }
}

/* ---- objects ------------------------------------------------------------ */

/* Returns the class if it is loaded, or NULL. */
static zend_class_entry *
loaded_class(const walk *w, const text *name)
{
    zend_string *string = zend_string_init((const char *)w->bytes + name->offset, name->len, 0);
    zend_class_entry *ce = zend_lookup_class_ex(string, NULL, ZEND_FETCH_CLASS_NO_AUTOLOAD);
    zend_string_release(string);
    return ce;
}

static bool
walk_payload(walk *w, uint8_t width, const zend_class_entry *ce)
{
    static const char function[] = "igbinary_unserialize_object_ser";
    uint64_t len;
    if (ce && !ce->unserialize)
        return fail(w, "Class %s has no unserializer", ZSTR_VAL(ce->name));
    if (!read_number(w, width, function, &len) || !has_bytes(w, len, function))
        return false;
    w->offset += (size_t)len;
    return true;
}

static bool
walk_enum_case(walk *w, const zend_class_entry *ce)
{
    uint8_t tag;
    text name;
    if (ce && !(ce->ce_flags & ZEND_ACC_ENUM))
        return fail(w, "igbinary_unserialize_object_enum_case: Class '%s' is not an enum", ZSTR_VAL(ce->name));
    if (!read_tag(w, "igbinary_unserialize_object_enum_case", &tag))
        return false;
    switch (kind_of(tag)) {
    case KIND_STRING: return walk_string(w, tags[tag].width, &name);
    case KIND_STRING_ID:
    case KIND_OBJECT_ID: return walk_string_id(w, tags[tag].width, &name);
    default: return fail(w, "igbinary_unserialize_string: unknown type '%02x', position %zu", tag, w->offset);
    }
}

/* Walks an object up to its properties. The values that __unserialize receives are an array. */
static bool
walk_object(walk *w, uint8_t tag)
{
    const zend_class_entry *ce;
    text name;
    if (kind_of(tag) == KIND_OBJECT ? !walk_string(w, tags[tag].width, &name)
                                    : !walk_string_id(w, tags[tag].width, &name))
        return false;
    ce = loaded_class(w, &name);
    if (!read_tag(w, "igbinary_unserialize_object", &tag))
        return false;
    w->value_count++;
    switch (kind_of(tag)) {
    case KIND_ARRAY: return open_container(w, tag, ce && ce->__unserialize);
    case KIND_PAYLOAD: return walk_payload(w, tags[tag].width, ce);
    case KIND_ENUM_CASE: return walk_enum_case(w, ce);
    default:
        return fail(w, "igbinary_unserialize_object: unknown object inner type '%02x', position %zu", tag, w->offset);
    }
}

/* ---- values ------------------------------------------------------------- */

static bool
walk_link(walk *w, uint8_t width)
{
    static const char function[] = "igbinary_unserialize_ref";
    uint64_t number;
    if (!read_number(w, width, function, &number))
        return false;
    if (number >= w->value_count)
        return fail(w, "%s: invalid reference %zu >= %zu", function, (size_t)number, w->value_count);
    return true;
}

static bool
walk_scalar(walk *w, uint8_t tag)
{
    uint64_t number;
    text found;
    switch (kind_of(tag)) {
    case KIND_NULL:
    case KIND_EMPTY: return true;
    case KIND_INTEGER: return walk_integer(w, tag);
    case KIND_FLOAT: return read_number(w, tags[tag].width, "igbinary_unserialize_double", &number);
    case KIND_STRING: return walk_string(w, tags[tag].width, &found);
    case KIND_STRING_ID: return walk_string_id(w, tags[tag].width, &found);
    default: return fail(w, "igbinary_unserialize_zval: unknown type '%02x', position %zu", tag, w->offset);
    }
}

/* Walks a value up to its entries. */
static bool
walk_value(walk *w)
{
    static const char function[] = "igbinary_unserialize_zval";
    bool is_by_reference = false;
    uint8_t tag;
    while (read_tag(w, function, &tag))
        switch (kind_of(tag)) {
        case KIND_BY_REFERENCE: is_by_reference = true; break;
        case KIND_ARRAY: w->value_count++; return open_container(w, tag, true);
        case KIND_OBJECT:
        case KIND_OBJECT_ID: return walk_object(w, tag);
        case KIND_LINK: return walk_link(w, tags[tag].width);
        default:
            w->value_count += is_by_reference;
            return walk_scalar(w, tag);
        }
    return false;
}

static bool
walk_document(walk *w)
{
    if (!walk_value(w))
        return false;
    while (w->depth) {
        container *inner = &w->containers[w->depth - 1];
        bool has_value;
        if (inner->remaining == 0) {
            w->depth--;
            continue;
        }
        inner->remaining--;
        if (!walk_key(w, inner->is_array, &has_value) || (has_value && !walk_value(w)))
            return false;
    }
    if (w->offset < w->len)
        return fail(w, "igbinary_unserialize: received more data to unserialize than expected");
    return true;
}

/* ---- the header --------------------------------------------------------- */

/* Quotes the first four bytes in the message. */
static bool
fail_with_text(walk *w)
{
    char shown[9], *end = shown;
    int i;
    for (i = 0; i < 4; i++) {
        if (w->bytes[i] == '"' || w->bytes[i] == '\\')
            *end++ = '\\';
        *end++ = (char)w->bytes[i];
    }
    *end = 0;
    return fail(w,
                "igbinary_unserialize_header: unsupported version: \"%s\"..., should begin with a binary version "
                "header of \"\\x00\\x00\\x00\\x01\" or \"\\x00\\x00\\x00\\x02\"",
                shown);
}

static bool
walk_header(walk *w)
{
    static const char function[] = "igbinary_unserialize_header";
    uint64_t version;
    int i;
    if (w->len < 5)
        return fail(w, "%s: expected at least 5 bytes of data, got %u byte(s)", function, (unsigned)w->len);
    read_number(w, 4, function, &version);
    if (version == 1 || version == 2)
        return true;
    for (i = 0; i < 4 && isprint(w->bytes[i]); i++)
        ;
    if (i == 4)
        return fail_with_text(w);
    return fail(w, "%s: unsupported version: %u, should be 1 or 2%s", function, (unsigned)version,
                version && (version & 0xff000000) == version ? " (wrong endianness?)" : "");
}

zend_string *
ice_igbinary_message(zend_string *bytes)
{
    walk w = { .bytes = (const unsigned char *)ZSTR_VAL(bytes), .len = ZSTR_LEN(bytes) };
    if (walk_header(&w))
        walk_document(&w);
    if (w.containers)
        efree(w.containers);
    if (w.strings)
        efree(w.strings);
    return w.message;
}
