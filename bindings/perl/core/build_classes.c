/* Checks the classes of a document against the lists of allowed classes, before anything is
 * built. */
#include "core/build.h"
#include "core/class_lists.h"
#include "core/payloads.h"

/* Returns the name of the class of an object node; `text` receives its bytes. Dies if the
 * node has no class. */
const icecore_name *
ib_class_name(pTHX_ ib_build *b, const icecore_node *node, const char **text)
{
    const icecore_name *name = ice_name(&b->v->classes, ICE_CLASS_OF(node), text);
    if (!name)
        croak("Icecore: an object without a class");
    return name;
}

/* Returns the name of a class as a new string. */
SV *
ib_class_sv(pTHX_ const icecore_name *name, const char *text)
{
    const U32 len = name->node.aux;
    return newSVpvn_utf8(text, len, name->node.kind == ICECORE_TEXT && ice_is_utf8((const U8 *)text, len));
}

/* Returns the stash of the class of an object node; creates it if it does not exist. */
HV *
ib_stash_of(pTHX_ ib_build *b, const icecore_node *node)
{
    const char *text;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &text);
    bool is_utf8 = name->node.kind == ICECORE_TEXT;
    if (is_utf8 && !ice_is_utf8((const U8 *)text, name->node.aux))
        croak("Icecore: malformed UTF-8 in the name of a class");
    return gv_stashpvn(text, name->node.aux, GV_ADD | (is_utf8 ? SVf_UTF8 : 0));
}

/* Returns whether a node needs methods that its class does not have (yet): overloading, or
 * the hook that restores the object. */
static bool
lacks_code(pTHX_ HV *stash, const icecore_node *node)
{
    if (node->kind == ICECORE_OBJECT)
        return node->flags & ICECORE_FLAG_OVERLOAD && (!stash || !Gv_AMG(stash));
    if (ICE_FORM_OF(node) == ICECORE_FORM_HOOK)
        return !stash || !(ice_method(aTHX_ stash, "STORABLE_attach") || ice_method(aTHX_ stash, "STORABLE_thaw"));
    return ICE_FORM_OF(node) == ICECORE_FORM_FREEZE && (!stash || !ice_method(aTHX_ stash, "THAW"));
}

/* Loads the module of a class whose hook or overloading is missing, as Storable does. Does
 * this only if the list of the program contains the full name of the class, so that data
 * alone never loads a module. */
static void
load_class(pTHX_ ib_build *b, const icecore_node *node, const icecore_name *name, const char *text)
{
    SV *class;
    if (node->kind == ICECORE_OBJECT && !(node->flags & ICECORE_FLAG_OVERLOAD))
        return;
    class = sv_2mortal(ib_class_sv(aTHX_ name, text));
    if (b->set->cloning || !lacks_code(aTHX_ gv_stashsv(class, 0), node) || !ice_policy_names(aTHX_ b->set->classes, class))
        return;
    ib_own_input(aTHX_ b);
    load_module(PERL_LOADMOD_NOIMPORT, newSVsv(class), NULL);
}

/* Returns the suffix that Sereal's errors have after everything was read: " at offset N of
 * input", as a mortal SV. It is empty for compressed documents, in which the offset has no
 * meaning. */
SV *
ib_end_of_input(pTHX_ ib_build *b)
{
    const ice_context *ctx = b->ctx;
    if (b->set->thaws_last && ctx->is_plain)
        return sv_2mortal(newSVpvf(" at offset %" UVuf " of input", (UV)b->v->consumed + 1));
    return sv_2mortal(newSVpvs(""));
}

/* ---- objects that FREEZE wrote ---------------------------------------------- */

static bool
is_frozen(const icecore_node *node)
{
    return node->kind == ICECORE_OPAQUE && ICE_FORM_OF(node) == ICECORE_FORM_FREEZE;
}

/* Returns whether the settings allow calls of THAW. */
static bool
may_thaw(const ib_build *b)
{
    return !b->set->no_thaw && (b->set->bless_ok || b->set->args_class);
}

/* Returns whether THAW is called for this object, which FREEZE wrote. If not, the result
 * contains its payload. */
bool
ib_is_thawed(pTHX_ ib_build *b, const icecore_node *node)
{
    const U32 at = (U32)(node - b->v->nodes);
    const U32 *denied;
    STRLEN low = 0, high;
    if (!may_thaw(b))
        return FALSE;
    if (!b->ctx->denied)
        return TRUE;
    denied = (const U32 *)SvPVX(b->ctx->denied);
    high = SvCUR(b->ctx->denied) / sizeof(U32);
    while (low < high) {
        const STRLEN middle = low + (high - low) / 2;
        if (denied[middle] == at)
            return FALSE;
        if (denied[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return TRUE;
}

/* Returns whether thaw_allow_classes allows the class of an object. If not, dies unless
 * thaw_raw is set. */
static bool
is_thaw_allowed(pTHX_ ib_build *b, SV *list, const icecore_node *node)
{
    const char *text;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &text);
    SV *class;
    bool is_allowed;
    if (ice_class_list_is_code(list)) {
        class = ib_class_sv(aTHX_ name, text);
        is_allowed = ice_class_list_ask(aTHX_ list, sv_2mortal(class), NULL);
    } else
        is_allowed = ice_class_list_has(aTHX_ list, text, name->node.aux, name->node.kind == ICECORE_TEXT);
    if (!is_allowed && !b->set->thaw_raw)
        croak("Sereal: Error: THAW not allowed for class %" SVf " (not in thaw_allow_classes)%" SVf,
              SVfARG(ice_policy_literal(aTHX_ text, name->node.aux, name->node.kind == ICECORE_TEXT)),
              SVfARG(ib_end_of_input(aTHX_ b)));
    return is_allowed;
}

/* Checks the objects that FREEZE wrote, among the nodes from `from` to `end`, against
 * thaw_allow_classes. Starts with the last one, as Sereal does, because the list can be code.
 * Adds the nodes of denied objects to ctx->denied, in ascending order. */
static void
ask_thaw_list(pTHX_ ib_build *b, SV *list, U32 from, U32 end)
{
    SV *asked = sv_2mortal(newSVpvs("")), *denied = b->ctx->denied;
    U32 at, count;
    U32 *nodes;
    for (at = from; at < end; at++)
        if (is_frozen(&b->v->nodes[at]))
            sv_catpvn(asked, (const char *)&at, sizeof at);
    count = (U32)(SvCUR(asked) / sizeof at);
    nodes = (U32 *)SvPVX(asked);
    for (at = count; at--;)
        if (is_thaw_allowed(aTHX_ b, list, &b->v->nodes[nodes[at]]))
            nodes[at] = ICECORE_NONE;
    for (at = 0; at < count; at++)
        if (nodes[at] != ICECORE_NONE)
            sv_catpvn(denied, (const char *)&nodes[at], sizeof at);
}

/* Checks the header (the nodes before the root) and then the body, each like a document of
 * its own. */
static void
ask_thaw_lists(pTHX_ ib_build *b, U32 from)
{
    SV *list = b->set->thaw_allow;
    const U32 root = b->v->root, count = (U32)b->v->node_count;
    if (ice_class_list_is_code(list))
        ib_own_input(aTHX_ b);
    /* The code of the list may free the decoder, and with it the list. */
    ice_keep(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(list));
    b->ctx->denied = newSVpvs("");
    ice_keep(aTHX_ b->ctx, b->ctx->denied);
    if (from < root)
        ask_thaw_list(aTHX_ b, list, from, root);
    ask_thaw_list(aTHX_ b, list, from < root ? root : from, count);
}

/* Returns whether a hook of its class is called for a node. */
bool
ib_calls_hook(pTHX_ ib_build *b, const icecore_node *node)
{
    const U32 id = ICE_CLASS_OF(node);
    if (node->kind != ICECORE_OPAQUE || id > b->v->classes.count || !b->ctx->verdicts || b->ctx->verdicts[id] != ICECORE_ALLOWED)
        return FALSE;
    switch (ICE_FORM_OF(node)) {
    case ICECORE_FORM_HOOK:
        return b->set->bless_ok;
    case ICECORE_FORM_FREEZE:
        return ib_is_thawed(aTHX_ b, node);
    default:
        return FALSE;
    }
}

/* Checks frozen data inside of the payloads of hooks against the same list. */
static void
check_payloads(pTHX_ ib_build *b, U32 from)
{
    ice_payloads *payloads = NULL;
    U32 at;
    if (b->set->cloning || !b->ctx->has_opaque || ice_policy_is_any(aTHX_ b->set->classes))
        return;
    for (at = from; at < b->v->node_count; at++)
        if (ib_calls_hook(aTHX_ b, &b->v->nodes[at])) {
            if (!payloads)
                payloads = ice_payloads_begin(aTHX_ b->ctx, b->v, b->set);
            ice_payloads_add(aTHX_ payloads, at);
        }
    if (payloads && ice_payloads_has_any(payloads)) {
        /* Code in the list, and later the hooks, could change the input. */
        ib_own_input(aTHX_ b);
        ice_payloads_check(aTHX_ payloads);
    }
}

/* Determines for each class in the document whether it may be built, and stores the answer
 * in ctx->verdicts (0: not known yet). Dies if a class is refused. `from` is the first
 * node. */
void
ib_check_classes(pTHX_ ib_build *b, U32 from)
{
    const icecore_view *v = b->v;
    ice_context *ctx = b->ctx;
    U32 at, end = (U32)v->node_count;
    ice_refused refused;

    if (v->classes.count == 0 || (ctx->is_checked && from == v->root))
        return;
    ctx->is_checked = from == v->header;
    ctx->has_opaque = FALSE;
    if (ctx->verdict_room <= v->classes.count) {
        ctx->verdict_room = (U32)v->classes.count + 16;
        Renew(ctx->verdicts, ctx->verdict_room, U8);
    }
    Zero(ctx->verdicts, v->classes.count + 1, U8);
    if (!b->set->bless_ok && !may_thaw(b))
        return; /* no class is built */
    if (b->set->thaw_allow && may_thaw(b))
        ask_thaw_lists(aTHX_ b, from);
    if (ice_policy_reports(aTHX_ b->set->classes))
        ib_own_input(aTHX_ b);
    refused.count = 0;
    refused.has_wildcard = FALSE;
    for (at = from; at < end; at++) {
        const icecore_node *node = &v->nodes[at];
        const icecore_name *name;
        const char *text;
        U32 id;
        U32 verdict;
        if (node->kind != ICECORE_OBJECT && node->kind != ICECORE_OPAQUE)
            continue;
        ctx->has_opaque |= node->kind == ICECORE_OPAQUE;
        if (is_frozen(node) ? !ib_is_thawed(aTHX_ b, node) : !b->set->bless_ok)
            continue;
        id = ICE_CLASS_OF(node);
        if (id == 0 || id > v->classes.count || ctx->verdicts[id])
            continue;
        name = ib_class_name(aTHX_ b, node, &text);
        verdict = b->set->cloning ? ICECORE_ALLOWED
                                  : ice_policy(aTHX_ b->set->classes, text, name->node.aux,
                                               name->node.kind == ICECORE_TEXT);
        if ((verdict & ~(U32)ICECORE_REPORTED) == ICECORE_REFUSED) {
            char path[512] = "";
            if (refused.count < ICE_LISTED)
                icecore_path(ctx->warm.engine, v->input, v->input_len, at, path, sizeof path);
            ice_policy_list(aTHX_ & refused, text, name->node.aux, name->node.kind == ICECORE_TEXT, path);
        }
        /* Each class is checked once. ICECORE_REFUSED is 0, which means "not known yet" in
         * this list, so ICECORE_REPORTED is stored instead. */
        ctx->verdicts[id] = (U8)(verdict == ICECORE_REFUSED ? ICECORE_REPORTED : verdict);
        if (verdict == ICECORE_ALLOWED && !refused.count)
            load_class(aTHX_ b, node, name, text);
    }
    if (refused.count)
        ice_policy_refuse_all(aTHX_ & refused);
    check_payloads(aTHX_ b, from);
}

/* Returns whether an object is built as an Icecore::Record instead of its class. */
bool
ib_is_record(ib_build *b, const icecore_node *node)
{
    U32 id = ICE_CLASS_OF(node);
    return b->ctx->verdicts && id && id <= b->v->classes.count && b->ctx->verdicts[id] == ICECORE_AS_RECORD;
}


/* Blesses the target of a reference into the class of the node `object`. Does nothing if
 * the settings don't allow it, or the node is not an object. */
void
ib_be_object(pTHX_ ib_build *b, SV *rv, U32 object)
{
    const icecore_node *node = &b->v->nodes[object];
    if (b->set->bless_ok && node->kind == ICECORE_OBJECT)
        sv_bless(rv, ib_stash_of(aTHX_ b, node));
}
