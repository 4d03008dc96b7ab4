/* One document, read or written by a stage. */
#ifndef ICECORE_DOCUMENTS_H
#define ICECORE_DOCUMENTS_H
#include "core/icecore_perl.h"

icecore_stage *ice_reader_new(pTHX_ const char *spec, STRLEN len);
icecore_stage *ice_writer_new(pTHX_ const char *spec, STRLEN len);
void ice_stage_limit(pTHX_ icecore_stage *stage, const char *name, UV value);

/* The bytes of a string, which may be marked as UTF-8. */
const char *ice_bytes(pTHX_ SV *sv, STRLEN *len);

/* What reads and writes takes a context for as long as the scope that its caller
 * has entered.
 *
 * Reads one document. `consumed`: bytes behind it are no error, and it says how
 * many there were before them. `header`: where the user header goes, or NULL. */
SV *ice_read_document(pTHX_ const icecore_stage *stage, const char *bytes, STRLEN len, const ice_read_settings *set,
                      STRLEN *consumed, SV **header);
/* Writes a tape, or dies. An error takes more of the native stack than all else: so it has a
 * frame of its own, which is gone when hooks call each other. */
void ice_write_tape(pTHX_ ice_context *ctx, const icecore_stage *stage, const icecore_tape *tape, icecore_bytes *out,
                    size_t *lost);

/* Writes one. `header`: the user header, or NULL. `losses`: gets what the format
 * can't say, or NULL. Inline, because most calls have neither. */
PERL_STATIC_INLINE SV *
ice_write_document(pTHX_ const icecore_stage *stage, SV *data, SV *header, const ice_write_settings *set, AV *losses)
{
    ice_context *ctx = ice_checkout(aTHX);
    icecore_tape tape;
    icecore_bytes out;
    size_t lost = 0, index;
    SV *result;
    if (header)
        ice_walk_header(aTHX_ ctx, &tape, header, data, set);
    else
        ice_walk(aTHX_ ctx, &tape, data, set, stage);
    ice_write_tape(aTHX_ ctx, stage, &tape, &out, losses ? &lost : NULL);
    result = newSVpvn((const char *)out.bytes, out.len);
    for (index = 0; index < lost; index++)
        if (icecore_loss(ctx->warm.engine, index, &out) == ICECORE_OK)
            av_push(losses, newSVpvn_utf8((const char *)out.bytes, out.len, 1));
    return result;
}

/* What reads `NAME => VALUE, ...`: options stand on perl's stack, from the index `at`
 * on. What reads them may call perl code (overloading, ties), which may move the stack.
 * `format`: where the option of that name goes; NULL: there is none. */
void ice_read_options(pTHX_ ice_read_settings *set, SV **format, I32 at, I32 count);
/* Storable's `flags`: 2 blesses, 4 ties. */
void ice_set_flags(ice_read_settings *set, IV flags);

/* Adds an option with a text to a stage, in the quotes that it takes. */
void ice_add_text(pTHX_ SV *spec, const char *name, SV *value);

#endif
