/* Begins and ends the tape of a walk. */
#include "core/walk.h"

void
iw_begin(pTHX_ iw_walker *w)
{
    ice_tape_begin(w->ctx->pooled.engine, w->tape);
    ice_update_keys(aTHX_ w->ctx, w->tape->key_generation);
    w->parts_written = 0;
}

void
iw_finish(pTHX_ iw_walker *w)
{
    ice_tape_finish(w->ctx->pooled.engine, w->tape);
}
