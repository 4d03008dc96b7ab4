/* Errors that would otherwise end a build after hooks have run.
 *
 * Malformed data must not call hooks. The engine finds most errors; those that only perl
 * knows are found here, in one pass over the nodes before the first hook. */
#include "core/build_leaf.h"

/* Whether the object that ties a variable is an object, or will be one, or is missing. */
static bool
is_object(ib_build *b, U32 at)
{
    const icecore_view *v = b->v;
    U32 steps;
    for (steps = 0; v->nodes[at].kind == ICECORE_LINK && v->nodes[at].payload < v->node_count && steps < v->node_count; steps++)
        at = (U32)v->nodes[at].payload;
    switch (v->nodes[at].kind) {
    case ICECORE_NULL:
    case ICECORE_HOLE:
    case ICECORE_OBJECT:
    case ICECORE_OPAQUE:
        return TRUE;
    case ICECORE_REGEXP:
        return !(v->nodes[at].flags & ICECORE_FLAG_BARE);
    default:
        /* A link may refer to the body of the object; without classes any reference will
         * do. */
        return (at > 0 && v->nodes[at - 1].kind == ICECORE_OBJECT) || (!b->set->bless_ok && ib_is_reference_kind(v->nodes[at].kind));
    }
}

static void
check_tied(pTHX_ ib_build *b, U32 at)
{
    if (!b->set->tie_ok)
        croak("Tying is disabled.");
    if (at + 1 < (U32)b->v->nodes[at].payload && !is_object(b, at + 1))
        croak("Icecore: a tied variable without an object");
}

/* Whether the object of a hook has references to other objects. */
static bool
has_references(const icecore_view *v, U32 at)
{
    const U32 last = ice_last_child(v, at);
    U32 child;
    for (child = ice_next(v, at + 1); child < last; child = ice_next(v, child))
        if (v->nodes[child].kind == ICECORE_LINK || v->nodes[child].kind == ICECORE_REF)
            return TRUE;
    return FALSE;
}

/* Class and form of the previous object, whose methods were looked up. */
typedef struct {
    U64 bits;
    bool is_attached;
} seen_class;

static void
check_hook(pTHX_ ib_build *b, U32 at, seen_class *last)
{
    const icecore_node *node = &b->v->nodes[at];
    const bool is_freeze = ICE_FORM_OF(node) == ICECORE_FORM_FREEZE;
    HV *stash;
    if (ib_is_record(b, node) || (!is_freeze && ICE_FORM_OF(node) == ICECORE_FORM_HOOK && !b->set->bless_ok))
        return;
    if (!is_freeze && ICE_FORM_OF(node) != ICECORE_FORM_HOOK)
        ib_refuse_foreign(aTHX);
    if (!ib_calls_hook(aTHX_ b, node))
        return;
    if (last->bits != (node->payload & ~(U64)U32_MAX)) {
        last->bits = node->payload & ~(U64)U32_MAX;
        stash = ib_stash_of(aTHX_ b, node);
        last->is_attached = !is_freeze && ice_method(aTHX_ stash, "STORABLE_attach");
        if (is_freeze && !ice_method(aTHX_ stash, "THAW"))
            ib_no_thaw(aTHX_ b, stash);
        if (!is_freeze && !last->is_attached && !ice_method(aTHX_ stash, "STORABLE_thaw"))
            ib_no_storable_thaw(aTHX_ stash);
    }
    if (last->is_attached && has_references(b->v, at))
        croak("STORABLE_attach called with unexpected references");
}

static void
check_text(pTHX_ ib_build *b, const icecore_node *node)
{
    STRLEN len;
    const char *text = ice_bytes_of(b->v, node, &len);
    if ((!b->set->as_marked || node->key == ICECORE_IS_KEY) && !ice_is_utf8((const U8 *)text, len))
        ib_bad_utf8(aTHX_ b, node);
}

static void
check_node(pTHX_ ib_build *b, U32 at, seen_class *last)
{
    const icecore_node *node = &b->v->nodes[at];
    if (node->key && node->key < ICECORE_IS_KEY && !ice_keys_get(&b->ctx->keys, node->key))
        (void)ice_key_sv(aTHX_ b->ctx, b->v, node->key);
    switch (node->kind) {
    case ICECORE_TEXT:
        check_text(aTHX_ b, node);
        return;
    case ICECORE_TIED:
        check_tied(aTHX_ b, at);
        return;
    case ICECORE_CODE:
        if (!b->set->dummy_code && !b->set->forgive && !(b->set->eval && SvTRUE(b->set->eval)))
            ib_refuse_code(aTHX);
        return;
    case ICECORE_REGEXP:
        ib_check_regexp(aTHX_ b, at);
        return;
    case ICECORE_OPAQUE:
        check_hook(aTHX_ b, at, last);
        return;
    default:
        return;
    }
}

void
ib_check_ahead(pTHX_ ib_build *b, U32 from)
{
    const U32 count = (U32)b->v->node_count;
    seen_class last = { 0, FALSE };
    U32 at;
    if (b->set->cloning || b->v->classes.count == 0 || !b->ctx->has_opaque)
        return;
    for (at = from; at < count && !ib_calls_hook(aTHX_ b, &b->v->nodes[at]); at++)
        ;
    if (at == count)
        return;
    ENTER;
    SAVETMPS;
    for (at = from; at < count; at++)
        check_node(aTHX_ b, at, &last);
    FREETMPS;
    LEAVE;
}
