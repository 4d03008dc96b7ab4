/* Classes: which there are, and what may be done with each. */
#include "core/build.h"

const icecore_name *
ib_class_name(pTHX_ build *b, const icecore_node *node, const char **text)
{
    const icecore_name *name = ice_name(&b->v->classes, ICE_CLASS_OF(node), text);
    if (!name)
        croak("Icecore: an object without a class");
    return name;
}

/* The name of a class as a new string. */
SV *
ib_class_sv(pTHX_ const icecore_name *name, const char *text)
{
    const U32 len = name->node.aux;
    return newSVpvn_utf8(text, len, name->node.kind == ICECORE_TEXT && ice_is_utf8((const U8 *)text, len));
}

HV *
ib_stash_of(pTHX_ build *b, const icecore_node *node)
{
    const char *text;
    const icecore_name *name = ib_class_name(aTHX_ b, node, &text);
    bool is_utf8 = name->node.kind == ICECORE_TEXT;
    if (is_utf8 && !ice_is_utf8((const U8 *)text, name->node.aux))
        croak("Icecore: malformed UTF-8 in the name of a class");
    return gv_stashpvn(text, name->node.aux, GV_ADD | (is_utf8 ? SVf_UTF8 : 0));
}

/* Whether a node asks for code that its class has not got. */
static bool
lacks_code(pTHX_ HV *stash, const icecore_node *node)
{
    if (node->kind == ICECORE_OBJECT)
        return node->flags & ICECORE_FLAG_OVERLOAD && (!stash || !Gv_AMG(stash));
    if (ICE_FORM_OF(node) == ICECORE_FORM_HOOK)
        return !stash || !(ice_method(aTHX_ stash, "STORABLE_attach") || ice_method(aTHX_ stash, "STORABLE_thaw"));
    return ICE_FORM_OF(node) == ICECORE_FORM_FREEZE && (!stash || !ice_method(aTHX_ stash, "THAW"));
}

/* Loads the module of a class with hooks or overloading, as Storable does; but only if the
 * program has named the class: what the data says loads nothing. */
static void
load_class(pTHX_ build *b, const icecore_node *node, const icecore_name *name, const char *text)
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

/* What may be done with each class that the document names: 0 when it was not
 * asked yet. Refuses before anything is built. */
void
ib_check_classes(pTHX_ build *b, U32 from)
{
    const icecore_view *v = b->v;
    ice_context *ctx = b->ctx;
    U32 at, end = (U32)v->node_count;
    ice_refused refused;

    if (v->classes.count == 0)
        return;
    if (ctx->verdict_room <= v->classes.count) {
        ctx->verdict_room = (U32)v->classes.count + 16;
        Renew(ctx->verdicts, ctx->verdict_room, U8);
    }
    Zero(ctx->verdicts, v->classes.count + 1, U8);
    if (!b->set->bless_ok && (b->set->no_thaw || !b->set->args_class))
        return; /* no class is built */
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
        if (node->kind == ICECORE_OPAQUE && ICE_FORM_OF(node) == ICECORE_FORM_FREEZE ? !ib_is_thawed(aTHX_ b, node)
                                                                                      : !b->set->bless_ok)
            continue;
        id = ICE_CLASS_OF(node);
        if (id == 0 || id > v->classes.count || ctx->verdicts[id])
            continue;
        name = ib_class_name(aTHX_ b, node, &text);
        verdict = b->set->cloning ? ICECORE_ALLOWED
                                  : ice_policy(aTHX_ b->set->classes, text, name->node.aux,
                                               name->node.kind == ICECORE_TEXT);
        if ((verdict & ~(U32)ICECORE_REPORTED) == ICECORE_REFUSED) {
            char path[512];
            icecore_path(ctx->warm.engine, v->input, v->input_len, at, path, sizeof path);
            if (verdict == ICECORE_REFUSED)
                ice_policy_refuse(aTHX_ text, name->node.aux, name->node.kind == ICECORE_TEXT, path);
            ice_policy_list(aTHX_ & refused, text, name->node.aux, name->node.kind == ICECORE_TEXT, path);
        }
        ctx->verdicts[id] = (U8)verdict;
        if (verdict == ICECORE_ALLOWED)
            load_class(aTHX_ b, node, name, text);
    }
    if (refused.count)
        ice_policy_refuse_all(aTHX_ & refused);
}

bool
ib_is_record(build *b, const icecore_node *node)
{
    U32 id = ICE_CLASS_OF(node);
    return b->ctx->verdicts && id && id <= b->v->classes.count && b->ctx->verdicts[id] == ICECORE_AS_RECORD;
}

/* Whether THAW is called for an object that FREEZE froze; its payload stays
 * otherwise. */
bool
ib_is_thawed(pTHX_ build *b, const icecore_node *node)
{
    const char *text;
    const icecore_name *name;
    if (b->set->no_thaw || !(b->set->bless_ok || b->set->args_class))
        return FALSE;
    if (!b->set->thaw_allow)
        return TRUE;
    name = ib_class_name(aTHX_ b, node, &text);
    return cBOOL(hv_common(b->set->thaw_allow, NULL, text, name->node.aux,
                           name->node.kind == ICECORE_TEXT ? HVhek_UTF8 : 0, HV_FETCH_ISEXISTS, NULL, 0));
}

/* Blesses what a reference refers to. */
void
ib_be_object(pTHX_ build *b, SV *rv, U32 object)
{
    const icecore_node *node = &b->v->nodes[object];
    if (b->set->bless_ok)
        sv_bless(rv, ib_stash_of(aTHX_ b, node));
}
