/* The rules of the walk for formats without a perl module of their own, such as JSON. */
#include "core/leaf.h"
#include "any/any.h"

/* Pushes a scalar. The formats distinguish strings and numbers: a string stays a string,
 * even if it was used as a number. */
static void
leaf(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, bool item)
{
    PERL_UNUSED_VAR(item);
    if (SvPOK(sv) && SvIsBOOL(sv))
        push(aTHX_ w, ICECORE_BOOL, flags, key, 0, SvTRUE_nomg_NN(sv));
    else
        scalar_leaf(aTHX_ w, sv, flags, key, FALSE);
}

#define FACTS 0
#define LEAF leaf
#include "core/walk_fast.h"

/* Dies: these formats have no form for code, globs, handles and so on. */
static void
put_unknown(pTHX_ iw_walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps)
{
    PERL_UNUSED_VAR(rv);
    PERL_UNUSED_VAR(flags);
    iw_refuse(aTHX_ w, sv, key, wraps);
}

static void
too_deep(pTHX_ const iw_walk *w)
{
    croak("Hit maximum recursion depth (%" UVuf "), aborting serialization", w->set->max_depth);
}

const iw_rules ice_any_rules = {
    FACTS, iw_put, put_fast, leaf, iw_put_immortal, NULL, NULL, NULL, NULL, put_unknown, put_unknown, too_deep
};
