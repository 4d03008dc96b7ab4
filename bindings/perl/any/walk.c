/* The rules of the walk for Icecore::encode with any format but Storable and Sereal. */
#include "core/leaf.h"
#include "any/any.h"

/* Pushes a scalar. These formats distinguish strings and numbers. So a string is pushed as a
 * string, even if it was used as a number. */
static void
push_scalar(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, bool is_item)
{
    PERL_UNUSED_VAR(is_item);
    if (SvPOK(sv) && SvIsBOOL(sv))
        iw_push(aTHX_ w, ICECORE_BOOL, flags, key, 0, SvTRUE_nomg_NN(sv));
    else
        iw_push_scalar(aTHX_ w, sv, flags, key, FALSE);
}

#define IW_FORMAT IW_MARKS_REGEXPS
#define IW_PUSH_SCALAR push_scalar
#include "core/walk_fast.h"

/* Dies, because these formats have no form for code, globs, handles and so on. */
static void
croak_unsupported(pTHX_ iw_walker *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wrapper_count)
{
    PERL_UNUSED_VAR(rv);
    PERL_UNUSED_VAR(flags);
    iw_croak_unsupported(aTHX_ w, sv, key, wrapper_count);
}

static void
croak_too_deep(pTHX_ const iw_walker *w)
{
    croak("Hit maximum recursion depth (%" UVuf "), aborting serialization", w->settings->max_depth);
}

const iw_rules ice_any_rules = {
    .format_flags = IW_FORMAT,
    .put = iw_put,
    .put_fast = put_fast,
    .push_scalar = push_scalar,
    .put_immortal = iw_put_immortal,
    .put_code = croak_unsupported,
    .put_unknown = croak_unsupported,
    .croak_too_deep = croak_too_deep,
};
