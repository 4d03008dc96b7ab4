/* Sereal: encoders, decoders and what their options say. */
#include "interface.h"

typedef struct {
    icecore_stage *stage;
    ice_write_settings set;
} encoder;

typedef struct {
    icecore_stage *stage;
    ice_read_settings set;
    SV *classes;
    bool incremental;
    bool refuse_objects;
    STRLEN consumed;
} decoder;

#define MY_CXT_KEY "Icecore::sereal" XS_VERSION
typedef struct {
    encoder encoder; /* for calls without options; made when it is needed */
    decoder decoder;
    HV *encoder_stash, *decoder_stash;
} my_cxt_t;
START_MY_CXT

static void
start(pTHX_ my_cxt_t *cxt)
{
    Zero(cxt, 1, my_cxt_t);
    cxt->encoder_stash = gv_stashpvs("Icecore::Sereal::Encoder", GV_ADD);
    cxt->decoder_stash = gv_stashpvs("Icecore::Sereal::Decoder", GV_ADD);
}

void
ice_sereal_boot(pTHX)
{
    MY_CXT_INIT;
    start(aTHX_ & MY_CXT);
}

/* The stages belong to the interpreter that was cloned. */
void
ice_sereal_clone(pTHX)
{
    MY_CXT_CLONE;
    start(aTHX_ & MY_CXT);
}

/* ---- options ----------------------------------------------------------- */

static HV *
options_of(pTHX_ SV *options)
{
    if (!options)
        return NULL;
    SvGETMAGIC(options);
    if (!SvOK(options))
        return NULL;
    if (!SvROK(options) || SvTYPE(SvRV(options)) != SVt_PVHV)
        croak("Options are not a hash reference");
    return (HV *)SvRV(options);
}

static bool
option(pTHX_ HV *options, const char *name, SV **value)
{
    SV **found = options ? hv_fetch(options, name, (I32)strlen(name), 0) : NULL;
    if (!found)
        return FALSE;
    SvGETMAGIC(*found);
    *value = *found;
    return SvOK(*found);
}

static bool
option_is_set(pTHX_ HV *options, const char *name)
{
    SV *value;
    return option(aTHX_ options, name, &value) && SvTRUE(value);
}

/* The hash that an option refers to, or NULL. */
static HV *
option_hash(pTHX_ HV *options, const char *name)
{
    SV *value;
    if (!option(aTHX_ options, name, &value))
        return NULL;
    if (!SvROK(value) || SvTYPE(SvRV(value)) != SVt_PVHV)
        croak("'%s' is no hash reference", name);
    return (HV *)SvREFCNT_inc_simple_NN(SvRV(value));
}

/* ---- encoders ---------------------------------------------------------- */

static void
clear_encoder(pTHX_ void *data)
{
    encoder *enc = (encoder *)data;
    icecore_stage_free(enc->stage);
    SvREFCNT_dec((SV *)enc->set.freeze_allow);
    Zero(enc, 1, encoder);
}

static U8
protocol(pTHX_ HV *options)
{
    SV *value;
    IV version;
    if (!option(aTHX_ options, "protocol_version", &value))
        return option_is_set(aTHX_ options, "use_protocol_v1") ? 1 : 5;
    version = SvIV(value);
    if (version < 1 || version > 5)
        croak("Specified Sereal protocol version ('%" IVdf "') is invalid", version);
    return (U8)version;
}

static void
add_compression(pTHX_ SV *spec, HV *options, U8 version)
{
    SV *value;
    IV compress = 0;
    if (option(aTHX_ options, "compress", &value))
        compress = SvIV(value);
    else if (option_is_set(aTHX_ options, "snappy") || option_is_set(aTHX_ options, "snappy_incr"))
        compress = 1;
    switch (compress) {
    case 0:
        break;
    case 1:
        sv_catpv(spec, version == 1 && !option_is_set(aTHX_ options, "snappy_incr") ? ",compress=snappy_to_end"
                                                                                   : ",compress=snappy");
        break;
    case 2:
        if (version < 3)
            croak("Zlib compression was introduced in protocol version 3 and you are asking for only version %d", version);
        sv_catpvs(spec, ",compress=zlib");
        break;
    case 3:
        if (version < 4)
            croak("Zstd compression was introduced in protocol version 4 and you are asking for only version %d", version);
        sv_catpvs(spec, ",compress=zstd");
        break;
    default:
        croak("Invalid Sereal compression format");
    }
    if (compress >= 2 && option(aTHX_ options, "compress_level", &value)) {
        IV level = SvIV(value);
        if (level < 1 || level > (compress == 2 ? 9 : 22))
            croak("Invalid compression level '%" IVdf "'", level);
        sv_catpvf(spec, ",level=%d", (int)level);
    }
    if (option(aTHX_ options, "compress_threshold", &value) || option(aTHX_ options, "snappy_threshold", &value))
        sv_catpvf(spec, ",threshold=%" UVuf, SvIV(value) < 0 ? (UV)0 : (UV)SvIV(value));
}

/* What makes equal data equal bytes. */
static void
add_order(pTHX_ SV *spec, HV *options)
{
    SV *value;
    bool refs = option_is_set(aTHX_ options, "canonical");
    IV sort = refs;
    if (option(aTHX_ options, "sort_keys", &value))
        sort = SvIV(value);
    if (sort)
        sv_catpvf(spec, ",sort_keys=%d", sort < 0 || sort > 3 ? 1 : (int)sort);
    if (option(aTHX_ options, "canonical_refs", &value))
        refs = cBOOL(SvTRUE(value));
    if (refs)
        sv_catpvs(spec, ",canonical_refs");
}

/* Makes an encoder of what is all zero; without options, the usual one. */
static void
make_encoder(pTHX_ encoder *enc, HV *options)
{
    const char *const flags[] = { "no_bless_objects",       "no_shared_hashkeys",  "dedupe_strings",
                                  "aliased_dedupe_strings", "use_standard_double", NULL };
    const char *const *flag;
    SV *value, *spec = sv_2mortal(newSVpvs("sereal:no_spelling"));
    ice_write_settings *set = &enc->set;

    set->profile = ICE_SEREAL;
    set->max_depth = 10000;
    set->protocol = protocol(aTHX_ options);
    sv_catpvf(spec, ",protocol=%d", set->protocol);
    add_compression(aTHX_ spec, options, set->protocol);
    add_order(aTHX_ spec, options);
    for (flag = flags; *flag; flag++)
        if (option_is_set(aTHX_ options, *flag))
            sv_catpvf(spec, ",%s", *flag);

    set->croak_on_bless = option_is_set(aTHX_ options, "croak_on_bless");
    set->no_bless = option_is_set(aTHX_ options, "no_bless_objects");
    set->freeze_callbacks = option_is_set(aTHX_ options, "freeze_callbacks");
    set->undef_unknown = option_is_set(aTHX_ options, "undef_unknown");
    set->stringify_unknown = option_is_set(aTHX_ options, "stringify_unknown");
    if (set->undef_unknown && set->stringify_unknown)
        croak("'undef_unknown' and 'stringify_unknown' options are mutually exclusive");
    if (set->no_bless && set->freeze_callbacks)
        croak("'no_bless_objects' and 'freeze_callback' options are mutually exclusive");
    if (option(aTHX_ options, "warn_unknown", &value)) {
        IV warn_unknown = SvIV(value);
        set->warn_unknown = warn_unknown < 0 ? 2 : warn_unknown > 0 ? 1 : 0;
    }
    if (option(aTHX_ options, "max_recursion_depth", &value))
        set->max_depth = SvUV(value);
    set->freeze_allow = option_hash(aTHX_ options, "freeze_allow_classes");
    enc->stage = ice_writer_new(aTHX_ SvPVX(spec), SvCUR(spec));
}

PERL_STATIC_INLINE SV *
encode(pTHX_ const encoder *enc, SV *data, SV *header)
{
    SV *result;
    if (header) {
        SvGETMAGIC(header);
        if (!SvOK(header))
            header = NULL;
        else if (enc->set.protocol == 1)
            croak("Cannot serialize user header data in Sereal protocol V1 mode!");
    }
    ENTER;
    result = ice_write_document(aTHX_ enc->stage, data, header, &enc->set, NULL);
    LEAVE;
    return result;
}

SV *
ice_sereal_encode(pTHX_ SV *data, SV *header, SV *options)
{
    dMY_CXT;
    HV *hv = options_of(aTHX_ options);
    encoder enc;
    SV *result;
    if (!hv) {
        if (UNLIKELY(!MY_CXT.encoder.stage))
            make_encoder(aTHX_ & MY_CXT.encoder, NULL);
        return encode(aTHX_ & MY_CXT.encoder, data, header);
    }
    ENTER;
    Zero(&enc, 1, encoder);
    SAVEDESTRUCTOR_X(clear_encoder, &enc);
    make_encoder(aTHX_ & enc, hv);
    result = encode(aTHX_ & enc, data, header);
    LEAVE;
    return result;
}

/* ---- decoders ---------------------------------------------------------- */

static void
clear_decoder(pTHX_ void *data)
{
    decoder *dec = (decoder *)data;
    icecore_stage_free(dec->stage);
    SvREFCNT_dec(dec->classes);
    SvREFCNT_dec((SV *)dec->set.thaw_allow);
    SvREFCNT_dec((SV *)dec->set.aliases);
    Zero(dec, 1, decoder);
}

/* What the engine has to know. */
static SV *
reader_spec(pTHX_ HV *options)
{
    const char *const flags[] = { "refuse_snappy", "refuse_zlib", "refuse_zstd", "refuse_objects", "validate_utf8", NULL };
    const char *const numbers[] = { "max_num_hash_entries", "max_num_array_entries", NULL };
    const char *const *name;
    SV *value, *spec = sv_2mortal(newSVpvs("sereal"));
    char joint = ':';
    for (name = flags; *name; name++)
        if (option_is_set(aTHX_ options, *name)) {
            sv_catpvf(spec, "%c%s", joint, *name);
            joint = ',';
        }
    for (name = numbers; *name; name++)
        if (option(aTHX_ options, *name, &value)) {
            sv_catpvf(spec, "%c%s=%" UVuf, joint, *name, SvUV(value));
            joint = ',';
        }
    return spec;
}

/* Makes a decoder of what is all zero; without options, the usual one. */
static void
make_decoder(pTHX_ decoder *dec, HV *options)
{
    SV *value, *spec = reader_spec(aTHX_ options);
    ice_read_settings *set = &dec->set;

    set->profile = ICE_SEREAL;
    set->tie_ok = TRUE;
    set->bless_ok = !option_is_set(aTHX_ options, "no_bless_objects");
    dec->refuse_objects = option_is_set(aTHX_ options, "refuse_objects");
    set->no_thaw = option_is_set(aTHX_ options, "no_thaw_objects");
    set->undef_own = option_is_set(aTHX_ options, "use_undef");
    set->readonly = option_is_set(aTHX_ options, "set_readonly");
    set->readonly_scalars = option_is_set(aTHX_ options, "set_readonly_scalars");
    dec->incremental = option_is_set(aTHX_ options, "incremental");
    if (option(aTHX_ options, "classes", &value)) {
        dec->classes = newSVsv(value);
        set->classes = dec->classes;
    }
    set->thaw_allow = option_hash(aTHX_ options, "thaw_allow_classes");
    if (option(aTHX_ options, "alias_varint_under", &value) && SvTRUE(value))
        set->alias_under = SvIV(value) >= 0 && SvIV(value) < 16 ? 16 : SvIV(value);
    else if (option_is_set(aTHX_ options, "alias_smallint"))
        set->alias_under = 16;
    if (set->alias_under)
        set->aliases = newAV();
    dec->stage = ice_reader_new(aTHX_ SvPVX(spec), SvCUR(spec));
    if (option(aTHX_ options, "max_recursion_depth", &value))
        ice_stage_limit(aTHX_ dec->stage, "depth", SvUV(value));
    if (option(aTHX_ options, "max_string_length", &value) && SvUV(value))
        ice_stage_limit(aTHX_ dec->stage, "string", SvUV(value));
    if (option(aTHX_ options, "max_uncompressed_size", &value) && SvUV(value))
        ice_stage_limit(aTHX_ dec->stage, "decompressed", SvUV(value));
}

/* Where the suffix of the header ends, and where in it a user header stands; FALSE
 * if there is none. */
static bool
find_header(const U8 *bytes, STRLEN len, STRLEN *start, STRLEN *end)
{
    UV size = 0;
    STRLEN at = 5;
    unsigned shift = 0;
    if (len < 7 || (bytes[4] & 15) < 2)
        return FALSE;
    do {
        if (at >= len || shift > 28)
            return FALSE;
        size |= (UV)(bytes[at] & 0x7F) << shift;
        shift += 7;
    } while (bytes[at++] & 0x80);
    if (size < 2 || size > len - at || !(bytes[at] & 1))
        return FALSE;
    *start = at + 1;
    *end = at + size;
    return TRUE;
}

/* The user header alone: what it would be as a document. */
static SV *
decode_header(pTHX_ decoder *dec, const char *bytes, STRLEN len)
{
    STRLEN start, end, consumed;
    SV *document, *header = NULL;
    dec->consumed = 0;
    if (!find_header((const U8 *)bytes, len, &start, &end)) {
        /* There is none, or it is broken. */
        SvREFCNT_dec(ice_read_document(aTHX_ dec->stage, bytes, len, &dec->set, &consumed, &header));
        return header ? header : &PL_sv_undef;
    }
    document = sv_2mortal(newSVpvn(bytes, 4));
    sv_catpvf(document, "%c%c", bytes[4] & 15, 0);
    sv_catpvn(document, bytes + start, end - start);
    return sv_2mortal(ice_read_document(aTHX_ dec->stage, SvPVX(document), SvCUR(document), &dec->set, &consumed, NULL));
}

/* Puts what was decoded into the variable that was given for it. */
static SV *
put_into(pTHX_ SV *into, SV *result, const ice_read_settings *set)
{
    if (result != into) {
        sv_2mortal(result);
        sv_setsv(into, result);
        SvSETMAGIC(into);
        if (set->readonly || (set->readonly_scalars && !SvROK(into)))
            SvREADONLY_on(into);
        SvREFCNT_inc_simple_void_NN(into);
    }
    return into;
}

static void
chop_off(pTHX_ SV *source, STRLEN consumed)
{
    if (SvUTF8(source))
        sv_utf8_downgrade(source, FALSE);
    SvPV_force_nolen(source);
    if (consumed <= SvCUR(source))
        sv_chop(source, SvPVX(source) + consumed);
}

/* Decodes what is at `at`. With `into` the body is put there. Chops the bytes off,
 * if the decoder is incremental. */
static SV *
decode(pTHX_ decoder *dec, SV *source, UV at, int what, SV *into, SV **header)
{
    STRLEN len, consumed = 0, start, end;
    const char *bytes = ice_bytes(aTHX_ source, &len);
    const ice_read_settings *set = &dec->set;
    ice_read_settings with_target;
    SV *result;
    if (at > len)
        croak("Icecore: the offset is behind the end of the bytes");
    bytes += at;
    len -= at;
    ENTER;
    if (what == ICE_HEADER) {
        *header = decode_header(aTHX_ dec, bytes, len);
        LEAVE;
        return NULL;
    }
    if (into) {
        with_target = dec->set;
        with_target.into = into;
        set = &with_target;
    }
    if (UNLIKELY(dec->refuse_objects) && what == ICE_BODY && find_header((const U8 *)bytes, len, &start, &end)) {
        /* Who reads the body alone does not mind what is in the header. */
        SV *document = sv_2mortal(newSVpvn(bytes, 5));
        sv_catpvn(document, "", 1);
        sv_catpvn(document, bytes + end, len - end);
        result = ice_read_document(aTHX_ dec->stage, SvPVX(document), SvCUR(document), set, &consumed, NULL);
        consumed += end - 6;
    } else
        result = ice_read_document(aTHX_ dec->stage, bytes, len, set, &consumed, what == ICE_BODY ? NULL : header);
    LEAVE;
    dec->consumed = consumed;
    if (into)
        result = put_into(aTHX_ into, result, set);
    if (dec->incremental && at == 0) {
        if (SvREADONLY(source)) {
            SvREFCNT_dec(result);
            croak("Icecore: incremental decoding chops the bytes off, but they are read-only");
        }
        chop_off(aTHX_ source, consumed);
    }
    return result;
}

SV *
ice_sereal_decode(pTHX_ SV *bytes, SV *options, int what, SV *into, SV **header)
{
    dMY_CXT;
    HV *hv = options_of(aTHX_ options);
    decoder dec;
    SV *result;
    if (!hv) {
        if (UNLIKELY(!MY_CXT.decoder.stage))
            make_decoder(aTHX_ & MY_CXT.decoder, NULL);
        return decode(aTHX_ & MY_CXT.decoder, bytes, 0, what, into, header);
    }
    ENTER;
    Zero(&dec, 1, decoder);
    SAVEDESTRUCTOR_X(clear_decoder, &dec);
    make_decoder(aTHX_ & dec, hv);
    result = decode(aTHX_ & dec, bytes, 0, what, into, header);
    LEAVE;
    return result;
}

/* Whether bytes begin as a Sereal document: its protocol, or -1. */
IV
ice_looks_like_sereal(pTHX_ SV *sv)
{
    STRLEN len;
    const U8 *bytes;
    IV version;
    SvGETMAGIC(sv);
    if (!SvOK(sv) || SvROK(sv))
        return -1;
    bytes = (const U8 *)SvPV_nomg(sv, len);
    if (len < 7)
        return -1;
    version = bytes[4] & 15;
    if (memEQ(bytes, "=srl", 4))
        return version == 1 || version == 2 ? version : -1;
    if (memEQ(bytes, "=\xF3rl", 4))
        return version >= 3 ? version : -1;
    if (memEQ(bytes, "=\xC3\xB3r", 4))
        return 0;
    return -1;
}

/* Destructors of objects may still come: they make what they need again. */
void
ice_sereal_end(pTHX)
{
    dMY_CXT;
    clear_encoder(aTHX_ & MY_CXT.encoder);
    clear_decoder(aTHX_ & MY_CXT.decoder);
}

/* ---- objects ----------------------------------------------------------- */

/* An object refers to a number: the address of its encoder or decoder. */
static SV *
object_new(pTHX_ SV *class, void *address)
{
    return sv_setref_pv(newSV(0), SvROK(class) ? sv_reftype(SvRV(class), TRUE) : SvPV_nolen(class), address);
}

PERL_STATIC_INLINE void *
address_of(pTHX_ SV *self, HV *stash, const char *class)
{
    if (!(LIKELY(SvROK(self) && SvOBJECT(SvRV(self)))
          && (LIKELY(SvSTASH(SvRV(self)) == stash) || sv_derived_from(self, class)) && SvIOK(SvRV(self))
          && SvIVX(SvRV(self))))
        croak("Icecore: this is no %s", class);
    return INT2PTR(void *, SvIVX(SvRV(self)));
}

/* Takes the address out of an object that goes. */
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

static encoder *
encoder_of(pTHX_ SV *self)
{
    dMY_CXT;
    return (encoder *)address_of(aTHX_ self, MY_CXT.encoder_stash, "Icecore::Sereal::Encoder");
}

static decoder *
decoder_of(pTHX_ SV *self)
{
    dMY_CXT;
    return (decoder *)address_of(aTHX_ self, MY_CXT.decoder_stash, "Icecore::Sereal::Decoder");
}

SV *
ice_encoder_new(pTHX_ SV *class, SV *options)
{
    HV *hv = options_of(aTHX_ options);
    encoder made, *enc;
    SV *object;
    Zero(&made, 1, encoder);
    ENTER;
    SAVEDESTRUCTOR_X(clear_encoder, &made);
    make_encoder(aTHX_ & made, hv);
    Newx(enc, 1, encoder);
    *enc = made;
    Zero(&made, 1, encoder);
    LEAVE;
    object = object_new(aTHX_ class, enc);
    enc->set.owner = SvRV(object);
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
    const encoder *enc = encoder_of(aTHX_ self);
    return (enc->set.croak_on_bless ? 1 : 0) | (enc->set.no_bless ? 2 : 0) | (enc->set.freeze_callbacks ? 4 : 0);
}

void
ice_encoder_destroy(pTHX_ SV *self)
{
    object_destroy(aTHX_ self, clear_encoder);
}

SV *
ice_decoder_new(pTHX_ SV *class, SV *options)
{
    HV *hv = options_of(aTHX_ options);
    decoder made, *dec;
    SV *object;
    Zero(&made, 1, decoder);
    ENTER;
    SAVEDESTRUCTOR_X(clear_decoder, &made);
    make_decoder(aTHX_ & made, hv);
    Newx(dec, 1, decoder);
    *dec = made;
    Zero(&made, 1, decoder);
    LEAVE;
    object = object_new(aTHX_ class, dec);
    dec->set.owner = SvRV(object);
    return object;
}

SV *
ice_decoder_decode(pTHX_ SV *self, SV *bytes, UV at, int what, SV *into, SV **header)
{
    return decode(aTHX_ decoder_of(aTHX_ self), bytes, at, what, into, header);
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
    object_destroy(aTHX_ self, clear_decoder);
}
