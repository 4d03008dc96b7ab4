/* Checks the classes of a document against the lists of allowed classes, before anything is
 * built.
 *
 * ib_check_classes takes these steps:
 *
 * 1. thaw_is_enabled: the settings may forbid THAW, for all classes.
 * 2. check_thaw_list: objects for which thaw_allow_classes refuses THAW go to
 *    ctx->refused_thaws.
 * 3. The policy has a verdict on each class of which an object is built: ctx->verdicts.
 *
 * From then on, ib_may_thaw answers for one object by steps 1 and 2, and ib_calls_hook by all
 * three. */
#include "core/build.h"
#include "core/class_lists.h"
#include "core/payloads.h"

/* Returns the name of the class of an object node; `text` receives its bytes. Dies if the
 * node has no class. */
const icecore_name *
ib_class_name(pTHX_ ib_builder *b, const icecore_node *node, const char **text)
{
    const icecore_name *name = ice_name(&b->view->classes, ICE_CLASS_OF(node), text);
    if (!name)
        croak("Icecore: an object without a class");
    return name;
}

/* Returns the name of a class as a new string. */
SV *
ib_class_name_sv(pTHX_ const icecore_name *name, const char *text)
{
    const U32 len = name->node.aux;
    return newSVpvn_utf8(text, len, name->node.kind == ICECORE_TEXT && ice_is_utf8((const U8 *)text, len));
}

/* Returns the stash of the class of an object node; creates it if it does not exist. */
HV *
ib_class_stash(pTHX_ ib_builder *b, const icecore_node *node)
{
    const char *text;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &text);
    bool is_utf8 = name->node.kind == ICECORE_TEXT;
    if (is_utf8 && !ice_is_utf8((const U8 *)text, name->node.aux))
        croak("Icecore: malformed UTF-8 in the name of a class");
    return gv_stashpvn(text, name->node.aux, GV_ADD | (is_utf8 ? SVf_UTF8 : 0));
}

/* Returns true if a node needs methods that its class does not have: overloading, or the hook
 * that restores the object. `stash` is NULL if the class does not exist. */
static bool
lacks_methods(pTHX_ HV *stash, const icecore_node *node)
{
    if (node->kind == ICECORE_OBJECT)
        return node->flags & ICECORE_FLAG_OVERLOAD && (!stash || !Gv_AMG(stash));
    if (ICE_FORM_OF(node) == ICECORE_FORM_HOOK)
        return !stash
            || !(ice_find_method(aTHX_ stash, "STORABLE_attach") || ice_find_method(aTHX_ stash, "STORABLE_thaw"));
    return ICE_FORM_OF(node) == ICECORE_FORM_FREEZE && (!stash || !ice_find_method(aTHX_ stash, "THAW"));
}

/* Loads the module of a class whose hook or overloading is missing, as Storable does. Does
 * this only if the program's list contains the full name of the class, so that data
 * alone never loads a module. */
static void
load_missing_module(pTHX_ ib_builder *b, const icecore_node *node, const icecore_name *name, const char *text)
{
    SV *class;
    if (node->kind == ICECORE_OBJECT && !(node->flags & ICECORE_FLAG_OVERLOAD))
        return;
    class = sv_2mortal(ib_class_name_sv(aTHX_ name, text));
    if (b->settings->cloning || !lacks_methods(aTHX_ gv_stashsv(class, 0), node)
        || !ice_policy_lists_class(aTHX_ b->settings->classes, class))
        return;
    ib_copy_input(aTHX_ b);
    load_module(PERL_LOADMOD_NOIMPORT, newSVsv(class), NULL);
}

/* Returns the suffix that Sereal's errors have after everything was read: " at offset N of
 * input", as a mortal SV. It is empty for compressed documents, in which the offset has no
 * meaning. */
SV *
ib_offset_suffix(pTHX_ ib_builder *b)
{
    const ice_context *ctx = b->ctx;
    if (b->settings->thaws_at_end && ctx->is_uncompressed)
        return sv_2mortal(newSVpvf(" at offset %" UVuf " of input", (UV)b->view->consumed + 1));
    return sv_2mortal(newSVpvs(""));
}

/* ---- objects that FREEZE wrote ---------------------------------------------- */

/* Returns true for an object that FREEZE wrote. */
static bool
is_frozen(const icecore_node *node)
{
    return node->kind == ICECORE_OPAQUE && ICE_FORM_OF(node) == ICECORE_FORM_FREEZE;
}

/* Returns true if the settings allow calls of THAW. */
static bool
thaw_is_enabled(const ib_builder *b)
{
    return !b->settings->no_thaw && (b->settings->bless_ok || b->settings->thaw_args_class);
}

/* Returns true if THAW may be called for an object that FREEZE wrote. If not, the result
 * contains its payload. */
bool
ib_may_thaw(pTHX_ ib_builder *b, const icecore_node *node)
{
    const U32 index = (U32)(node - b->view->nodes);
    const U32 *refused_thaws;
    STRLEN low = 0, high;
    if (!thaw_is_enabled(b))
        return FALSE;
    if (!b->ctx->refused_thaws)
        return TRUE;
    refused_thaws = (const U32 *)SvPVX(b->ctx->refused_thaws);
    high = SvCUR(b->ctx->refused_thaws) / sizeof(U32);
    while (low < high) {
        const STRLEN middle = low + (high - low) / 2;
        if (refused_thaws[middle] == index)
            return FALSE;
        if (refused_thaws[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return TRUE;
}

/* Returns true if thaw_allow_classes allows the class of an object. If not, dies unless
 * thaws_refused_raw is set. */
static bool
is_thaw_allowed(pTHX_ ib_builder *b, SV *list, const icecore_node *node)
{
    const char *text;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &text);
    SV *class;
    bool is_allowed;
    if (ice_class_list_is_code(list)) {
        class = ib_class_name_sv(aTHX_ name, text);
        is_allowed = ice_class_list_call(aTHX_ list, sv_2mortal(class), NULL);
    } else
        is_allowed = ice_class_list_contains(aTHX_ list, text, name->node.aux, name->node.kind == ICECORE_TEXT);
    if (!is_allowed && !b->settings->thaws_refused_raw)
        croak("Sereal: Error: THAW not allowed for class %" SVf " (not in thaw_allow_classes)%" SVf,
              SVfARG(ice_policy_literal(aTHX_ text, name->node.aux, name->node.kind == ICECORE_TEXT)),
              SVfARG(ib_offset_suffix(aTHX_ b)));
    return is_allowed;
}

/* Checks the objects that FREEZE wrote, among the nodes from `from` to `end`, against
 * thaw_allow_classes. Starts with the last object, as Sereal does, because the list can be code,
 * and this code sees the order. Adds the nodes of refused objects to ctx->refused_thaws, in
 * ascending order. ib_may_thaw needs this order for its binary search. */
static void
check_thaw_range(pTHX_ ib_builder *b, SV *list, U32 from, U32 end)
{
    SV *frozen_nodes = sv_2mortal(newSVpvs("")), *refused_thaws = b->ctx->refused_thaws;
    U32 index, count;
    U32 *nodes;
    for (index = from; index < end; index++)
        if (is_frozen(&b->view->nodes[index]))
            sv_catpvn(frozen_nodes, (const char *)&index, sizeof index);
    count = (U32)(SvCUR(frozen_nodes) / sizeof index);
    nodes = (U32 *)SvPVX(frozen_nodes);
    /* Allowed objects are replaced by ICECORE_NONE, so that only refused objects remain. */
    for (index = count; index--;)
        if (is_thaw_allowed(aTHX_ b, list, &b->view->nodes[nodes[index]]))
            nodes[index] = ICECORE_NONE;
    for (index = 0; index < count; index++)
        if (nodes[index] != ICECORE_NONE)
            sv_catpvn(refused_thaws, (const char *)&nodes[index], sizeof index);
}

/* Checks all objects that FREEZE wrote against thaw_allow_classes. The nodes before the root are
 * the header. The header is checked first, then the body, each like a document of its own. */
static void
check_thaw_list(pTHX_ ib_builder *b, U32 from)
{
    SV *list = b->settings->thaw_allow_classes;
    const U32 root = b->view->root, count = (U32)b->view->node_count;
    if (ice_class_list_is_code(list))
        ib_copy_input(aTHX_ b);
    /* The code of the list may free the decoder, and with it the list. */
    ice_keep_for_call(aTHX_ b->ctx, SvREFCNT_inc_simple_NN(list));
    b->ctx->refused_thaws = newSVpvs("");
    ice_keep_for_call(aTHX_ b->ctx, b->ctx->refused_thaws);
    if (from < root)
        check_thaw_range(aTHX_ b, list, from, root);
    check_thaw_range(aTHX_ b, list, from < root ? root : from, count);
}

/* Returns true if the build calls a hook for a node. */
bool
ib_calls_hook(pTHX_ ib_builder *b, const icecore_node *node)
{
    const U32 id = ICE_CLASS_OF(node);
    if (node->kind != ICECORE_OPAQUE || id > b->view->classes.count || !b->ctx->verdicts
        || b->ctx->verdicts[id] != ICECORE_ALLOWED)
        return FALSE;
    switch (ICE_FORM_OF(node)) {
    case ICECORE_FORM_HOOK:
        return b->settings->bless_ok;
    case ICECORE_FORM_FREEZE:
        return ib_may_thaw(aTHX_ b, node);
    default:
        return FALSE;
    }
}

/* Checks frozen data in the payloads of hooks against the same list: payloads.h. */
static void
check_payloads(pTHX_ ib_builder *b, U32 from)
{
    ice_payload_checker *payloads = NULL;
    U32 index;
    if (b->settings->cloning || !b->ctx->has_opaque || ice_policy_is_any(aTHX_ b->settings->classes))
        return;
    for (index = from; index < b->view->node_count; index++)
        if (ib_calls_hook(aTHX_ b, &b->view->nodes[index])) {
            if (!payloads)
                payloads = ice_payloads_begin(aTHX_ b->ctx, b->view, b->settings);
            ice_payloads_add(aTHX_ payloads, index);
        }
    if (payloads && ice_payloads_has_any(payloads)) {
        /* Code in the list, and later the hooks, could change the input. */
        ib_copy_input(aTHX_ b);
        ice_payloads_check(aTHX_ payloads);
    }
}

/* Stores the verdict on each class in ctx->verdicts. It stays 0 for a class of which no object
 * is built. Dies if a class is refused. `from` is the first node. */
void
ib_check_classes(pTHX_ ib_builder *b, U32 from)
{
    const icecore_view *view = b->view;
    ice_context *ctx = b->ctx;
    U32 index, end = (U32)view->node_count;
    ice_refused refused;

    if (view->classes.count == 0 || (ctx->body_was_checked && from == view->root))
        return;
    /* The header precedes the body on the tape. So a check that begins at the header also reaches
     * the body. */
    ctx->body_was_checked = from == view->header;
    ctx->has_opaque = FALSE;
    /* The ids of classes begin at 1, so the table has one entry more than there are classes. */
    if (ctx->verdict_capacity <= view->classes.count) {
        ctx->verdict_capacity = (U32)view->classes.count + 16;
        Renew(ctx->verdicts, ctx->verdict_capacity, U8);
    }
    Zero(ctx->verdicts, view->classes.count + 1, U8);
    if (!b->settings->bless_ok && !thaw_is_enabled(b))
        return; /* no class is built */
    if (b->settings->thaw_allow_classes && thaw_is_enabled(b))
        check_thaw_list(aTHX_ b, from);
    if (ice_policy_reports(aTHX_ b->settings->classes))
        ib_copy_input(aTHX_ b);
    refused.count = 0;
    refused.has_wildcard = FALSE;
    for (index = from; index < end; index++) {
        const icecore_node *node = &view->nodes[index];
        const icecore_name *name;
        const char *text;
        U32 id, verdict;
        if (node->kind != ICECORE_OBJECT && node->kind != ICECORE_OPAQUE)
            continue;
        ctx->has_opaque |= node->kind == ICECORE_OPAQUE;
        if (is_frozen(node) ? !ib_may_thaw(aTHX_ b, node) : !b->settings->bless_ok)
            continue;
        id = ICE_CLASS_OF(node);
        if (id == 0 || id > view->classes.count || ctx->verdicts[id])
            continue;
        name = ib_class_name(aTHX_ b, node, &text);
        verdict = b->settings->cloning ? ICECORE_ALLOWED
                                       : ice_policy_verdict(aTHX_ b->settings->classes, text, name->node.aux,
                                                            name->node.kind == ICECORE_TEXT);
        if ((verdict & ~(U32)ICECORE_REPORTED) == ICECORE_REFUSED) {
            char path[512] = "";
            if (refused.count < ICE_MAX_LISTED_CLASSES)
                icecore_path(ctx->pooled.engine, view->input, view->input_len, index, path, sizeof path);
            ice_policy_add_refused(aTHX_ & refused, text, name->node.aux, name->node.kind == ICECORE_TEXT, path);
        }
        /* ICECORE_REFUSED is 0, which means "not checked yet" in this table. So ICECORE_REPORTED
         * is stored instead, and the class is not checked again. */
        ctx->verdicts[id] = (U8)(verdict == ICECORE_REFUSED ? ICECORE_REPORTED : verdict);
        if (verdict == ICECORE_ALLOWED && !refused.count)
            load_missing_module(aTHX_ b, node, name, text);
    }
    if (refused.count)
        ice_policy_croak_refused(aTHX_ & refused);
    check_payloads(aTHX_ b, from);
}

/* Returns true if an object is built as an Icecore::Record instead of its class. */
bool
ib_is_record(ib_builder *b, const icecore_node *node)
{
    U32 id = ICE_CLASS_OF(node);
    return b->ctx->verdicts && id && id <= b->view->classes.count && b->ctx->verdicts[id] == ICECORE_AS_RECORD;
}

/* Blesses the target of a reference into the class of the node `object`. Does nothing if
 * the settings don't allow it, or the node is not an object. */
void
ib_bless(pTHX_ ib_builder *b, SV *rv, U32 object)
{
    const icecore_node *node = &b->view->nodes[object];
    if (b->settings->bless_ok && node->kind == ICECORE_OBJECT)
        sv_bless(rv, ib_class_stash(aTHX_ b, node));
}
