/* Begins and ends the tape that is filled. */
#include "core/walk.h"

void
iw_begin(pTHX_ iw_walk *w)
{
    ice_tape_begin(w->ctx->warm.engine, w->t);
    ice_keys_of(aTHX_ w->ctx, w->t->key_generation);
    w->parts = 0;
}

void
iw_finish(pTHX_ iw_walk *w)
{
    ice_tape_finish(w->ctx->warm.engine, w->t);
}
