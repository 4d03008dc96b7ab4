/* Which classes of a document may be built: each is checked once, and refused ones are
 * reported with their paths and with the option that would allow them. */
#include "core/policy.h"
#include "core/nested.h"

/* ---- all classes of a document ---------------------------------------------------------- */

/* Checks each class once; `refused` receives the classes that are not allowed, with
 * their paths, `said` the warnings, `nested` the results for the payloads of hooks.
 * Returns whether there are classes other than Ruby's own. */
static bool
each_class(ice_context *ctx, const ice_allowed *allowed, VALUE *refused, VALUE *said, ice_nested_check *nested)
{
    const icecore_view *view = &ctx->view;
    const icecore_node *node = view->nodes, *end = node + view->node_count;
    const uint64_t edition = ice_edition_of(allowed);
    bool has_foreign = false;
    for (; node < end; node++) {
        const char *name;
        size_t len;
        uint32_t verdict;
        ice_class *class = NULL;
        VALUE text;
        if (ICE_LIKELY(!ice_names_class(node)))
            continue;
        if (node->kind >= ICECORE_OBJECT && node->kind <= ICECORE_ATTRS && ICE_CLASS_OF(node)) {
            class = ice_class_slot(ctx, ICE_CLASS_OF(node));
            if (ICE_LIKELY(class->call == ctx->call && class->verdict == ICECORE_ALLOWED && !class->is_own)) {
                if (node->kind == ICECORE_OPAQUE)
                    ice_nested_check_node(nested, ctx, allowed, node, ICE_UNKNOWN);
                continue;
            }
        }
        name = ice_asked_name(view, node, &len);
        if (!name)
            continue;
        if (class && node->kind != ICECORE_ATTRS) {
            const uint8_t own = ice_own_class(node, name, len);
            if (own != ICE_UNKNOWN) {
                if (!class->is_own || class->own != own)
                    class->klass = 0;
                class->own = own;
                class->is_own = true;
                class->call = ctx->call;
                class->verdict = ICECORE_ALLOWED;
                if (node->kind == ICECORE_OPAQUE)
                    ice_nested_check_node(nested, ctx, allowed, node, own);
                continue;
            }
        }
        if (class && edition && class->edition == edition && !class->is_own)
            verdict = ICECORE_ALLOWED;
        else {
            verdict = ice_verdict_of(allowed, name, len);
            if (class) /* reported classes are asked again each time */
                class->edition = verdict == ICECORE_ALLOWED ? edition : 0;
        }
        if (verdict & ICECORE_REPORTED && (verdict & ~(uint32_t)ICECORE_REPORTED) == ICECORE_ALLOWED)
            ice_policy_report(said, ICECORE_WORDS_BUILT, rb_utf8_str_new(name, len), "");
        if (class) {
            class->call = ctx->call;
            class->verdict = verdict & ~(uint32_t)ICECORE_REPORTED;
            if (class->is_own) {
                class->is_own = false;
                class->klass = 0;
                class->how = ICE_UNKNOWN;
            }
        }
        has_foreign = true;
        if (node->kind == ICECORE_OPAQUE && (verdict & ~(uint32_t)ICECORE_REPORTED) == ICECORE_ALLOWED)
            ice_nested_check_node(nested, ctx, allowed, node, ICE_UNKNOWN);
        if ((verdict & ~(uint32_t)ICECORE_REPORTED) != ICECORE_REFUSED)
            continue;
        text = rb_utf8_str_new(name, len);
        if (NIL_P(*refused))
            *refused = rb_hash_new();
        if (NIL_P(rb_hash_lookup(*refused, text))) {
            char path[512];
            icecore_path(ctx->warm.engine, view->input, view->input_len, (uint32_t)(node - view->nodes), path,
                         sizeof path);
            rb_hash_aset(*refused, text, rb_utf8_str_new_cstr(path));
            if (ice_is_own_form(node, name, len))
                ice_policy_refuse_always(&nested->without_remedy, text);
            if (verdict & ICECORE_REPORTED)
                ice_policy_report(said, ICECORE_WORDS_REFUSED, text, path);
        }
    }
    return has_foreign;
}

bool
ice_policy_check(ice_context *ctx, const ice_allowed *allowed, VALUE *said)
{
    VALUE refused = Qnil;
    ice_nested_check nested = { &refused, said, Qnil, Qnil, Qnil, Qnil, ctx, 0 };
    const bool has_foreign = each_class(ctx, allowed, &refused, said, &nested);
    if (!NIL_P(refused))
        ice_policy_raise(refused, *said, nested.without_remedy);
    ice_nested_raise(&nested);
    return has_foreign;
}

VALUE
ice_policy_refused(ice_context *ctx, const ice_allowed *allowed)
{
    VALUE refused = Qnil, said = Qnil;
    ice_nested_check nested = { &refused, &said, Qnil, Qnil, Qnil, Qnil, ctx, 0 };
    each_class(ctx, allowed, &refused, &said, &nested);
    ice_policy_say(said);
    return NIL_P(refused) ? rb_hash_new() : refused;
}

typedef struct {
    const ice_allowed *allowed;
    VALUE refused, said;
} name_check;

static int
check_name(VALUE name, VALUE path, VALUE to)
{
    name_check *check = (name_check *)to;
    const uint32_t verdict = ice_verdict_of(check->allowed, RSTRING_PTR(name), RSTRING_LEN(name));
    if (verdict == (ICECORE_ALLOWED | ICECORE_REPORTED))
        ice_policy_report(&check->said, ICECORE_WORDS_BUILT, name, "");
    if ((verdict & ~(uint32_t)ICECORE_REPORTED) != ICECORE_REFUSED)
        return ST_CONTINUE;
    rb_hash_aset(check->refused, name, path);
    if (verdict & ICECORE_REPORTED)
        ice_policy_report(&check->said, ICECORE_WORDS_REFUSED, name, StringValueCStr(path));
    return ST_CONTINUE;
}

VALUE
ice_policy_refused_names(const ice_allowed *allowed, VALUE names)
{
    name_check check = { allowed, rb_hash_new(), Qnil };
    rb_hash_foreach(names, check_name, (VALUE)&check);
    ice_policy_say(check.said);
    return check.refused;
}

void
ice_policy_check_names(const ice_allowed *allowed, VALUE names)
{
    VALUE refused = ice_policy_refused_names(allowed, names);
    if (RHASH_SIZE(refused))
        ice_policy_raise(refused, Qnil, Qnil);
}
