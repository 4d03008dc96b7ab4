/* What Icecore.xs calls, and what that shares.
 *
 * Options stand on perl's stack, from the index `at` on: what reads them may call
 * perl code (overloading, ties), which may move the stack. */
#ifndef ICECORE_INTERFACE_H
#define ICECORE_INTERFACE_H

#include "icecore_perl.h"

/* ---- documents.c ------------------------------------------------------- */

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
/* Writes one. `header`: the user header, or NULL. `losses`: gets what the format
 * can't say, or NULL. Inline, because most calls have neither. */
PERL_STATIC_INLINE SV *
ice_write_document(pTHX_ const icecore_stage *stage, SV *data, SV *header, const ice_write_settings *set, AV *losses)
{
    ice_context *ctx = ice_checkout(aTHX);
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    size_t lost = 0, index;
    SV *result;
    if (header)
        ice_walk_header(aTHX_ ctx, &tape, header, data, set);
    else
        ice_walk(aTHX_ ctx, &tape, data, set, stage);
    if (icecore_write(ctx->engine, stage, &tape, &out, losses ? &lost : NULL, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    result = newSVpvn((const char *)out.bytes, out.len);
    for (index = 0; index < lost; index++)
        if (icecore_loss(ctx->engine, index, &out) == ICECORE_OK)
            av_push(losses, newSVpvn_utf8((const char *)out.bytes, out.len, 1));
    return result;
}

SV *ice_decode(pTHX_ SV *bytes, I32 at, I32 count);
SV *ice_encode(pTHX_ SV *data, SV *format, I32 at, I32 count);
/* The classes that a document names: a mortal list of hashes. */
AV *ice_classes(pTHX_ SV *bytes, SV *format);

/* ---- storable.c -------------------------------------------------------- */

enum { ICE_MEMORY, ICE_MEMORY_NETORDER, ICE_FILE, ICE_FILE_NETORDER };
enum { ICE_IS_STORING, ICE_IS_RETRIEVING, ICE_LAST_NETORDER };

void ice_storable_boot(pTHX);
void ice_storable_clone(pTHX);
void ice_storable_end(pTHX);

/* What the variables of Icecore::Storable say. */
void ice_storable_write_settings(pTHX_ ice_write_settings *set);
void ice_storable_read_settings(pTHX_ ice_read_settings *set);
/* Reads `NAME => VALUE, ...`. `format`: where the option of that name goes; NULL:
 * there is none. */
void ice_read_options(pTHX_ ice_read_settings *set, SV **format, I32 at, I32 count);

SV *ice_freeze(pTHX_ SV *ref, int how);
SV *ice_thaw(pTHX_ SV *frozen, I32 at, I32 count);
SV *ice_dclone(pTHX_ SV *ref);
bool ice_storable_state(pTHX_ int what);
/* How many bytes the document takes; -1, if there are too few. */
IV ice_probe(pTHX_ SV *bytes);
/* Appends what a handle has, without waiting for more than the first byte of it.
 * Says whether that filled its buffer; NULL at the end. */
SV *ice_more(pTHX_ PerlIO *handle, SV *bytes);

/* ---- json.c, json_incr.c ----------------------------------------------- */

enum { ICE_JSON_DEPTH, ICE_JSON_SIZE, ICE_JSON_INDENT, ICE_JSON_INFNAN };

void ice_json_boot(pTHX);
void ice_json_clone(pTHX);
void ice_json_end(pTHX);
void ice_json_booleans(pTHX_ SV *no, SV *yes);

SV *ice_json_new(pTHX_ SV *class);
void ice_json_destroy(pTHX_ SV *self);
void ice_json_set(pTHX_ SV *self, U32 flag, bool on);
bool ice_json_get(pTHX_ SV *self, U32 flag);
/* Sets a number, unless `value` is NULL, and says what it is. */
UV ice_json_number(pTHX_ SV *self, int which, SV *value);
void ice_json_filter(pTHX_ SV *self, SV *code);
void ice_json_single_filter(pTHX_ SV *self, SV *key, SV *code);
void ice_json_boolean_values(pTHX_ SV *self, SV *no, SV *yes);
/* What a boolean becomes, if that was set; or NULL. */
SV *ice_json_boolean(pTHX_ SV *self, bool which);
void ice_json_classes(pTHX_ SV *self, SV *classes);

/* Without `self` those of encode_json and decode_json. `characters`: more behind the
 * text is no error, and it says how long the text was. */
SV *ice_json_encode(pTHX_ SV *self, SV *data);
SV *ice_json_decode(pTHX_ SV *self, SV *text, UV *characters);

void ice_json_append(pTHX_ SV *self, SV *piece);
SV *ice_json_next(pTHX_ SV *self);
SV *ice_json_text(pTHX_ SV *self);
void ice_json_skip(pTHX_ SV *self, bool all);

/* ---- dumper.c ----------------------------------------------------------- */

void ice_dumper_boot(pTHX);
void ice_dumper_clone(pTHX);
void ice_dumper_end(pTHX);

/* One text for all values, a mortal; or, with `texts`, which gets them, one for each. */
SV *ice_dumper_dump(pTHX_ I32 at, I32 count, AV *texts);
SV *ice_dumper_object_dump(pTHX_ SV *self, AV *texts);
SV *ice_dumper_new(pTHX_ SV *class, SV *values, SV *names);
void ice_dumper_destroy(pTHX_ SV *self);
AV *ice_dumper_list(pTHX_ SV *self, bool is_names, SV *list);
SV *ice_dumper_setting(pTHX_ SV *self, int which, SV *value);
/* The value of a text, a mortal; of several, the list of them, and NULL. */
SV *ice_undump(pTHX_ SV *text, I32 at, I32 count, AV **values);

/* ---- operators.c --------------------------------------------------------- */

void ice_operators_boot(pTHX);

/* ---- pack.c, unpack.c --------------------------------------------------- */

enum { ICE_PACK, ICE_UNPACK, ICE_UNPACK_TEXT };

void ice_pack_boot(pTHX);
void ice_pack_clone(pTHX);
void ice_pack_end(pTHX);
const icecore_stage *ice_pack_stage(pTHX_ SV *template, int how);
/* Adds an option with a text to a stage, in the quotes that it takes. */
void ice_add_text(pTHX_ SV *spec, const char *name, SV *value);
SV *ice_pack_list(pTHX_ SV *template, I32 at, I32 count);
SV **ice_unpack_list(pTHX_ SV **sp, SV *template, SV *bytes);

/* ---- sereal.c ---------------------------------------------------------- */

enum { ICE_BODY, ICE_HEADER, ICE_BODY_AND_HEADER };

void ice_sereal_boot(pTHX);
void ice_sereal_clone(pTHX);
void ice_sereal_end(pTHX);

SV *ice_sereal_encode(pTHX_ SV *data, SV *header, SV *options);
SV *ice_sereal_decode(pTHX_ SV *bytes, SV *options, int what, SV *into, SV **header);
IV ice_looks_like_sereal(pTHX_ SV *sv);

SV *ice_encoder_new(pTHX_ SV *class, SV *options);
SV *ice_encoder_encode(pTHX_ SV *self, SV *data, SV *header);
U32 ice_encoder_flags(pTHX_ SV *self);
void ice_encoder_destroy(pTHX_ SV *self);

SV *ice_decoder_new(pTHX_ SV *class, SV *options);
SV *ice_decoder_decode(pTHX_ SV *self, SV *bytes, UV at, int what, SV *into, SV **header);
bool ice_decoder_is_incremental(pTHX_ SV *self);
UV ice_decoder_consumed(pTHX_ SV *self);
void ice_decoder_destroy(pTHX_ SV *self);

#endif
