/* Finds errors that would otherwise end a build after hooks have run.
 *
 * Malformed data must not call hooks. The engine finds most errors when it reads the data.
 * Errors that depend on perl are found here, in one pass over the nodes before the first
 * hook. */
#include "core/build_leaf.h"

/* `index` is the node that should be the object of a tie. Returns true if it is an object, becomes
 * an object, or is missing. Links may form a cycle, so the steps are counted. */
static bool
is_object(ib_builder *b, U32 index)
{
    const icecore_view *view = b->view;
    U32 steps;
    for (steps = 0; view->nodes[index].kind == ICECORE_LINK && view->nodes[index].payload < view->node_count
                    && steps < view->node_count;
         steps++)
        index = (U32)view->nodes[index].payload;
    switch (view->nodes[index].kind) {
    case ICECORE_NULL:
    case ICECORE_HOLE:
    case ICECORE_OBJECT:
    case ICECORE_OPAQUE:
        return TRUE;
    case ICECORE_REGEXP:
        return !(view->nodes[index].flags & ICECORE_FLAG_BARE);
    default:
        /* A link may refer to the body of an object. If objects are not blessed, any reference is
         * accepted. */
        return (index > 0 && view->nodes[index - 1].kind == ICECORE_OBJECT)
            || (!b->settings->bless_ok && ib_is_reference_kind(view->nodes[index].kind));
    }
}

static void
check_tied(pTHX_ ib_builder *b, U32 index)
{
    if (!b->settings->tie_ok)
        croak("Tying is disabled.");
    if (index + 1 < (U32)b->view->nodes[index].payload && !is_object(b, index + 1))
        croak("Icecore: a tied variable without an object");
}

/* Returns true if the hook of an object returned references when the object was frozen. */
static bool
has_references(const icecore_view *view, U32 index)
{
    const U32 last = ice_last_child(view, index);
    U32 child;
    for (child = ice_next(view, index + 1); child < last; child = ice_next(view, child))
        if (view->nodes[child].kind == ICECORE_LINK || view->nodes[child].kind == ICECORE_REF)
            return TRUE;
    return FALSE;
}

/* What was found for the previous object. Objects of the same class need no second lookup. */
typedef struct {
    U64 class_and_form; /* the bits of the payload for both; 0 before the first object */
    bool has_attach;    /* the class has the method STORABLE_attach */
} looked_up_class;

/* Dies if the hook of an object would fail: it is missing, or may not be called. */
static void
check_hook(pTHX_ ib_builder *b, U32 index, looked_up_class *last)
{
    const icecore_node *node = &b->view->nodes[index];
    const bool is_freeze = ICE_FORM_OF(node) == ICECORE_FORM_FREEZE;
    HV *stash;
    if (ib_is_record(b, node) || (!is_freeze && ICE_FORM_OF(node) == ICECORE_FORM_HOOK && !b->settings->bless_ok))
        return;
    if (!is_freeze && ICE_FORM_OF(node) != ICECORE_FORM_HOOK)
        ib_croak_foreign_object(aTHX);
    if (!ib_calls_hook(aTHX_ b, node))
        return;
    if (last->class_and_form != (node->payload & ~(U64)U32_MAX)) {
        last->class_and_form = node->payload & ~(U64)U32_MAX;
        stash = ib_class_stash(aTHX_ b, node);
        last->has_attach = !is_freeze && ice_find_method(aTHX_ stash, "STORABLE_attach");
        if (is_freeze && !ice_find_method(aTHX_ stash, "THAW"))
            ib_croak_no_thaw(aTHX_ b, stash);
        if (!is_freeze && !last->has_attach && !ice_find_method(aTHX_ stash, "STORABLE_thaw"))
            ib_croak_no_storable_thaw(aTHX_ stash);
    }
    if (last->has_attach && has_references(b->view, index))
        croak("STORABLE_attach called with unexpected references");
}

static void
check_text(pTHX_ ib_builder *b, const icecore_node *node)
{
    STRLEN len;
    const char *text = ice_bytes_of(b->view, node, &len);
    if ((!b->settings->trusts_utf8_flag || node->key == ICECORE_IS_KEY) && !ice_is_utf8((const U8 *)text, len))
        ib_croak_bad_utf8(aTHX_ b, node);
}

/* Dies if a node has an error that only the build would find. */
static void
check_node(pTHX_ ib_builder *b, U32 index, looked_up_class *last)
{
    const icecore_node *node = &b->view->nodes[index];
    if (node->key && node->key < ICECORE_IS_KEY && !ice_keys_get(&b->ctx->keys, node->key))
        (void)ice_key_sv(aTHX_ b->ctx, b->view, node->key);
    switch (node->kind) {
    case ICECORE_TEXT:
        check_text(aTHX_ b, node);
        return;
    case ICECORE_TIED:
        check_tied(aTHX_ b, index);
        return;
    case ICECORE_CODE:
        if (!b->settings->dummy_code && !b->settings->forgive_me && !(b->settings->eval && SvTRUE(b->settings->eval)))
            ib_croak_code(aTHX);
        return;
    case ICECORE_REGEXP:
        ib_check_regexp(aTHX_ b, index);
        return;
    case ICECORE_OPAQUE:
        check_hook(aTHX_ b, index, last);
        return;
    default:
        return;
    }
}

void
ib_report_errors_before_hooks(pTHX_ ib_builder *b, U32 from)
{
    const U32 count = (U32)b->view->node_count;
    looked_up_class last = { 0, FALSE };
    U32 index;
    if (b->settings->cloning || b->view->classes.count == 0 || !b->ctx->has_opaque)
        return;
    for (index = from; index < count && !ib_calls_hook(aTHX_ b, &b->view->nodes[index]); index++)
        ;
    if (index == count)
        return;
    ENTER;
    SAVETMPS;
    for (index = from; index < count; index++)
        check_node(aTHX_ b, index, &last);
    FREETMPS;
    LEAVE;
}
