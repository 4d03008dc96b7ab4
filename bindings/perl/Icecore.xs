/* What perl sees. */
#include "icecore_perl.h"

void ice_contexts_boot(pTHX);
void ice_contexts_clone(pTHX);
void ice_build_boot(pTHX);

/* ---- stages ------------------------------------------------------------ */

static icecore_stage *
new_stage(pTHX_ const char *spec, STRLEN len)
{
    icecore_error error;
    icecore_stage *stage = icecore_stage_new(spec, len, &error);
    if (!stage)
        croak("Icecore: %s", error.message);
    return stage;
}

static void
set_limit(pTHX_ icecore_stage *stage, const char *name, UV value)
{
    icecore_error error;
    if (icecore_stage_limit(stage, name, strlen(name), value, &error) != ICECORE_OK)
        croak("Icecore: %s", error.message);
}

/* How Storable is written: memory or file, native or network order, canonical or
 * not. */
enum { IS_STORING = 1, IS_RETRIEVING };
enum { NETORDER = 1, FILE_IMAGE = 2, CANONICAL = 4, STORABLE_STAGES = 8 };

#define MY_CXT_KEY "Icecore::settings" XS_VERSION
typedef struct {
    icecore_stage *storable_write[STORABLE_STAGES];
    icecore_stage *storable_read;
    icecore_stage *sereal_write;
    icecore_stage *sereal_read;
    HV *encoder_stash, *decoder_stash;
    GV *canonical, *forgive_me, *deparse, *eval, *flags, *recursion_limit, *accept_future_minor;
    I32 storable_call; /* what goes on: IS_STORING, IS_RETRIEVING or neither */
    bool last_netorder;
} my_cxt_t;
START_MY_CXT

static void
settings_boot(pTHX_ my_cxt_t *cxt)
{
    Zero(cxt, 1, my_cxt_t);
#define VARIABLE(name) gv_fetchpvs("Icecore::Storable::" name, GV_ADD, SVt_PV)
    cxt->encoder_stash = gv_stashpvs("Icecore::Sereal::Encoder", GV_ADD);
    cxt->decoder_stash = gv_stashpvs("Icecore::Sereal::Decoder", GV_ADD);
    cxt->canonical = VARIABLE("canonical");
    cxt->forgive_me = VARIABLE("forgive_me");
    cxt->deparse = VARIABLE("Deparse");
    cxt->eval = VARIABLE("Eval");
    cxt->flags = VARIABLE("flags");
    cxt->recursion_limit = VARIABLE("recursion_limit");
    cxt->accept_future_minor = VARIABLE("accept_future_minor");
#undef VARIABLE
}

static bool
is_set(pTHX_ GV *gv)
{
    SV *sv = gv ? GvSV(gv) : NULL;
    return sv && SvTRUE(sv);
}

/* ---- Storable ---------------------------------------------------------- */

static void
storable_write_settings(pTHX_ my_cxt_t *cxt, ice_write_settings *set)
{
    SV *limit = GvSV(cxt->recursion_limit);
    Zero(set, 1, ice_write_settings);
    set->profile = ICE_STORABLE;
    set->deparse = is_set(aTHX_ cxt->deparse);
    set->forgive = is_set(aTHX_ cxt->forgive_me);
    set->max_depth = limit && SvOK(limit) ? (SvIV(limit) < 0 ? 0 : (UV)SvIV(limit)) : 10000;
}

static SV *
storable_freeze(pTHX_ SV *ref, int how)
{
    dMY_CXT;
    ice_write_settings set;
    ice_context *ctx;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    SV *result;

    SvGETMAGIC(ref);
    if (!SvROK(ref))
        croak("not a reference");
    storable_write_settings(aTHX_ & MY_CXT, &set);
    if (is_set(aTHX_ MY_CXT.canonical))
        how |= CANONICAL;
    if (!MY_CXT.storable_write[how]) {
        SV *spec = sv_2mortal(newSVpvf("storable:%s%s%s", how & FILE_IMAGE ? "file" : "memory",
                                       how & NETORDER ? ",netorder" : "", how & CANONICAL ? ",canonical" : ""));
        icecore_stage *stage = new_stage(aTHX_ SvPVX(spec), SvCUR(spec));
        /* The depth of a tape is known; it needs no limit when it is written. */
        set_limit(aTHX_ stage, "depth", U32_MAX);
        MY_CXT.storable_write[how] = stage;
    }
    ENTER;
    SAVEI32(MY_CXT.storable_call);
    MY_CXT.storable_call = IS_STORING;
    MY_CXT.last_netorder = (how & NETORDER) != 0;
    ctx = ice_checkout(aTHX);
    ice_walk(aTHX_ ctx, &tape, ref, &set);
    if (icecore_write(ctx->engine, MY_CXT.storable_write[how], &tape, &out, NULL, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    result = newSVpvn((const char *)out.bytes, out.len);
    LEAVE;
    return result;
}

static void
storable_read_settings(pTHX_ my_cxt_t *cxt, ice_read_settings *set)
{
    SV *flags = GvSV(cxt->flags);
    IV bits = flags && SvOK(flags) ? SvIV(flags) : 6;
    Zero(set, 1, ice_read_settings);
    set->profile = ICE_STORABLE;
    set->bless_ok = (bits & 2) != 0;
    set->tie_ok = (bits & 4) != 0;
    set->eval = GvSV(cxt->eval);
    set->forgive = is_set(aTHX_ cxt->forgive_me);
}

/* Bytes of a string that may be marked as UTF-8. */
static const char *
frozen_bytes(pTHX_ SV *frozen, STRLEN *len)
{
    SvGETMAGIC(frozen);
    if (SvROK(frozen) || !SvOK(frozen))
        croak("Icecore: frozen bytes expected, found %s", SvOK(frozen) ? "a reference" : "an undefined value");
    if (SvUTF8(frozen)) {
        frozen = sv_2mortal(newSVsv_nomg(frozen));
        if (!sv_utf8_downgrade(frozen, TRUE))
            croak("Frozen string corrupt - contains characters outside 0-255");
    }
    return SvPV_nomg(frozen, *len);
}

/* Reads one document. `consumed`: bytes behind it are no error, and it says how
 * many there were before them. */
static SV *
read_document(pTHX_ icecore_stage *stage, const char *bytes, STRLEN len, const ice_read_settings *set, STRLEN *consumed,
              SV **header)
{
    ice_context *ctx;
    icecore_view view;
    icecore_error error;
    SV *result;
    ENTER;
    ctx = ice_checkout(aTHX);
    if (icecore_read(ctx->engine, stage, (const U8 *)bytes, len, consumed ? ICECORE_EACH : 0, &view, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    if (consumed)
        *consumed = view.consumed;
    if (header && view.header != ICECORE_NONE) {
        ice_read_settings its = *set;
        its.into = NULL;
        *header = sv_2mortal(ice_build(aTHX_ ctx, &view, view.header, &its));
    }
    result = ice_build(aTHX_ ctx, &view, view.root, set);
    LEAVE;
    return result;
}

static icecore_stage *
storable_reader(pTHX_ my_cxt_t *cxt)
{
    if (!cxt->storable_read)
        cxt->storable_read = new_stage(aTHX_ "storable:text_keys", 18);
    return cxt->storable_read;
}

#define MINOR_READ 12

/* Reads an image, once its header is known to be fine. */
static SV *
storable_thaw(pTHX_ my_cxt_t *cxt, SV *frozen, const ice_read_settings *set)
{
    STRLEN len;
    const char *bytes = frozen_bytes(aTHX_ frozen, &len);
    const U8 *header = (const U8 *)bytes;
    SV *result;
    if (len > 6 && memEQ(bytes, "pst0", 4))
        header += 4;
    if (len > 2) {
        cxt->last_netorder = header[0] & 1;
        if (header[0] >> 1 == 2 && header[1] > MINOR_READ && !is_set(aTHX_ cxt->accept_future_minor))
            croak("Storable binary image v2.%d more recent than I am (v2.%d)", header[1], MINOR_READ);
    }
    ENTER;
    SAVEI32(cxt->storable_call);
    cxt->storable_call = IS_RETRIEVING;
    result = read_document(aTHX_ storable_reader(aTHX_ cxt), bytes, len, set, NULL, NULL);
    LEAVE;
    return result;
}

/* The options that stand behind the bytes: `(FLAGS)` or `(NAME => VALUE, …)`. */
static void
thaw_options(pTHX_ ice_read_settings *set, SV **options, SSize_t count)
{
    SSize_t i;
    if (count == 1) {
        if (SvOK(options[0])) {
            IV bits = SvIV(options[0]);
            set->bless_ok = (bits & 2) != 0;
            set->tie_ok = (bits & 4) != 0;
        }
        return;
    }
    if (count % 2)
        croak("Icecore: options are pairs of a name and a value");
    for (i = 0; i < count; i += 2) {
        const char *name = SvPV_nolen(options[i]);
        if (strEQ(name, "classes"))
            set->classes = options[i + 1];
        else if (strEQ(name, "flags")) {
            IV bits = SvIV(options[i + 1]);
            set->bless_ok = (bits & 2) != 0;
            set->tie_ok = (bits & 4) != 0;
        } else
            croak("Icecore: there is no option '%s'; there are classes and flags", name);
    }
}

/* ---- Sereal ------------------------------------------------------------ */

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

static void
sereal_write_settings(pTHX_ encoder *enc, HV *options)
{
    SV *value, *spec = sv_2mortal(newSVpvs("sereal:no_spelling"));
    ice_write_settings *set = &enc->set;
    IV compress = 0, sort = 0;
    bool refs = FALSE;
    const char *const flags[] = { "dedupe_strings", "aliased_dedupe_strings", "use_standard_double", NULL };
    const char *const *flag;

    Zero(set, 1, ice_write_settings);
    set->profile = ICE_SEREAL;
    set->protocol = 5;
    set->max_depth = 10000;
    if (option(aTHX_ options, "protocol_version", &value)) {
        IV version = SvIV(value);
        if (version < 1 || version > 5)
            croak("Specified Sereal protocol version ('%" IVdf "') is invalid", version);
        set->protocol = (U8)version;
    } else if (option_is_set(aTHX_ options, "use_protocol_v1"))
        set->protocol = 1;
    sv_catpvf(spec, ",protocol=%d", set->protocol);

    if (option(aTHX_ options, "compress", &value))
        compress = SvIV(value);
    else if (option_is_set(aTHX_ options, "snappy") || option_is_set(aTHX_ options, "snappy_incr"))
        compress = 1;
    switch (compress) {
    case 0:
        break;
    case 1:
        sv_catpv(spec, set->protocol == 1 && !option_is_set(aTHX_ options, "snappy_incr")
                           ? ",compress=snappy_to_end"
                           : ",compress=snappy");
        break;
    case 2:
        if (set->protocol < 3)
            croak("Zlib compression was introduced in protocol version 3 and you are asking for only version %d", set->protocol);
        sv_catpvs(spec, ",compress=zlib");
        break;
    case 3:
        if (set->protocol < 4)
            croak("Zstd compression was introduced in protocol version 4 and you are asking for only version %d", set->protocol);
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
    if (option(aTHX_ options, "compress_threshold", &value))
        sv_catpvf(spec, ",threshold=%" UVuf, SvIV(value) < 0 ? (UV)0 : (UV)SvIV(value));
    else if (option(aTHX_ options, "snappy_threshold", &value))
        sv_catpvf(spec, ",threshold=%" UVuf, SvIV(value) < 0 ? (UV)0 : (UV)SvIV(value));
    if (option_is_set(aTHX_ options, "canonical")) {
        sort = 1;
        refs = TRUE;
    }
    if (option(aTHX_ options, "sort_keys", &value))
        sort = SvIV(value);
    if (sort)
        sv_catpvf(spec, ",sort_keys=%d", sort < 0 || sort > 3 ? 1 : (int)sort);
    if (option(aTHX_ options, "canonical_refs", &value))
        refs = cBOOL(SvTRUE(value));
    if (refs)
        sv_catpvs(spec, ",canonical_refs");
    if (option_is_set(aTHX_ options, "no_bless_objects"))
        sv_catpvs(spec, ",no_bless_objects");
    if (option_is_set(aTHX_ options, "no_shared_hashkeys"))
        sv_catpvs(spec, ",no_shared_hashkeys");
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
    if (option(aTHX_ options, "freeze_allow_classes", &value)) {
        if (!SvROK(value) || SvTYPE(SvRV(value)) != SVt_PVHV)
            croak("'freeze_allow_classes' is no hash reference");
        set->freeze_allow = (HV *)SvRV(value);
    }
    enc->stage = new_stage(aTHX_ SvPVX(spec), SvCUR(spec));
    set_limit(aTHX_ enc->stage, "depth", U32_MAX);
    SvREFCNT_inc_simple_void((SV *)set->freeze_allow);
}

static void
clear_encoder(pTHX_ void *data)
{
    encoder *enc = (encoder *)data;
    icecore_stage_free(enc->stage);
    SvREFCNT_dec((SV *)enc->set.freeze_allow);
}

static SV *
sereal_encode(pTHX_ const encoder *enc, SV *data, SV *header)
{
    ice_context *ctx;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    SV *result;
    if (header) {
        SvGETMAGIC(header);
        if (!SvOK(header))
            header = NULL;
        else if (enc->set.protocol == 1)
            croak("Cannot serialize user header data in Sereal protocol V1 mode!");
    }
    ENTER;
    ctx = ice_checkout(aTHX);
    if (header)
        ice_walk_header(aTHX_ ctx, &tape, header, data, &enc->set);
    else
        ice_walk(aTHX_ ctx, &tape, data, &enc->set);
    if (icecore_write(ctx->engine, enc->stage, &tape, &out, NULL, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    result = newSVpvn((const char *)out.bytes, out.len);
    LEAVE;
    return result;
}

static void
sereal_read_settings(pTHX_ decoder *dec, HV *options)
{
    SV *value, *spec = sv_2mortal(newSVpvs("sereal"));
    const char *const flags[] = { "refuse_snappy", "refuse_zlib", "refuse_zstd", "refuse_objects", "validate_utf8", NULL };
    const char *const numbers[] = { "max_num_hash_entries", "max_num_array_entries", NULL };
    const char *const *name;
    char joint = ':';
    ice_read_settings *set = &dec->set;

    Zero(set, 1, ice_read_settings);
    set->profile = ICE_SEREAL;
    set->tie_ok = TRUE;
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
    if (option(aTHX_ options, "thaw_allow_classes", &value)) {
        if (!SvROK(value) || SvTYPE(SvRV(value)) != SVt_PVHV)
            croak("'thaw_allow_classes' is no hash reference");
        set->thaw_allow = (HV *)SvREFCNT_inc_simple_NN(SvRV(value));
    }
    if (option(aTHX_ options, "alias_varint_under", &value) && SvTRUE(value))
        set->alias_under = SvIV(value) < 16 ? 16 : SvIV(value);
    else if (option_is_set(aTHX_ options, "alias_smallint"))
        set->alias_under = 16;
    if (set->alias_under)
        set->aliases = newAV();
    dec->stage = new_stage(aTHX_ SvPVX(spec), SvCUR(spec));
    if (option(aTHX_ options, "max_recursion_depth", &value))
        set_limit(aTHX_ dec->stage, "depth", SvUV(value));
    if (option(aTHX_ options, "max_string_length", &value) && SvUV(value))
        set_limit(aTHX_ dec->stage, "string", SvUV(value));
    if (option(aTHX_ options, "max_uncompressed_size", &value) && SvUV(value))
        set_limit(aTHX_ dec->stage, "decompressed", SvUV(value));
}

/* What a decoder holds. */
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
sereal_header(pTHX_ decoder *dec, const char *bytes, STRLEN len)
{
    STRLEN start, end, consumed;
    SV *document, *header = NULL;
    dec->consumed = 0;
    if (!find_header((const U8 *)bytes, len, &start, &end)) {
        /* There is none, or it is broken. */
        SvREFCNT_dec(read_document(aTHX_ dec->stage, bytes, len, &dec->set, &consumed, &header));
        return header ? header : &PL_sv_undef;
    }
    document = sv_2mortal(newSVpvn(bytes, 4));
    sv_catpvf(document, "%c%c", bytes[4] & 15, 0);
    sv_catpvn(document, bytes + start, end - start);
    return sv_2mortal(read_document(aTHX_ dec->stage, SvPVX(document), SvCUR(document), &dec->set, &consumed, NULL));
}

enum { BODY, HEADER, BODY_AND_HEADER };

/* Decodes what is at `at`. With `into` the body is put there. Chops the bytes off,
 * if the decoder is incremental. */
static SV *
sereal_decode(pTHX_ decoder *dec, SV *source, UV at, int what, SV *into, SV **header)
{
    STRLEN len, consumed = 0, start, end;
    const char *bytes = frozen_bytes(aTHX_ source, &len);
    const ice_read_settings *set = &dec->set;
    ice_read_settings with_target;
    SV *result;
    if (at > len)
        croak("Icecore: the offset is behind the end of the bytes");
    bytes += at;
    len -= at;
    if (what == HEADER) {
        *header = sereal_header(aTHX_ dec, bytes, len);
        return NULL;
    }
    if (into) {
        with_target = dec->set;
        with_target.into = into;
        set = &with_target;
    }
    if (UNLIKELY(dec->refuse_objects) && what == BODY && find_header((const U8 *)bytes, len, &start, &end)) {
        /* Who reads the body alone does not mind what is in the header. */
        SV *document = sv_2mortal(newSVpvn(bytes, 5));
        sv_catpvn(document, "", 1);
        sv_catpvn(document, bytes + end, len - end);
        result = read_document(aTHX_ dec->stage, SvPVX(document), SvCUR(document), set, &consumed, NULL);
        consumed += end - 6;
    } else
        result = read_document(aTHX_ dec->stage, bytes, len, set, &consumed, header);
    dec->consumed = consumed;
    if (into) {
        if (result != into) {
            sv_2mortal(result);
            sv_setsv(into, result);
            SvSETMAGIC(into);
            if (set->readonly || (set->readonly_scalars && !SvROK(into)))
                SvREADONLY_on(into);
            SvREFCNT_inc_simple_void_NN(into);
        }
        result = into;
    }
    if (dec->incremental && at == 0) {
        if (SvREADONLY(source)) {
            SvREFCNT_dec(result);
            croak("Icecore: incremental decoding chops the bytes off, but they are read-only");
        }
        if (SvUTF8(source))
            sv_utf8_downgrade(source, FALSE);
        SvPV_force_nolen(source);
        if (consumed <= SvCUR(source))
            sv_chop(source, SvPVX(source) + consumed);
    }
    return result;
}

static void *
handle(pTHX_ SV *self, HV *stash, const char *class)
{
    if (!(LIKELY(SvROK(self) && SvOBJECT(SvRV(self)))
          && (LIKELY(SvSTASH(SvRV(self)) == stash) || sv_derived_from(self, class)) && SvIOK(SvRV(self))
          && SvIVX(SvRV(self))))
        croak("Icecore: this is no %s", class);
    return INT2PTR(void *, SvIVX(SvRV(self)));
}

static const encoder *
usual_encoder(pTHX_ my_cxt_t *cxt, encoder *enc)
{
    Zero(enc, 1, encoder);
    enc->set.profile = ICE_SEREAL;
    enc->set.protocol = 5;
    enc->set.max_depth = 10000;
    if (!cxt->sereal_write) {
        cxt->sereal_write = new_stage(aTHX_ "sereal:protocol=5,no_spelling", 29);
        set_limit(aTHX_ cxt->sereal_write, "depth", U32_MAX);
    }
    enc->stage = cxt->sereal_write;
    return enc;
}

static void
usual_decoder(pTHX_ my_cxt_t *cxt, decoder *dec)
{
    Zero(dec, 1, decoder);
    dec->set.profile = ICE_SEREAL;
    dec->set.bless_ok = TRUE;
    dec->set.tie_ok = TRUE;
    if (!cxt->sereal_read)
        cxt->sereal_read = new_stage(aTHX_ "sereal", 6);
    dec->stage = cxt->sereal_read;
}

static void
free_stage(pTHX_ void *stage)
{
    PERL_UNUSED_CONTEXT;
    icecore_stage_free((icecore_stage *)stage);
}

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

/* Whether bytes begin as a Sereal document: its protocol, or -1. */
static IV
looks_like(pTHX_ SV *sv)
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

static void
visit_class(const icecore_class_use *used, void *data)
{
    dTHX;
    AV *list = (AV *)data;
    HV *hv = newHV();
    (void)hv_stores(hv, "class", newSVpvn((const char *)used->name.bytes, used->name.len));
    (void)hv_stores(hv, "kind", newSVpvn((const char *)used->kind.bytes, used->kind.len));
    (void)hv_stores(hv, "path", newSVpvn_utf8((const char *)used->path.bytes, used->path.len, 1));
    (void)hv_stores(hv, "count", newSVuv(used->count));
    av_push(list, newRV_noinc((SV *)hv));
}

/* The stage that `format` names, or that fits the bytes. To be freed. */
static icecore_stage *
stage_for(pTHX_ SV *format, const char *bytes, STRLEN len)
{
    icecore_stage *stage;
    if (format && SvOK(format)) {
        STRLEN spec_len;
        const char *spec = SvPVutf8(format, spec_len);
        return new_stage(aTHX_ spec, spec_len);
    }
    {
        icecore_error error;
        stage = icecore_detect((const U8 *)bytes, len, &error);
        if (!stage)
            croak("Icecore: %s", error.message);
    }
    return stage;
}

static void
at_end(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    ice_contexts_free(aTHX);
}

MODULE = Icecore    PACKAGE = Icecore

PROTOTYPES: DISABLE

BOOT:
{
    MY_CXT_INIT;
    settings_boot(aTHX_ & MY_CXT);
    if (icecore_tape_version() != ICECORE_TAPE_VERSION)
        croak("Icecore: the engine's tape has version %u, and the module is for %u", (unsigned)icecore_tape_version(),
              (unsigned)ICECORE_TAPE_VERSION);
    ice_contexts_boot(aTHX);
    ice_build_boot(aTHX);
    call_atexit(at_end, NULL);
}

void
CLONE(...)
  CODE:
    PERL_UNUSED_VAR(items);
    {
        MY_CXT_CLONE;
        settings_boot(aTHX_ & MY_CXT);
    }
    ice_contexts_clone(aTHX);
    call_atexit(at_end, NULL);

const char *
engine_version()
  CODE:
    RETVAL = icecore_version();
  OUTPUT:
    RETVAL

SV *
decode(bytes, ...)
    SV *bytes
  PREINIT:
    STRLEN len;
    const char *text;
    SV *format = NULL;
    int i;
    icecore_stage *stage;
    ice_read_settings set;
    dMY_CXT;
  CODE:
    if (items % 2 == 0)
        croak("Icecore: options are pairs of a name and a value");
    storable_read_settings(aTHX_ & MY_CXT, &set);
    for (i = 1; i < items; i += 2) {
        const char *name = SvPV_nolen(ST(i));
        if (strEQ(name, "classes"))
            set.classes = ST(i + 1);
        else if (strEQ(name, "format"))
            format = ST(i + 1);
        else if (strEQ(name, "flags")) {
            set.bless_ok = (SvIV(ST(i + 1)) & 2) != 0;
            set.tie_ok = (SvIV(ST(i + 1)) & 4) != 0;
        } else
            croak("Icecore: there is no option '%s'; there are format, classes and flags", name);
    }
    text = frozen_bytes(aTHX_ bytes, &len);
    stage = stage_for(aTHX_ format, text, len);
    ENTER;
    SAVEDESTRUCTOR_X(free_stage, stage);
    if (strNE(icecore_stage_format(stage), "storable"))
        set.profile = ICE_SEREAL;
    RETVAL = read_document(aTHX_ stage, text, len, &set, NULL, NULL);
    LEAVE;
  OUTPUT:
    RETVAL

SV *
encode(data, format, ...)
    SV *data
    SV *format
  PREINIT:
    bool strict = FALSE;
    size_t losses = 0, index;
    int i;
    icecore_stage *stage;
    ice_write_settings set;
    ice_context *ctx;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    const char *name;
    dMY_CXT;
  CODE:
    if (items % 2)
        croak("Icecore: options are pairs of a name and a value");
    for (i = 2; i < items; i += 2) {
        if (strNE(SvPV_nolen(ST(i)), "strict"))
            croak("Icecore: there is no option '%s'; there is strict", SvPV_nolen(ST(i)));
        strict = cBOOL(SvTRUE(ST(i + 1)));
    }
    stage = stage_for(aTHX_ format, NULL, 0);
    ENTER;
    SAVEDESTRUCTOR_X(free_stage, stage);
    set_limit(aTHX_ stage, "depth", U32_MAX);
    name = icecore_stage_format(stage);
    storable_write_settings(aTHX_ & MY_CXT, &set);
    if (strEQ(name, "storable")) {
        if (!SvROK(data))
            croak("Not a reference");
    } else {
        set.profile = strEQ(name, "sereal") ? ICE_SEREAL : ICE_PLAIN;
        set.protocol = 5;
    }
    ctx = ice_checkout(aTHX);
    ice_walk(aTHX_ ctx, &tape, data, &set);
    if (icecore_write(ctx->engine, stage, &tape, &out, &losses, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    RETVAL = newSVpvn((const char *)out.bytes, out.len);
    if (losses && set.profile == ICE_PLAIN) {
        /* Copied first: a handler of warnings may use the context again. */
        AV *list = (AV *)sv_2mortal((SV *)newAV());
        sv_2mortal(RETVAL);
        for (index = 0; index < losses; index++)
            if (icecore_loss(ctx->engine, index, &out) == ICECORE_OK)
                av_push(list, newSVpvn_utf8((const char *)out.bytes, out.len, 1));
        for (i = 0; i <= AvFILLp(list); i++) {
            if (strict)
                croak("Icecore: lost in %s: %" SVf, name, SVfARG(AvARRAY(list)[i]));
            warn("Icecore: lost in %s: %" SVf, name, SVfARG(AvARRAY(list)[i]));
        }
        SvREFCNT_inc_simple_void_NN(RETVAL);
    }
    LEAVE;
  OUTPUT:
    RETVAL

void
classes(bytes, ...)
    SV *bytes
  PREINIT:
    STRLEN len;
    const char *text;
    icecore_stage *stage;
    icecore_error error;
    AV *list;
    SSize_t i;
    SV *format = NULL;
  PPCODE:
    if (items == 3 && strEQ(SvPV_nolen(ST(1)), "format"))
        format = ST(2);
    else if (items != 1)
        croak("Icecore: classes takes the bytes, and format => FORMAT");
    text = frozen_bytes(aTHX_ bytes, &len);
    stage = stage_for(aTHX_ format, text, len);
    list = (AV *)sv_2mortal((SV *)newAV());
    ENTER;
    SAVEDESTRUCTOR_X(free_stage, stage);
    if (icecore_classes(stage, (const U8 *)text, len, visit_class, list, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    LEAVE;
    EXTEND(SP, AvFILLp(list) + 1);
    for (i = 0; i <= AvFILLp(list); i++)
        PUSHs(sv_2mortal(SvREFCNT_inc(AvARRAY(list)[i])));

MODULE = Icecore    PACKAGE = Icecore::Storable

SV *
freeze(ref, ...)
    SV *ref
  ALIAS:
    nfreeze = 1
    _image = 2
    _nimage = 3
  CODE:
    if (items > 1)
        croak("too many arguments");
    RETVAL = storable_freeze(aTHX_ ref, ix);
  OUTPUT:
    RETVAL

SV *
thaw(bytes, ...)
    SV *bytes
  PREINIT:
    ice_read_settings set;
    dMY_CXT;
  CODE:
    SvGETMAGIC(bytes);
    if (!SvOK(bytes))
        XSRETURN_UNDEF;
    storable_read_settings(aTHX_ & MY_CXT, &set);
    if (items > 1)
        thaw_options(aTHX_ & set, &ST(1), items - 1);
    RETVAL = storable_thaw(aTHX_ & MY_CXT, bytes, &set);
  OUTPUT:
    RETVAL

bool
is_storing()
  ALIAS:
    is_retrieving = 1
    last_op_in_netorder = 2
  PREINIT:
    dMY_CXT;
  CODE:
    RETVAL = ix == 2 ? MY_CXT.last_netorder : MY_CXT.storable_call == (ix ? IS_RETRIEVING : IS_STORING);
  OUTPUT:
    RETVAL

SV *
_more(handle, bytes)
    PerlIO *handle
    SV *bytes
  PREINIT:
    SSize_t count;
    bool full = TRUE;
  CODE:
    /* Appends what the handle has, without waiting for more than the first byte
     * of it. Says whether that filled its buffer; undef at the end. */
    bytes = SvRV(bytes);
    while ((count = PerlIO_get_cnt(handle)) <= 0) {
        /* What was given back has a buffer of its own, which goes when it is
         * empty: then there is more to come. */
        if (PerlIO_fill(handle) != 0)
            XSRETURN_UNDEF;
        count = PerlIO_get_cnt(handle);
        full = count >= (SSize_t)PerlIO_get_bufsiz(handle);
    }
    sv_catpvn(bytes, (const char *)PerlIO_get_ptr(handle), count);
    PerlIO_set_ptrcnt(handle, PerlIO_get_ptr(handle) + count, 0);
    RETVAL = boolSV(full);
  OUTPUT:
    RETVAL

void
_unread(handle, bytes)
    PerlIO *handle
    SV *bytes
  PREINIT:
    STRLEN len;
    const char *text;
  CODE:
    text = SvPV(bytes, len);
    if (PerlIO_unread(handle, text, len) != (SSize_t)len)
        croak("Icecore: what was read too much could not be given back");

IV
_probe(bytes)
    SV *bytes
  PREINIT:
    STRLEN len;
    const char *text;
    ice_context *ctx;
    icecore_view view;
    icecore_error error;
    U32 kind;
    dMY_CXT;
  CODE:
    /* How many bytes the document takes; -1, if there are too few. */
    text = frozen_bytes(aTHX_ bytes, &len);
    ENTER;
    ctx = ice_checkout(aTHX);
    kind = icecore_read(ctx->engine, storable_reader(aTHX_ & MY_CXT), (const U8 *)text, len, ICECORE_EACH, &view, &error);
    if (kind == ICECORE_OK)
        RETVAL = (IV)view.consumed;
    else if (kind == ICECORE_TRUNCATED)
        RETVAL = -1;
    else
        ice_croak_error(aTHX_ & error);
    LEAVE;
  OUTPUT:
    RETVAL

SV *
dclone(ref)
    SV *ref
  PROTOTYPE: $
  PREINIT:
    ice_write_settings write_set;
    ice_read_settings set;
    ice_context *ctx;
    icecore_tape tape;
    icecore_view view;
    icecore_error error;
    dMY_CXT;
  CODE:
    SvGETMAGIC(ref);
    if (!SvROK(ref)) {
        if (SvOK(ref))
            croak("Not a reference");
        XSRETURN_UNDEF;
    }
    storable_write_settings(aTHX_ & MY_CXT, &write_set);
    write_set.cloning = TRUE;
    storable_read_settings(aTHX_ & MY_CXT, &set);
    set.bless_ok = set.tie_ok = TRUE;
    set.cloning = TRUE;
    ENTER;
    SAVEI32(MY_CXT.storable_call);
    MY_CXT.storable_call = IS_STORING;
    MY_CXT.last_netorder = FALSE;
    ctx = ice_checkout(aTHX);
    ice_walk(aTHX_ ctx, &tape, ref, &write_set);
    if (icecore_view_tape(ctx->engine, &tape, &view, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    if (ctx->seen.used)
        ice_map_clear(&ctx->seen);
    MY_CXT.storable_call = IS_RETRIEVING;
    RETVAL = ice_build(aTHX_ ctx, &view, view.root, &set);
    LEAVE;
  OUTPUT:
    RETVAL

MODULE = Icecore    PACKAGE = Icecore::Sereal

SV *
encode_sereal(data, options = NULL)
    SV *data
    SV *options
  PREINIT:
    encoder enc;
    HV *hv;
    dMY_CXT;
  CODE:
    hv = options_of(aTHX_ options);
    ENTER;
    if (hv) {
        sereal_write_settings(aTHX_ & enc, hv);
        SAVEDESTRUCTOR_X(clear_encoder, &enc);
    } else
        usual_encoder(aTHX_ & MY_CXT, &enc);
    RETVAL = sereal_encode(aTHX_ & enc, data, NULL);
    LEAVE;
  OUTPUT:
    RETVAL

SV *
encode_sereal_with_header_data(data, header, options = NULL)
    SV *data
    SV *header
    SV *options
  PREINIT:
    encoder enc;
    HV *hv;
    dMY_CXT;
  CODE:
    hv = options_of(aTHX_ options);
    ENTER;
    if (hv) {
        sereal_write_settings(aTHX_ & enc, hv);
        SAVEDESTRUCTOR_X(clear_encoder, &enc);
    } else
        usual_encoder(aTHX_ & MY_CXT, &enc);
    RETVAL = sereal_encode(aTHX_ & enc, data, header);
    LEAVE;
  OUTPUT:
    RETVAL

SV *
decode_sereal(bytes, options = NULL, target = NULL)
    SV *bytes
    SV *options
    SV *target
  PREINIT:
    decoder dec;
    HV *hv;
    dMY_CXT;
  CODE:
    hv = options_of(aTHX_ options);
    ENTER;
    if (hv) {
        Zero(&dec, 1, decoder);
        SAVEDESTRUCTOR_X(clear_decoder, &dec);
        sereal_read_settings(aTHX_ & dec, hv);
    } else
        usual_decoder(aTHX_ & MY_CXT, &dec);
    RETVAL = sereal_decode(aTHX_ & dec, bytes, 0, BODY, target, NULL);
    LEAVE;
  OUTPUT:
    RETVAL

void
_decode_with(bytes, options, what, target = NULL)
    SV *bytes
    SV *options
    int what
    SV *target
  PREINIT:
    decoder dec;
    HV *hv;
    SV *result, *header = NULL;
    dMY_CXT;
  PPCODE:
    PUTBACK;
    hv = options_of(aTHX_ options);
    ENTER;
    if (hv) {
        Zero(&dec, 1, decoder);
        SAVEDESTRUCTOR_X(clear_decoder, &dec);
        sereal_read_settings(aTHX_ & dec, hv);
    } else
        usual_decoder(aTHX_ & MY_CXT, &dec);
    result = sereal_decode(aTHX_ & dec, bytes, 0, what, target, &header);
    if (result)
        sv_2mortal(result);
    LEAVE;
    SPAGAIN;
    EXTEND(SP, 2);
    PUSHs(header ? header : &PL_sv_undef);
    if (result)
        PUSHs(result);

IV
_looks_like(sv)
    SV *sv
  CODE:
    RETVAL = looks_like(aTHX_ sv);
  OUTPUT:
    RETVAL

MODULE = Icecore    PACKAGE = Icecore::Sereal::Encoder

SV *
new(class, options = NULL)
    SV *class
    SV *options
  PREINIT:
    encoder *enc, made;
    HV *hv;
  CODE:
    hv = options_of(aTHX_ options);
    sereal_write_settings(aTHX_ & made, hv);
    Newx(enc, 1, encoder);
    *enc = made;
    RETVAL = sv_setref_pv(newSV(0), SvROK(class) ? sv_reftype(SvRV(class), TRUE) : SvPV_nolen(class), enc);
    enc->set.owner = SvRV(RETVAL);
  OUTPUT:
    RETVAL

SV *
encode(self, data, header = NULL)
    SV *self
    SV *data
    SV *header
  PREINIT:
    dMY_CXT;
  CODE:
    RETVAL = sereal_encode(aTHX_ (const encoder *)handle(aTHX_ self, MY_CXT.encoder_stash, "Icecore::Sereal::Encoder"), data,
                           header);
  OUTPUT:
    RETVAL

U32
flags(self)
    SV *self
  PREINIT:
    dMY_CXT;
    const encoder *enc;
  CODE:
    enc = (const encoder *)handle(aTHX_ self, MY_CXT.encoder_stash, "Icecore::Sereal::Encoder");
    RETVAL = (enc->set.croak_on_bless ? 1 : 0) | (enc->set.no_bless ? 2 : 0) | (enc->set.freeze_callbacks ? 4 : 0);
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  PREINIT:
    encoder *enc;
  CODE:
    if (SvROK(self) && SvIOK(SvRV(self))) {
        enc = INT2PTR(encoder *, SvIVX(SvRV(self)));
        if (enc) {
            clear_encoder(aTHX_ enc);
            Safefree(enc);
            SvREADONLY_off(SvRV(self));
            sv_setiv(SvRV(self), 0);
        }
    }

MODULE = Icecore    PACKAGE = Icecore::Sereal::Decoder

SV *
new(class, options = NULL)
    SV *class
    SV *options
  PREINIT:
    decoder *dec, made;
    HV *hv;
  CODE:
    hv = options_of(aTHX_ options);
    Zero(&made, 1, decoder);
    ENTER;
    SAVEDESTRUCTOR_X(clear_decoder, &made);
    sereal_read_settings(aTHX_ & made, hv);
    Newx(dec, 1, decoder);
    *dec = made;
    Zero(&made, 1, decoder);
    LEAVE;
    RETVAL = sv_setref_pv(newSV(0), SvROK(class) ? sv_reftype(SvRV(class), TRUE) : SvPV_nolen(class), dec);
    dec->set.owner = SvRV(RETVAL);
  OUTPUT:
    RETVAL

SV *
decode(self, bytes, target = NULL)
    SV *self
    SV *bytes
    SV *target
  PREINIT:
    dMY_CXT;
    decoder *dec;
  CODE:
    dec = (decoder *)handle(aTHX_ self, MY_CXT.decoder_stash, "Icecore::Sereal::Decoder");
    RETVAL = sereal_decode(aTHX_ dec, bytes, 0, BODY, target, NULL);
  OUTPUT:
    RETVAL

void
_decode(self, bytes, offset, what, target = NULL)
    SV *self
    SV *bytes
    UV offset
    int what
    SV *target
  PREINIT:
    dMY_CXT;
    decoder *dec;
    SV *result, *header = NULL;
  PPCODE:
    PUTBACK;
    dec = (decoder *)handle(aTHX_ self, MY_CXT.decoder_stash, "Icecore::Sereal::Decoder");
    result = sereal_decode(aTHX_ dec, bytes, offset, what, target, what == BODY ? NULL : &header);
    if (result)
        sv_2mortal(result);
    SPAGAIN;
    EXTEND(SP, 2);
    if (what != BODY)
        PUSHs(header ? header : &PL_sv_undef);
    if (result)
        PUSHs(result);

bool
_is_incremental(self)
    SV *self
  PREINIT:
    dMY_CXT;
  CODE:
    RETVAL = ((decoder *)handle(aTHX_ self, MY_CXT.decoder_stash, "Icecore::Sereal::Decoder"))->incremental;
  OUTPUT:
    RETVAL

UV
bytes_consumed(self)
    SV *self
  PREINIT:
    dMY_CXT;
  CODE:
    RETVAL = ((decoder *)handle(aTHX_ self, MY_CXT.decoder_stash, "Icecore::Sereal::Decoder"))->consumed;
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  PREINIT:
    decoder *dec;
  CODE:
    if (SvROK(self) && SvIOK(SvRV(self))) {
        dec = INT2PTR(decoder *, SvIVX(SvRV(self)));
        if (dec) {
            clear_decoder(aTHX_ dec);
            Safefree(dec);
            SvREADONLY_off(SvRV(self));
            sv_setiv(SvRV(self), 0);
        }
    }
