/* Marshal data in the payloads of hooks.
 *
 * `_load` gets bytes, and some classes pass them to Ruby's own Marshal.load: Date, DRb,
 * Gem::Specification. Such bytes are read here first, and their classes are checked
 * against the list of the call. Ruby's own reader builds them, so records and renamed
 * classes do not exist there. Payloads inside of them are checked in the same way. */
#include "core/nested.h"
#include "core/documents.h"
#include "core/policy.h"

/* Limit for the nesting of payloads in payloads. */
#define MOST_LEVELS 16

/* Whether Marshal.load would read these bytes beyond their version. All living Rubies
 * write 4.8. Smaller versions are read too; if such data has no valid type, reading ends
 * at once, so the bytes are in a format of the class's own. */
static bool
is_marshal(const char *bytes, size_t len)
{
    static const char types[] = "0TFi:;@IeclfumM\"/[{}SoUdC";
    if (len < 2 || bytes[0] != 4 || (unsigned char)bytes[1] > 8)
        return false;
    return bytes[1] == 8 || (len > 2 && bytes[2] && strchr(types, bytes[2]));
}

/* Finds the bytes that a hook gets as a whole; false: it gets something else.
 * `is_linked`: other hooks may get the same bytes. */
static bool
payload_of(const icecore_view *view, const icecore_node *node, const char **bytes, size_t *len, bool *is_linked)
{
    const icecore_node *data = node + 1;
    size_t steps = 0;
    *is_linked = false;
    if (data >= view->nodes + view->node_count)
        return false;
    /* Skips variables and classes around it, and links in the case of marshal_load and
     * _load_data. */
    while (data->kind == ICECORE_ATTRS || data->kind == ICECORE_LINK || data->kind == ICECORE_COPY) {
        *is_linked |= data->kind != ICECORE_ATTRS;
        data = data->kind == ICECORE_ATTRS ? data + 1 : &view->nodes[(uint32_t)data->payload];
        if (++steps > view->node_count)
            return false;
    }
    if (data->kind != ICECORE_BYTES && data->kind != ICECORE_TEXT && data->kind != ICECORE_ENCODED)
        return false;
    *bytes = ice_bytes_of(view, data, len);
    return true;
}

static bool
is_date(uint8_t own)
{
    return own == ICE_DATE_OF;
}

/* ---- the fields of a date ------------------------------------------------------------ */

bool
ice_has_date_fields(const icecore_view *view)
{
    const icecore_node *node = view->nodes + view->root, *end = view->nodes + view->node_count;
    if (node->kind != ICECORE_ARRAY)
        return false;
    for (node++; node < end; node++) {
        const char *name;
        size_t len;
        uint8_t own;
        switch (node->kind) {
        case ICECORE_NULL:
        case ICECORE_BOOL:
        case ICECORE_INT:
        case ICECORE_UINT:
        case ICECORE_BIGINT:
        case ICECORE_FLOAT:
        case ICECORE_LINK:
        case ICECORE_COPY:
        case ICECORE_ARRAY:
            break;
        case ICECORE_OBJECT:
        case ICECORE_OPAQUE:
            name = ice_asked_name(view, node, &len);
            own = ice_own_class(node, name, len);
            if (own != ICE_RATIONAL_OF)
                return false;
            node += node->kind == ICECORE_OBJECT; /* the map of its variables */
            break;
        case ICECORE_SYMBOL: /* a key of an old Rational */
            if (node->key == ICECORE_IS_KEY)
                break;
            return false;
        default:
            return false;
        }
    }
    return true;
}

/* ---- nested documents ------------------------------------------------------------ */

typedef struct {
    ice_nested_check *check;
    ice_allowed allowed; /* as Ruby's own reader would check: without renaming */
    const char *bytes;
    size_t len;
    bool is_date; /* the argument of Date._load */
    uint32_t level;
    ice_context *ctx;
    uint32_t call;
} nested_reading;

static VALUE
path_of(ice_nested_check *check)
{
    const icecore_view *view = &check->ctx->view;
    char path[512];
    icecore_path(check->ctx->warm.engine, view->input, view->input_len, check->node, path, sizeof path);
    return rb_utf8_str_new_cstr(path);
}

/* Whether a payload that a link leads to was checked already: many hooks may get the
 * same one. It is identified by its place in the input, which never moves; other memory
 * may. */
static bool
was_checked(ice_nested_check *check, const char *bytes)
{
    const icecore_view *view = &check->ctx->view;
    const char *input = (const char *)view->input;
    VALUE place;
    if (bytes < input || bytes >= input + view->input_len)
        return false;
    place = ULL2NUM((unsigned long long)(bytes - input));
    if (NIL_P(check->linked))
        check->linked = rb_hash_new();
    if (RTEST(rb_hash_lookup(check->linked, place)))
        return true;
    rb_hash_aset(check->linked, place, Qtrue);
    return false;
}

static void check_document(nested_reading *outer, const char *bytes, size_t len, bool is_date);

/* Keeps the first fault; it is raised if no class is refused. */
static void
note_fault(ice_nested_check *check, VALUE words)
{
    if (NIL_P(check->fault)) {
        check->fault = words;
        check->fault_path = path_of(check);
    }
}

static void
ask_class(nested_reading *reading, const icecore_node *node, const char *name, size_t len)
{
    ice_nested_check *check = reading->check;
    ice_class *class = node->kind >= ICECORE_OBJECT && node->kind <= ICECORE_ATTRS && ICE_CLASS_OF(node)
                           ? ice_class_slot(reading->ctx, ICE_CLASS_OF(node))
                           : NULL;
    uint32_t verdict;
    VALUE text, path;
    if (class && class->call == reading->call && class->verdict == ICECORE_ALLOWED)
        return;
    verdict = ice_verdict_of(&reading->allowed, name, len);
    if (class) {
        class->call = reading->call;
        class->verdict = verdict & ~(uint32_t)ICECORE_REPORTED;
        class->edition = 0;
    }
    if ((verdict & ~(uint32_t)ICECORE_REPORTED) == ICECORE_ALLOWED) {
        if (verdict & ICECORE_REPORTED)
            ice_policy_report(check->said, ICECORE_WORDS_BUILT, rb_utf8_str_new(name, len), "");
        return;
    }
    text = rb_utf8_str_new(name, len);
    if (NIL_P(*check->refused))
        *check->refused = rb_hash_new();
    if (!NIL_P(rb_hash_lookup(*check->refused, text)))
        return;
    path = path_of(check);
    rb_hash_aset(*check->refused, text, path);
    if (reading->is_date || ice_is_own_form(node, name, len))
        ice_policy_refuse_always(&check->without_remedy, text);
    if (verdict & ICECORE_REPORTED)
        ice_policy_report(check->said, ICECORE_WORDS_REFUSED, text, StringValueCStr(path));
}

static void
check_nodes(nested_reading *reading)
{
    const icecore_view *view = &reading->ctx->view;
    const icecore_node *node = view->nodes, *end = node + view->node_count;
    for (; node < end; node++) {
        const char *name, *bytes;
        size_t len, count;
        uint8_t own;
        bool is_linked;
        if (!ice_names_class(node) || !(name = ice_asked_name(view, node, &len)))
            continue;
        own = node->kind == ICECORE_ATTRS ? ICE_UNKNOWN : ice_own_class(node, name, len);
        if (own == ICE_UNKNOWN)
            ask_class(reading, node, name, len);
        else if (!is_date(own) || ICE_FORM_OF(node) != ICECORE_FORM_USER_DUMP)
            continue;
        if (node->kind == ICECORE_OPAQUE && payload_of(view, node, &bytes, &count, &is_linked) &&
            (is_date(own) || is_marshal(bytes, count)) && !(is_linked && was_checked(reading->check, bytes)))
            check_document(reading, bytes, count, is_date(own));
    }
}

static VALUE
read_nested(VALUE argument)
{
    nested_reading *reading = (nested_reading *)argument;
    const char *bytes = reading->bytes;
    size_t len = reading->len;
    ice_context *ctx = reading->ctx = ice_checkout();
    reading->call = ctx->call;
    /* A class may read one document after another. */
    do {
        icecore_error error;
        if (icecore_read(ctx->warm.engine, ice_marshal_stage(), (const uint8_t *)bytes, len, ICECORE_EACH, &ctx->view,
                         &error)) {
            ice_line line;
            note_fault(reading->check, rb_utf8_str_new_cstr(ice_message(&error, NULL, 0, &line)));
            return Qnil;
        }
        if (!ctx->view.is_simple)
            check_nodes(reading);
        if (reading->is_date && !ice_has_date_fields(&ctx->view))
            note_fault(reading->check, rb_utf8_str_new_cstr("a date is an array of numbers"));
        if (ctx->view.consumed == 0 || ctx->view.consumed > len)
            break;
        bytes += ctx->view.consumed;
        len -= ctx->view.consumed;
    } while (!reading->is_date && is_marshal(bytes, len));
    return Qnil;
}

static VALUE
end_nested(VALUE argument)
{
    nested_reading *reading = (nested_reading *)argument;
    if (reading->ctx)
        ice_checkin(reading->ctx, reading->call);
    return Qnil;
}

static void
check_document(nested_reading *outer, const char *bytes, size_t len, bool is_date)
{
    nested_reading inner = { .check = outer->check, .allowed = outer->allowed, .bytes = bytes, .len = len, .is_date = is_date,
                             .level = outer->level + 1 };
    if (inner.level > MOST_LEVELS)
        note_fault(outer->check, rb_utf8_str_new_cstr("its data is nested too deep"));
    else
        rb_ensure(read_nested, (VALUE)&inner, end_nested, (VALUE)&inner);
}

void
ice_nested_check_node(ice_nested_check *check, ice_context *ctx, const ice_allowed *allowed, const icecore_node *node,
                      uint8_t own)
{
    const icecore_view *view = &ctx->view;
    const bool is_dump_of_date = is_date(own) && ICE_FORM_OF(node) == ICECORE_FORM_USER_DUMP;
    nested_reading outer = { .check = check, .allowed = *allowed };
    const char *bytes;
    size_t len;
    bool is_linked;
    if ((own != ICE_UNKNOWN && !is_dump_of_date) || !payload_of(view, node, &bytes, &len, &is_linked))
        return;
    if ((!is_dump_of_date && !is_marshal(bytes, len)) || (is_linked && was_checked(check, bytes)))
        return;
    outer.allowed.rename = NULL;
    outer.allowed.is_foreign = false;
    check->node = (uint32_t)(node + 1 - view->nodes);
    check_document(&outer, bytes, len, is_dump_of_date);
}

void
ice_nested_raise(const ice_nested_check *check)
{
    if (!NIL_P(check->fault))
        ice_raise(ice_argument_error, "malformed", StringValueCStr(((ice_nested_check *)check)->fault_path),
                  "dump format error: what the hook gets at %" PRIsVALUE " is a dump that can't be read: %" PRIsVALUE,
                  check->fault_path, check->fault);
}
