/* Finds the class that a node names, and whether it is one of Ruby's own. */
#include "core/policy.h"

/* Returns true if two names are equal. */
static bool
is_named(const char *name, size_t len, const char *other)
{
    return strlen(other) == len && memcmp(name, other, len) == 0;
}

static bool
is_date(const char *name, size_t len)
{
    return is_named(name, len, "Date") || is_named(name, len, "DateTime");
}

/* The forms include those of Ruby 1.8: it wrote a Rational and a Complex as objects, and a Date by
 * `_dump`. */
uint8_t
ice_builtin_class_kind(const icecore_node *node, const char *name, size_t len)
{
    const uint8_t form = ICE_FORM_OF(node);
    if (node->kind == ICECORE_OBJECT && form == ICECORE_FORM_USUAL)
        return is_named(name, len, "Range")      ? ICE_CLASS_RANGE
               : is_named(name, len, "Set")      ? ICE_CLASS_SET
               : is_named(name, len, "Rational") ? ICE_CLASS_RATIONAL
               : is_named(name, len, "Complex")  ? ICE_CLASS_COMPLEX
                                                 : ICE_CLASS_UNKNOWN;
    if (node->kind != ICECORE_OPAQUE)
        return ICE_CLASS_UNKNOWN;
    if (form == ICECORE_FORM_USER_DUMP)
        return is_named(name, len, "Time")         ? ICE_CLASS_TIME
               : is_named(name, len, "BigDecimal") ? ICE_CLASS_DECIMAL
               : is_date(name, len)                ? ICE_CLASS_DATE
                                                   : ICE_CLASS_UNKNOWN;
    if (form == ICECORE_FORM_USER_MARSHAL)
        return is_date(name, len)                ? ICE_CLASS_DATE
               : is_named(name, len, "Rational") ? ICE_CLASS_RATIONAL
               : is_named(name, len, "Complex")  ? ICE_CLASS_COMPLEX
                                                 : ICE_CLASS_UNKNOWN;
    return ICE_CLASS_UNKNOWN;
}

bool
ice_names_builtin_class(const icecore_node *node, const char *name, size_t len)
{
    static const char *const names[] = {
        "Range", "Set", "Rational", "Complex", "Time", "BigDecimal", "Date", "DateTime"
    };
    size_t i;
    if (node->kind != ICECORE_OBJECT && node->kind != ICECORE_OPAQUE)
        return false;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(name, len, names[i]))
            return true;
    return false;
}

const char *
ice_node_class_name(const icecore_view *view, const icecore_node *node, size_t *len)
{
    const char *text;
    switch (node->kind) {
    case ICECORE_REGEXP:
        *len = 6;
        return "Regexp";
    case ICECORE_MODULE:
        return ice_bytes_of(view, node, len);
    case ICECORE_ATTRS:
        if (!ICE_CLASS_OF(node))
            return NULL;
        /* fall through */
    default: {
        const icecore_name *name = ice_name(&view->classes, ICE_CLASS_OF(node), &text);
        *len = name ? name->node.aux : 0;
        return name ? text : "";
    }
    }
}
