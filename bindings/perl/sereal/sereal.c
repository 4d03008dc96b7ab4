/* Encodes and decodes Sereal's documents, with an object or without one. */
#include "sereal/settings.h"
#include "core/documents.h"

#define MY_CXT_KEY "Icecore::sereal" XS_VERSION
typedef struct {
    ice_sereal_encoder encoder; /* for calls without options; initialized when it is first needed */
    ice_sereal_decoder decoder; /* for calls without options; initialized when it is first needed */
    HV *encoder_stash, *decoder_stash;
} my_cxt_t;
START_MY_CXT

static void
init_state(pTHX_ my_cxt_t *cxt)
{
    Zero(cxt, 1, my_cxt_t);
    cxt->encoder_stash = gv_stashpvs("Icecore::Sereal::Encoder", GV_ADD);
    cxt->decoder_stash = gv_stashpvs("Icecore::Sereal::Decoder", GV_ADD);
}

void
ice_sereal_boot(pTHX)
{
    MY_CXT_INIT;
    init_state(aTHX_ & MY_CXT);
}

/* The stages belong to the interpreter that was cloned. */
void
ice_sereal_clone(pTHX)
{
    MY_CXT_CLONE;
    init_state(aTHX_ & MY_CXT);
}

/* ---- encoding ---------------------------------------------------------- */

/* Encodes a value, and a header unless it is NULL or undef. */
PERL_STATIC_INLINE SV *
encode(pTHX_ const ice_sereal_encoder *enc, SV *data, SV *header)
{
    SV *result;
    if (header) {
        SvGETMAGIC(header);
        if (!SvOK(header))
            header = NULL;
        else if (enc->settings.sereal_protocol == 1)
            croak("Cannot serialize user header data in Sereal protocol V1 mode!");
    }
    ENTER;
    result = ice_write_document(aTHX_ enc->stage, data, header, &enc->settings, NULL);
    LEAVE;
    return result;
}

SV *
ice_sereal_encode(pTHX_ SV *data, SV *header, SV *options)
{
    dMY_CXT;
    HV *hv = isr_options_hash(aTHX_ options);
    ice_sereal_encoder enc;
    SV *result;
    if (!hv) {
        if (UNLIKELY(!MY_CXT.encoder.stage))
            isr_make_encoder(aTHX_ & MY_CXT.encoder, NULL);
        return encode(aTHX_ & MY_CXT.encoder, data, header);
    }
    ENTER;
    Zero(&enc, 1, ice_sereal_encoder);
    SAVEDESTRUCTOR_X(isr_clear_encoder, &enc);
    isr_make_encoder(aTHX_ & enc, hv);
    result = encode(aTHX_ & enc, data, header);
    LEAVE;
    return result;
}

/* ---- decoding ---------------------------------------------------------- */

/* Decodes the user header alone: builds a document whose body is the header. Returns a mortal. */
static SV *
decode_header(pTHX_ ice_sereal_decoder *dec, const char *bytes, STRLEN len)
{
    const icecore_sereal_header found = icecore_sereal_find_header((const uint8_t *)bytes, len);
    STRLEN consumed;
    SV *document, *header = NULL;
    dec->consumed = 0;
    if (!found.user_header) {
        /* The document has no header, or it is malformed. Reading it reports the error. */
        SvREFCNT_dec(ice_read_document(aTHX_ dec->stage, bytes, len, &dec->settings, &consumed, &header));
        return header ? header : &PL_sv_undef;
    }
    /* The new document has the magic number, the protocol without a compression, an empty suffix
     * (a length of 0), and the header as its body. */
    document = sv_2mortal(newSVpvn(bytes, 4));
    sv_catpvf(document, "%c%c", bytes[4] & 15, 0);
    sv_catpvn(document, bytes + found.user_header, found.body - found.user_header);
    return sv_2mortal(
        ice_read_document(aTHX_ dec->stage, SvPVX(document), SvCUR(document), &dec->settings, &consumed, NULL));
}

/* Assigns the result to the variable that the caller passed for it. Returns that variable. */
static SV *
assign_result(pTHX_ SV *target, SV *result, const ice_read_settings *settings)
{
    if (result != target) {
        sv_2mortal(result);
        sv_setsv(target, result);
        SvSETMAGIC(target);
        if (settings->readonly || (settings->readonly_scalars && !SvROK(target)))
            SvREADONLY_on(target);
        SvREFCNT_inc_simple_void_NN(target);
    }
    return target;
}

/* Removes the first bytes of a string. */
static void
remove_front(pTHX_ SV *source, STRLEN consumed)
{
    if (SvUTF8(source))
        sv_utf8_downgrade(source, FALSE);
    SvPV_force_nolen(source);
    if (consumed <= SvCUR(source))
        sv_chop(source, SvPVX(source) + consumed);
}

/* Decodes the document at `offset`, see ice_sereal_decode. An incremental decoder removes the bytes
 * of the document. */
static SV *
decode(pTHX_ ice_sereal_decoder *dec, SV *source, UV offset, int parts, SV *target, SV **header)
{
    STRLEN len, consumed = 0, body = 0;
    const char *bytes;
    const ice_read_settings *settings = &dec->settings;
    ice_read_settings settings_with_target;
    SV *result;
    if (SvROK(source))
        croak("We can't decode a reference as Sereal!");
    bytes = ice_frozen_bytes(aTHX_ source, &len);
    if (offset > len)
        croak("Sereal: Error: Start offset is beyond input string length");
    bytes += offset;
    len -= offset;
    ENTER;
    if (parts == ICE_HEADER) {
        *header = decode_header(aTHX_ dec, bytes, len);
        LEAVE;
        return NULL;
    }
    if (target) {
        settings_with_target = dec->settings;
        settings_with_target.result_variable = target;
        settings = &settings_with_target;
    }
    if (UNLIKELY(dec->refuse_objects) && parts == ICE_BODY)
        body = icecore_sereal_find_header((const uint8_t *)bytes, len).body;
    if (UNLIKELY(body)) {
        /* refuse_objects must not refuse objects in a header that is not requested. So a document
         * without the header is read: its first 5 bytes, an empty suffix, and the body. */
        SV *document = sv_2mortal(newSVpvn(bytes, 5));
        sv_catpvn(document, "", 1);
        sv_catpvn(document, bytes + body, len - body);
        result = ice_read_document(aTHX_ dec->stage, SvPVX(document), SvCUR(document), settings, &consumed, NULL);
        /* 6 bytes precede the body in the new document, and `body` bytes in the caller's. */
        consumed += body - 6;
    } else
        result =
            ice_read_document(aTHX_ dec->stage, bytes, len, settings, &consumed, parts == ICE_BODY ? NULL : header);
    LEAVE;
    dec->consumed = consumed;
    if (target)
        result = assign_result(aTHX_ target, result, settings);
    if (dec->incremental && offset == 0) {
        if (SvREADONLY(source)) {
            SvREFCNT_dec(result);
            croak("Icecore: incremental decoding removes the bytes, but they are read-only");
        }
        remove_front(aTHX_ source, consumed);
    }
    return result;
}

SV *
ice_sereal_decode(pTHX_ SV *bytes, SV *options, int parts, SV *target, SV **header)
{
    dMY_CXT;
    HV *hv = isr_options_hash(aTHX_ options);
    ice_sereal_decoder dec;
    SV *result;
    if (!hv) {
        if (UNLIKELY(!MY_CXT.decoder.stage))
            isr_make_decoder(aTHX_ & MY_CXT.decoder, NULL);
        return decode(aTHX_ & MY_CXT.decoder, bytes, 0, parts, target, header);
    }
    ENTER;
    Zero(&dec, 1, ice_sereal_decoder);
    SAVEDESTRUCTOR_X(isr_clear_decoder, &dec);
    isr_make_decoder(aTHX_ & dec, hv);
    result = decode(aTHX_ & dec, bytes, 0, parts, target, header);
    LEAVE;
    return result;
}

IV
ice_looks_like_sereal(pTHX_ SV *sv)
{
    STRLEN len;
    const char *bytes;
    SvGETMAGIC(sv);
    if (!SvOK(sv) || SvROK(sv))
        return -1;
    bytes = SvPV_nomg(sv, len);
    return len < 7 ? -1 : icecore_sereal_find_header((const uint8_t *)bytes, len).protocol;
}

/* Destructors of objects may still run after this. They create again what they need. */
void
ice_sereal_end(pTHX)
{
    dMY_CXT;
    isr_clear_encoder(aTHX_ & MY_CXT.encoder);
    isr_clear_decoder(aTHX_ & MY_CXT.decoder);
}

/* ---- objects ----------------------------------------------------------- */

/* Creates an object: a reference to the address of its encoder or decoder. */
static SV *
object_new(pTHX_ SV *class, void *address)
{
    return sv_setref_pv(newSV(0), SvROK(class) ? sv_reftype(SvRV(class), TRUE) : SvPV_nolen(class), address);
}

/* Returns the address in an object. Dies if it is not an object of the class, or was destroyed. */
PERL_STATIC_INLINE void *
address_of(pTHX_ SV *self, HV *stash, const char *class)
{
    if (!(LIKELY(SvROK(self) && SvOBJECT(SvRV(self)))
          && (LIKELY(SvSTASH(SvRV(self)) == stash) || sv_derived_from(self, class)) && SvIOK(SvRV(self))
          && SvIVX(SvRV(self))))
        croak("Icecore: this is not an %s", class);
    return INT2PTR(void *, SvIVX(SvRV(self)));
}

/* Frees the encoder or decoder of an object, and sets its address to 0. */
static void
object_destroy(pTHX_ SV *self, void (*clear)(pTHX_ void *data))
{
    void *address;
    if (!SvROK(self) || !SvIOK(SvRV(self)))
        return;
    address = INT2PTR(void *, SvIVX(SvRV(self)));
    if (!address)
        return;
    clear(aTHX_ address);
    Safefree(address);
    SvREADONLY_off(SvRV(self));
    sv_setiv(SvRV(self), 0);
}

/* These functions return the encoder or the decoder of an object. */
static ice_sereal_encoder *
encoder_of(pTHX_ SV *self)
{
    dMY_CXT;
    return (ice_sereal_encoder *)address_of(aTHX_ self, MY_CXT.encoder_stash, "Icecore::Sereal::Encoder");
}

static ice_sereal_decoder *
decoder_of(pTHX_ SV *self)
{
    dMY_CXT;
    return (ice_sereal_decoder *)address_of(aTHX_ self, MY_CXT.decoder_stash, "Icecore::Sereal::Decoder");
}

SV *
ice_encoder_new(pTHX_ SV *class, SV *options)
{
    HV *hv = isr_options_hash(aTHX_ options);
    ice_sereal_encoder contents, *enc;
    SV *object;
    Zero(&contents, 1, ice_sereal_encoder);
    ENTER;
    SAVEDESTRUCTOR_X(isr_clear_encoder, &contents);
    isr_make_encoder(aTHX_ & contents, hv);
    /* If an option is invalid, the destructor frees `contents`. Now `enc` owns what `contents` has,
     * so the destructor must find nothing. */
    Newx(enc, 1, ice_sereal_encoder);
    *enc = contents;
    Zero(&contents, 1, ice_sereal_encoder);
    LEAVE;
    object = object_new(aTHX_ class, enc);
    enc->settings.owner = SvRV(object);
    return object;
}

SV *
ice_encoder_encode(pTHX_ SV *self, SV *data, SV *header)
{
    return encode(aTHX_ encoder_of(aTHX_ self), data, header);
}

U32
ice_encoder_flags(pTHX_ SV *self)
{
    const ice_sereal_encoder *enc = encoder_of(aTHX_ self);
    /* The bits are those of Sereal::Encoder::Constants. */
    return (enc->settings.croak_on_bless ? 1 : 0) | (enc->settings.no_bless ? 2 : 0)
         | (enc->settings.freeze_callbacks ? 4 : 0);
}

void
ice_encoder_destroy(pTHX_ SV *self)
{
    object_destroy(aTHX_ self, isr_clear_encoder);
}

SV *
ice_decoder_new(pTHX_ SV *class, SV *options)
{
    HV *hv = isr_options_hash(aTHX_ options);
    ice_sereal_decoder contents, *dec;
    SV *object;
    Zero(&contents, 1, ice_sereal_decoder);
    ENTER;
    SAVEDESTRUCTOR_X(isr_clear_decoder, &contents);
    isr_make_decoder(aTHX_ & contents, hv);
    /* As in ice_encoder_new, the destructor must find nothing in `contents`. */
    Newx(dec, 1, ice_sereal_decoder);
    *dec = contents;
    Zero(&contents, 1, ice_sereal_decoder);
    LEAVE;
    object = object_new(aTHX_ class, dec);
    dec->settings.owner = SvRV(object);
    return object;
}

SV *
ice_decoder_decode(pTHX_ SV *self, SV *bytes, UV offset, int parts, SV *target, SV **header)
{
    return decode(aTHX_ decoder_of(aTHX_ self), bytes, offset, parts, target, header);
}

bool
ice_decoder_is_incremental(pTHX_ SV *self)
{
    return decoder_of(aTHX_ self)->incremental;
}

UV
ice_decoder_consumed(pTHX_ SV *self)
{
    return decoder_of(aTHX_ self)->consumed;
}

void
ice_decoder_destroy(pTHX_ SV *self)
{
    object_destroy(aTHX_ self, isr_clear_decoder);
}
