/* Marshal data in the payloads of hooks.
 *
 * `_load` gets bytes. Some classes, such as Date, DRb's and Gem::Specification, pass these bytes
 * to Ruby's own Marshal.load, which builds each class that they name. So the bytes are read here
 * first, and their classes are checked against the list of the call. The values are built by
 * Ruby's own reader afterwards, so they can have neither records nor renamed classes. Payloads
 * inside of payloads are checked in the same way. */
#include "core/nested.h"
#include "core/documents.h"
#include "core/policy.h"

/* Limit of the depth of payloads in payloads. */
#define MAX_LEVELS 16

/* Returns true if Marshal.load may accept these bytes as a dump. Current Rubies write version 4.8,
 * and such bytes are always a dump. Marshal.load also reads smaller versions, but it fails at
 * once if no valid type byte follows. In that case the bytes are in a format of the class's own. */
static bool
is_marshal(const char *bytes, size_t len)
{
    static const char types[] = "0TFi:;@IeclfumM\"/[{}SoUdC";
    if (len < 2 || bytes[0] != 4 || (unsigned char)bytes[1] > 8)
        return false;
    return bytes[1] == 8 || (len > 2 && bytes[2] && strchr(types, bytes[2]));
}

/* Finds the bytes of a hook's argument; returns false if the argument is not a string.
 * `is_linked` receives true if other hooks may get the same bytes. */
static bool
find_payload(const icecore_view *view, const icecore_node *node, const char **bytes, size_t *len, bool *is_linked)
{
    const icecore_node *data = node + 1;
    size_t steps = 0;
    *is_linked = false;
    if (data >= view->nodes + view->node_count)
        return false;
    /* Skips variables and classes around the string. The arguments of marshal_load and
     * _load_data may also be links. */
    while (data->kind == ICECORE_ATTRS || data->kind == ICECORE_LINK || data->kind == ICECORE_COPY) {
        *is_linked |= data->kind != ICECORE_ATTRS;
        data = data->kind == ICECORE_ATTRS ? data + 1 : &view->nodes[(uint32_t)data->payload];
        /* If there are more steps than nodes, the links form a cycle. */
        if (++steps > view->node_count)
            return false;
    }
    if (data->kind != ICECORE_BYTES && data->kind != ICECORE_TEXT && data->kind != ICECORE_ENCODED)
        return false;
    *bytes = ice_bytes_of(view, data, len);
    return true;
}

/* Returns true for the kind of Date and DateTime. */
static bool
is_date(uint8_t builtin_kind)
{
    return builtin_kind == ICE_CLASS_DATE;
}

/* ---- the fields of a date ------------------------------------------------------------ */

/* An old Rational is an object with two variables: its map and its keys are nodes too. */
bool
ice_has_date_fields(const icecore_view *view)
{
    const icecore_node *node = view->nodes + view->root, *end = view->nodes + view->node_count;
    if (node->kind != ICECORE_ARRAY)
        return false;
    for (node++; node < end; node++) {
        const char *name;
        size_t len;
        uint8_t builtin_kind;
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
            name = ice_node_class_name(view, node, &len);
            builtin_kind = ice_builtin_class_kind(node, name, len);
            if (builtin_kind != ICE_CLASS_RATIONAL)
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

/* A payload that is being checked. */
typedef struct {
    ice_nested_check *check;
    ice_class_rules rules; /* without renaming, because Ruby's own reader renames nothing */
    const char *bytes;
    size_t len;
    bool is_date; /* the bytes are the argument of Date._load */
    uint32_t level;   /* number of payloads around it, and this one */
    ice_context *ctx; /* the context that reads it; NULL before */
    uint32_t call;    /* the call of that context */
} nested_reading;

/* Returns the path of the payload in the outermost document. */
static VALUE
payload_path(ice_nested_check *check)
{
    const icecore_view *view = &check->ctx->view;
    char path[512];
    icecore_path(check->ctx->pooled.engine, view->input, view->input_len, check->node, path, sizeof path);
    return rb_utf8_str_new_cstr(path);
}

/* Returns true if a payload that a link leads to was already checked. Many hooks may get the same
 * payload, and it is checked only once. A payload is identified by its offset in the input. The
 * address of a payload in other memory may change, so such a payload is always checked again. */
static bool
was_already_checked(ice_nested_check *check, const char *bytes)
{
    const icecore_view *view = &check->ctx->view;
    const char *input = (const char *)view->input;
    VALUE offset;
    if (bytes < input || bytes >= input + view->input_len)
        return false;
    offset = ULL2NUM((unsigned long long)(bytes - input));
    if (NIL_P(check->checked_offsets))
        check->checked_offsets = rb_hash_new();
    if (RTEST(rb_hash_lookup(check->checked_offsets, offset)))
        return true;
    rb_hash_aset(check->checked_offsets, offset, Qtrue);
    return false;
}

static void check_document(nested_reading *outer, const char *bytes, size_t len, bool is_date);

/* Keeps the first fault. It is raised after the check of all classes, unless one is refused. */
static void
add_fault(ice_nested_check *check, VALUE message)
{
    if (NIL_P(check->fault)) {
        check->fault = message;
        check->fault_path = payload_path(check);
    }
}

/* Checks the class that a node of a payload names. */
static void
check_class(nested_reading *reading, const icecore_node *node, const char *name, size_t len)
{
    ice_nested_check *check = reading->check;
    ice_class *class = node->kind >= ICECORE_OBJECT && node->kind <= ICECORE_ATTRS && ICE_CLASS_OF(node)
                           ? ice_class_entry(reading->ctx, ICE_CLASS_OF(node))
                           : NULL;
    uint32_t verdict;
    VALUE text, path;
    if (class && class->verdict_call == reading->call && class->verdict == ICECORE_ALLOWED)
        return;
    verdict = ice_verdict_of(&reading->rules, name, len);
    if (class) {
        class->verdict_call = reading->call;
        class->verdict = ice_without_report(verdict);
        class->rules_edition = 0;
    }
    if (ice_without_report(verdict) == ICECORE_ALLOWED) {
        if (verdict & ICECORE_REPORTED)
            ice_policy_add_warning(check->warnings, ICECORE_WORDS_BUILT, rb_utf8_str_new(name, len), "");
        return;
    }
    text = rb_utf8_str_new(name, len);
    if (NIL_P(*check->refused))
        *check->refused = rb_hash_new();
    if (!NIL_P(rb_hash_lookup(*check->refused, text)))
        return;
    path = payload_path(check);
    rb_hash_aset(*check->refused, text, path);
    if (reading->is_date || ice_names_builtin_class(node, name, len))
        ice_policy_add_unlistable(&check->unlistable, text);
    if (verdict & ICECORE_REPORTED)
        ice_policy_add_warning(check->warnings, ICECORE_WORDS_REFUSED, text, StringValueCStr(path));
}

/* Checks all classes of a payload, and the payloads in it. */
static void
check_nodes(nested_reading *reading)
{
    const icecore_view *view = &reading->ctx->view;
    const icecore_node *node = view->nodes, *end = node + view->node_count;
    for (; node < end; node++) {
        const char *name, *bytes;
        size_t len, count;
        uint8_t builtin_kind;
        bool is_linked;
        if (!ice_node_names_class(node) || !(name = ice_node_class_name(view, node, &len)))
            continue;
        builtin_kind = node->kind == ICECORE_ATTRS ? ICE_CLASS_UNKNOWN : ice_builtin_class_kind(node, name, len);
        if (builtin_kind == ICE_CLASS_UNKNOWN)
            check_class(reading, node, name, len);
        else if (!is_date(builtin_kind) || ICE_FORM_OF(node) != ICECORE_FORM_USER_DUMP)
            continue;
        if (node->kind == ICECORE_OPAQUE && find_payload(view, node, &bytes, &count, &is_linked) &&
            (is_date(builtin_kind) || is_marshal(bytes, count)) &&
            !(is_linked && was_already_checked(reading->check, bytes)))
            check_document(reading, bytes, count, is_date(builtin_kind));
    }
}

/* For rb_ensure: reads the documents in a payload, and checks their classes. */
static VALUE
read_nested(VALUE argument)
{
    nested_reading *reading = (nested_reading *)argument;
    const char *bytes = reading->bytes;
    size_t len = reading->len;
    ice_context *ctx = reading->ctx = ice_context_acquire();
    reading->call = ctx->call;
    /* The payload may contain several documents, which a class reads one after another. */
    do {
        icecore_error error;
        if (icecore_read(ctx->pooled.engine, ice_marshal_stage(), (const uint8_t *)bytes, len, ICECORE_EACH,
                         &ctx->view, &error)) {
            ice_line line;
            add_fault(reading->check, rb_utf8_str_new_cstr(ice_message(&error, NULL, 0, &line)));
            return Qnil;
        }
        if (!ctx->view.is_simple)
            check_nodes(reading);
        if (reading->is_date && !ice_has_date_fields(&ctx->view))
            add_fault(reading->check, rb_utf8_str_new_cstr("a date is an array of numbers"));
        if (ctx->view.consumed == 0 || ctx->view.consumed > len)
            break;
        bytes += ctx->view.consumed;
        len -= ctx->view.consumed;
    } while (!reading->is_date && is_marshal(bytes, len));
    return Qnil;
}

/* For rb_ensure: releases the context. */
static VALUE
end_nested(VALUE argument)
{
    nested_reading *reading = (nested_reading *)argument;
    if (reading->ctx)
        ice_context_release(reading->ctx, reading->call);
    return Qnil;
}

/* Checks the payload of a hook inside of `outer`. */
static void
check_document(nested_reading *outer, const char *bytes, size_t len, bool is_date)
{
    nested_reading inner = { .check = outer->check, .rules = outer->rules, .bytes = bytes, .len = len,
                             .is_date = is_date, .level = outer->level + 1 };
    if (inner.level > MAX_LEVELS)
        add_fault(outer->check, rb_utf8_str_new_cstr("its data is nested too deep"));
    else
        rb_ensure(read_nested, (VALUE)&inner, end_nested, (VALUE)&inner);
}

void
ice_nested_check_node(ice_nested_check *check, ice_context *ctx, const ice_class_rules *rules,
                      const icecore_node *node, uint8_t builtin_kind)
{
    const icecore_view *view = &ctx->view;
    const bool is_dump_of_date = is_date(builtin_kind) && ICE_FORM_OF(node) == ICECORE_FORM_USER_DUMP;
    nested_reading outer = { .check = check, .rules = *rules };
    const char *bytes;
    size_t len;
    bool is_linked;
    if ((builtin_kind != ICE_CLASS_UNKNOWN && !is_dump_of_date) ||
        !find_payload(view, node, &bytes, &len, &is_linked))
        return;
    if ((!is_dump_of_date && !is_marshal(bytes, len)) || (is_linked && was_already_checked(check, bytes)))
        return;
    outer.rules.rename = NULL;
    outer.rules.is_foreign = false;
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
