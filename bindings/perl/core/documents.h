/* One document, read or written by a stage. */
#ifndef ICECORE_DOCUMENTS_H
#define ICECORE_DOCUMENTS_H
#include "core/icecore_perl.h"

icecore_stage *ice_reader_new(pTHX_ const char *spec, STRLEN len);
icecore_stage *ice_writer_new(pTHX_ const char *spec, STRLEN len);
void ice_set_stage_limit(pTHX_ icecore_stage *stage, const char *name, UV value);

/* Returns the bytes of a string, which may be marked as UTF-8. */
const char *ice_frozen_bytes(pTHX_ SV *sv, STRLEN *len);

/* Readers and writers take a context for the scope that their caller has entered.
 *
 * Reads one document. `consumed`: if not NULL, bytes after the document are allowed,
 * and it receives the length of the document. `header`: receives the user header; or
 * NULL. */
SV *ice_read_document(pTHX_ const icecore_stage *stage, const char *bytes, STRLEN len,
                      const ice_read_settings *settings, STRLEN *consumed, SV **header);
/* Writes a tape, or dies. An error takes more of the native stack than everything else,
 * so it has a frame of its own, which is gone when hooks nest. */
void ice_write_tape(pTHX_ ice_context *ctx, const icecore_stage *stage, const icecore_tape *tape, icecore_bytes *out,
                    size_t *loss_count);

/* Writes one document. `header`: the user header, or NULL. `losses`: receives
 * descriptions of what the format can't express; or NULL. Inline, because most calls
 * have neither. */
PERL_STATIC_INLINE SV *
ice_write_document(pTHX_ const icecore_stage *stage, SV *data, SV *header, const ice_write_settings *settings,
                   AV *losses)
{
    ice_context *ctx = ice_take_context(aTHX);
    icecore_tape tape;
    icecore_bytes out;
    size_t loss_count = 0, index;
    SV *result;
    if (header)
        ice_walk_header(aTHX_ ctx, &tape, header, data, settings);
    else
        ice_walk(aTHX_ ctx, &tape, data, settings, stage);
    ice_write_tape(aTHX_ ctx, stage, &tape, &out, losses ? &loss_count : NULL);
    result = newSVpvn((const char *)out.bytes, out.len);
    for (index = 0; index < loss_count; index++)
        if (icecore_loss(ctx->pooled.engine, index, &out) == ICECORE_OK)
            av_push(losses, newSVpvn_utf8((const char *)out.bytes, out.len, 1));
    return result;
}

/* Reads options `NAME => VALUE, ...` from perl's stack, from index `at` on. This may
 * call perl code (overloading, ties), which may move the stack. `format`: receives the
 * option of that name; NULL: there is no such option. */
void ice_read_options(pTHX_ ice_read_settings *settings, SV **format, I32 stack_index, I32 count);
/* Sets Storable's `flags`: 2 allows blessing, 4 allows ties. */
void ice_set_flags(ice_read_settings *settings, IV flags);

/* Adds an option with a quoted text to a stage. */
void ice_add_text_option(pTHX_ SV *spec, const char *name, SV *value);

#endif
