/* Functions that read or write one document by a stage. */
#ifndef ICECORE_DOCUMENTS_H
#define ICECORE_DOCUMENTS_H
#include "core/icecore_perl.h"

/* Creates a stage from a spec such as `sereal:level=3`. Dies if the spec is wrong. The caller
 * frees it. */
icecore_stage *ice_stage_new(pTHX_ const char *spec, STRLEN len);
/* Creates a stage that writes data of the program, so depth and growth are not limited. */
icecore_stage *ice_writer_new(pTHX_ const char *spec, STRLEN len);
/* Sets a limit of the engine by its name. */
void ice_set_stage_limit(pTHX_ icecore_stage *stage, const char *name, UV value);

/* Returns the bytes of a string. The string may be marked as UTF-8, but must not have characters
 * beyond bytes. */
const char *ice_frozen_bytes(pTHX_ SV *sv, STRLEN *len);

/* Reads one document, and returns its value. If `consumed` is not NULL, bytes after the document
 * are allowed, and it receives the length of the document. If `header` is not NULL, it receives
 * the user header. The context belongs to the scope that the caller has entered, as it does in
 * ice_write_document. */
SV *ice_read_document(pTHX_ const icecore_stage *stage, const char *bytes, STRLEN len,
                      const ice_read_settings *settings, STRLEN *consumed, SV **header);
/* Writes a tape, or dies. This is a function of its own, because an icecore_error is large, and
 * its memory on the native stack is free again before hooks nest. */
void ice_write_tape(pTHX_ ice_context *ctx, const icecore_stage *stage, const icecore_tape *tape, icecore_bytes *out,
                    size_t *loss_count);

/* Writes one document. `header` is the user header, or NULL. If `losses` is not NULL, it receives
 * descriptions of what the format can't express. The function is inline, because most calls
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

/* Reads `count` items of perl's stack, from `stack_index` on, as options `NAME => VALUE, ...`.
 * This may call perl code (overloading, ties), which may move the stack. If `format` is NULL,
 * only the options of `thaw` are allowed. Otherwise all options of `decode` are, and `format`
 * receives the option of that name. */
void ice_read_options(pTHX_ ice_read_settings *settings, SV **format, I32 stack_index, I32 count);
/* Applies the option `flags` of Storable. */
void ice_set_flags(ice_read_settings *settings, IV flags);

/* Adds an option with a quoted text to the spec of a stage. */
void ice_add_text_option(pTHX_ SV *spec, const char *name, SV *value);

#endif
