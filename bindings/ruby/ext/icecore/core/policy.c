/* Decides which classes of a document may be built. Each class is checked once. Refused classes
 * are reported with their paths, and with the option that would allow them. */
#include "core/policy.h"
#include "core/nested.h"

/* ---- all classes of a document ---------------------------------------------------------- */

/* Checks each class once. `refused` receives a Hash from the names of refused classes to
 * their paths, `warnings` the warnings, `nested` the results for the payloads of hooks.
 * Returns true if there are classes other than Ruby's own. */
static bool
check_classes(ice_context *ctx, const ice_class_rules *rules, VALUE *refused, VALUE *warnings,
              ice_nested_check *nested)
{
    const icecore_view *view = &ctx->view;
    const icecore_node *node = view->nodes, *end = node + view->node_count;
    const uint64_t edition = ice_rules_edition(rules);
    bool may_run_foreign_code = false;
    for (; node < end; node++) {
        const char *name;
        size_t len;
        uint32_t verdict;
        ice_class *class = NULL;
        VALUE text;
        if (ICE_LIKELY(!ice_node_names_class(node)))
            continue;
        if (node->kind >= ICECORE_OBJECT && node->kind <= ICECORE_ATTRS && ICE_CLASS_OF(node)) {
            class = ice_class_entry(ctx, ICE_CLASS_OF(node));
            if (ICE_LIKELY(class->verdict_call == ctx->call && class->verdict == ICECORE_ALLOWED &&
                           !class->is_builtin)) {
                if (node->kind == ICECORE_OPAQUE)
                    ice_nested_check_node(nested, ctx, rules, node, ICE_CLASS_UNKNOWN);
                continue;
            }
        }
        name = ice_node_class_name(view, node, &len);
        if (!name)
            continue;
        if (class && node->kind != ICECORE_ATTRS) {
            const uint8_t builtin_kind = ice_builtin_class_kind(node, name, len);
            if (builtin_kind != ICE_CLASS_UNKNOWN) {
                /* The entry has the class of another form of this name: it is looked up again. */
                if (!class->is_builtin || class->builtin_kind != builtin_kind)
                    class->klass = 0;
                class->builtin_kind = builtin_kind;
                class->is_builtin = true;
                class->verdict_call = ctx->call;
                class->verdict = ICECORE_ALLOWED;
                if (node->kind == ICECORE_OPAQUE)
                    ice_nested_check_node(nested, ctx, rules, node, builtin_kind);
                continue;
            }
        }
        if (class && edition && class->rules_edition == edition && !class->is_builtin)
            verdict = ICECORE_ALLOWED;
        else {
            verdict = ice_verdict_of(rules, name, len);
            if (class) /* a verdict with ICECORE_REPORTED is not reused: each call must warn */
                class->rules_edition = verdict == ICECORE_ALLOWED ? edition : 0;
        }
        if (verdict & ICECORE_REPORTED && ice_without_report(verdict) == ICECORE_ALLOWED)
            ice_policy_add_warning(warnings, ICECORE_WORDS_BUILT, rb_utf8_str_new(name, len), "");
        if (class) {
            class->verdict_call = ctx->call;
            class->verdict = ice_without_report(verdict);
            if (class->is_builtin) {
                class->is_builtin = false;
                class->klass = 0;
                class->kind = ICE_CLASS_UNKNOWN;
            }
        }
        may_run_foreign_code = true;
        if (node->kind == ICECORE_OPAQUE && ice_without_report(verdict) == ICECORE_ALLOWED)
            ice_nested_check_node(nested, ctx, rules, node, ICE_CLASS_UNKNOWN);
        if (ice_without_report(verdict) != ICECORE_REFUSED)
            continue;
        text = rb_utf8_str_new(name, len);
        if (NIL_P(*refused))
            *refused = rb_hash_new();
        if (NIL_P(rb_hash_lookup(*refused, text))) {
            char path[512];
            icecore_path(ctx->pooled.engine, view->input, view->input_len, (uint32_t)(node - view->nodes), path,
                         sizeof path);
            rb_hash_aset(*refused, text, rb_utf8_str_new_cstr(path));
            if (ice_names_builtin_class(node, name, len))
                ice_policy_add_unlistable(&nested->unlistable, text);
            if (verdict & ICECORE_REPORTED)
                ice_policy_add_warning(warnings, ICECORE_WORDS_REFUSED, text, path);
        }
    }
    return may_run_foreign_code;
}

bool
ice_policy_check(ice_context *ctx, const ice_class_rules *rules, VALUE *warnings)
{
    VALUE refused = Qnil;
    ice_nested_check nested = { &refused, warnings, Qnil, Qnil, Qnil, Qnil, ctx, 0 };
    const bool may_run_foreign_code = check_classes(ctx, rules, &refused, warnings, &nested);
    if (!NIL_P(refused))
        ice_policy_raise(refused, *warnings, nested.unlistable);
    ice_nested_raise(&nested);
    return may_run_foreign_code;
}

VALUE
ice_policy_refused(ice_context *ctx, const ice_class_rules *rules)
{
    VALUE refused = Qnil, warnings = Qnil;
    ice_nested_check nested = { &refused, &warnings, Qnil, Qnil, Qnil, Qnil, ctx, 0 };
    check_classes(ctx, rules, &refused, &warnings, &nested);
    ice_policy_issue_warnings(warnings);
    return NIL_P(refused) ? rb_hash_new() : refused;
}

typedef struct {
    const ice_class_rules *rules;
    VALUE refused, warnings;
} name_check;

/* For rb_hash_foreach: checks the class with this name. */
static int
check_name(VALUE name, VALUE path, VALUE data)
{
    name_check *check = (name_check *)data;
    const uint32_t verdict = ice_verdict_of(check->rules, RSTRING_PTR(name), RSTRING_LEN(name));
    if (verdict == (ICECORE_ALLOWED | ICECORE_REPORTED))
        ice_policy_add_warning(&check->warnings, ICECORE_WORDS_BUILT, name, "");
    if (ice_without_report(verdict) != ICECORE_REFUSED)
        return ST_CONTINUE;
    rb_hash_aset(check->refused, name, path);
    if (verdict & ICECORE_REPORTED)
        ice_policy_add_warning(&check->warnings, ICECORE_WORDS_REFUSED, name, StringValueCStr(path));
    return ST_CONTINUE;
}

VALUE
ice_policy_refused_names(const ice_class_rules *rules, VALUE names)
{
    name_check check = { rules, rb_hash_new(), Qnil };
    rb_hash_foreach(names, check_name, (VALUE)&check);
    ice_policy_issue_warnings(check.warnings);
    return check.refused;
}

void
ice_policy_check_names(const ice_class_rules *rules, VALUE names)
{
    VALUE refused = ice_policy_refused_names(rules, names);
    if (RHASH_SIZE(refused))
        ice_policy_raise(refused, Qnil, Qnil);
}
