/* Implements the settings of JSON, and encodes and decodes texts. */
#include "core/documents.h"
#include "json/cpanel.h"

#define MY_CXT_KEY "Icecore::json" XS_VERSION
typedef struct {
    ice_json defaults;        /* the settings of encode_json and decode_json */
    ice_json cpanel_defaults; /* those of Icecore::JSON::Cpanel */
    ice_json cpanel_nonref;   /* the same, and allow_nonref is on */
    HV *stash;
} my_cxt_t;
START_MY_CXT

/* The default of stringify_infnan: infinities and NaN are written without quotes. */
enum { BARE_INF_NAN = 2 };

static void
init_state(pTHX_ my_cxt_t *cxt)
{
    Zero(cxt, 1, my_cxt_t);
    cxt->stash = gv_stashpvs("Icecore::JSON", GV_ADD);
    cxt->defaults.flags = J_UTF8 | J_ALLOW_NONREF | J_ALLOW_DUPKEYS;
    cxt->defaults.max_depth = 512;
    cxt->defaults.indent_length = 3;
    cxt->defaults.inf_nan = BARE_INF_NAN;
    cxt->cpanel_defaults = cxt->defaults;
    cxt->cpanel_defaults.flags = J_UTF8 | J_CPANEL;
    cxt->cpanel_defaults.inf_nan = 0;
    cxt->cpanel_nonref = cxt->cpanel_defaults;
    cxt->cpanel_nonref.flags |= J_ALLOW_NONREF;
}

void
ice_json_boot(pTHX)
{
    MY_CXT_INIT;
    init_state(aTHX_ & MY_CXT);
}

/* The booleans belong to the interpreter that was cloned. So they are not used here, and the module
 * sets booleans of the new interpreter later. */
void
ice_json_clone(pTHX)
{
    MY_CXT_CLONE;
    init_state(aTHX_ & MY_CXT);
}

/* Releases what the settings contain. */
static void
free_contents(pTHX_ ice_json *json)
{
    icecore_stage_free(json->reader);
    icecore_stage_free(json->digits_reader);
    SvREFCNT_dec(json->true_value);
    SvREFCNT_dec(json->false_value);
    SvREFCNT_dec(json->filter);
    SvREFCNT_dec((SV *)json->single_filter);
    SvREFCNT_dec(json->classes);
    SvREFCNT_dec(json->text);
    Zero(json, 1, ice_json);
}

void
ice_json_end(pTHX)
{
    dMY_CXT;
    free_contents(aTHX_ & MY_CXT.defaults);
    free_contents(aTHX_ & MY_CXT.cpanel_defaults);
    free_contents(aTHX_ & MY_CXT.cpanel_nonref);
    init_state(aTHX_ & MY_CXT);
}

static void
set_booleans(pTHX_ ice_json *json, SV *false_value, SV *true_value)
{
    SvREFCNT_dec(json->false_value);
    SvREFCNT_dec(json->true_value);
    json->false_value = newSVsv(false_value);
    json->true_value = newSVsv(true_value);
    json->boolean_stash = SvSTASH(SvRV(true_value));
}

void
ice_json_set_default_booleans(pTHX_ SV *false_value, SV *true_value)
{
    dMY_CXT;
    set_booleans(aTHX_ & MY_CXT.defaults, false_value, true_value);
    set_booleans(aTHX_ & MY_CXT.cpanel_defaults, false_value, true_value);
    set_booleans(aTHX_ & MY_CXT.cpanel_nonref, false_value, true_value);
}

/* ---- objects ----------------------------------------------------------- */

ice_json *
ij_from_object(pTHX_ SV *self)
{
    dMY_CXT;
    if (!(LIKELY(SvROK(self) && SvOBJECT(SvRV(self)))
          && (LIKELY(SvSTASH(SvRV(self)) == MY_CXT.stash) || sv_derived_from(self, "Icecore::JSON"))
          && SvIOK(SvRV(self)) && SvIVX(SvRV(self))))
        croak("object is not of type Icecore::JSON");
    return INT2PTR(ice_json *, SvIVX(SvRV(self)));
}

SV *
ice_json_new(pTHX_ SV *class, U32 flags)
{
    dMY_CXT;
    ice_json *json;
    SV *object;
    Newxz(json, 1, ice_json);
    json->flags = flags;
    json->max_depth = MY_CXT.defaults.max_depth;
    json->indent_length = 3;
    json->inf_nan = flags & J_CPANEL ? 0 : BARE_INF_NAN;
    json->boolean_stash = MY_CXT.defaults.boolean_stash;
    json->true_value = SvREFCNT_inc(MY_CXT.defaults.true_value);
    json->false_value = SvREFCNT_inc(MY_CXT.defaults.false_value);
    object = newSV(0);
    if (LIKELY(!SvROK(class) && memEQs(SvPV_nolen(class), SvCUR(class), "Icecore::JSON"))) {
        sv_setiv(newSVrv(object, NULL), PTR2IV(json));
        sv_bless(object, MY_CXT.stash);
    } else
        sv_setref_pv(object, SvROK(class) ? sv_reftype(SvRV(class), TRUE) : SvPV_nolen(class), json);
    json->owner = SvRV(object);
    return object;
}

void
ice_json_destroy(pTHX_ SV *self)
{
    ice_json *json;
    if (!SvROK(self) || !SvIOK(SvRV(self)) || !(json = INT2PTR(ice_json *, SvIVX(SvRV(self)))))
        return;
    free_contents(aTHX_ json);
    Safefree(json);
    SvREADONLY_off(SvRV(self));
    sv_setiv(SvRV(self), 0);
}

/* Frees the reader, because a setting has changed. */
static void
drop_reader(ice_json *json)
{
    icecore_stage_free(json->reader);
    json->reader = NULL;
}

void
ice_json_set_flag(pTHX_ SV *self, U32 flag, bool is_enabled)
{
    ice_json *json = ij_from_object(aTHX_ self);
    if (is_enabled)
        json->flags |= flag;
    else
        json->flags &= ~flag;
    drop_reader(json);
}

bool
ice_json_get_flag(pTHX_ SV *self, U32 flag)
{
    return (ij_from_object(aTHX_ self)->flags & flag) != 0;
}

UV
ice_json_number_setting(pTHX_ SV *self, int setting, SV *value)
{
    ice_json *json = ij_from_object(aTHX_ self);
    switch (setting) {
    case ICE_JSON_DEPTH:
        if (value)
            json->max_depth = SvUV(value) > 0x80000000 ? 0x80000000 : (U32)SvUV(value);
        drop_reader(json);
        return json->max_depth;
    case ICE_JSON_SIZE:
        if (value)
            json->max_size = SvUV(value);
        return json->max_size;
    case ICE_JSON_INDENT:
        if (value) {
            if (SvIV(value) < 0 || SvIV(value) > 15)
                croak("indent_length must be between 0 and 15");
            json->indent_length = (U8)SvIV(value);
        }
        return json->indent_length;
    default:
        if (value) {
            const IV mode = SvIV(value);
            if (mode < 0 || mode > 3)
                croak("invalid stringify_infnan mode %" IVdf ". Must be 0, 1, 2 or 3", mode);
            json->inf_nan = (U8)mode;
        }
        return json->inf_nan;
    }
}

/* Sets a field of the settings to a copy of a value, or to NULL if the value is undefined. */
static void
set_copy(pTHX_ SV **slot, SV *value)
{
    SV *old = *slot;
    *slot = value && SvOK(value) ? newSVsv(value) : NULL;
    SvREFCNT_dec(old);
}

void
ice_json_set_filter(pTHX_ SV *self, SV *code)
{
    set_copy(aTHX_ & ij_from_object(aTHX_ self)->filter, code);
}

void
ice_json_set_single_filter(pTHX_ SV *self, SV *key, SV *code)
{
    ice_json *json = ij_from_object(aTHX_ self);
    if (code && SvOK(code)) {
        if (!json->single_filter)
            json->single_filter = newHV();
        (void)hv_store_ent(json->single_filter, key, newSVsv(code), 0);
    } else if (json->single_filter) {
        (void)hv_delete_ent(json->single_filter, key, G_DISCARD, 0);
        if (!HvUSEDKEYS(json->single_filter)) {
            SvREFCNT_dec((SV *)json->single_filter);
            json->single_filter = NULL;
        }
    }
}

void
ice_json_set_boolean_values(pTHX_ SV *self, SV *false_value, SV *true_value)
{
    dMY_CXT;
    ice_json *json = ij_from_object(aTHX_ self);
    set_copy(aTHX_ & json->false_value, false_value ? false_value : MY_CXT.defaults.false_value);
    set_copy(aTHX_ & json->true_value, true_value ? true_value : MY_CXT.defaults.true_value);
}

SV *
ice_json_boolean_value(pTHX_ SV *self, bool is_true)
{
    dMY_CXT;
    ice_json *json = ij_from_object(aTHX_ self);
    SV *sv = is_true ? json->true_value : json->false_value,
       *default_value = is_true ? MY_CXT.defaults.true_value : MY_CXT.defaults.false_value;
    return sv && default_value && !(SvROK(sv) && SvROK(default_value) && SvRV(sv) == SvRV(default_value)) ? sv : NULL;
}

void
ice_json_set_classes(pTHX_ SV *self, SV *classes)
{
    set_copy(aTHX_ & ij_from_object(aTHX_ self)->classes, classes);
}

/* ---- encoding ---------------------------------------------------------- */

/* Returns true if allow_nonref is needed to encode a value, or to return it from a decoder. */
static bool
is_nonref(pTHX_ const ice_json *json, SV *sv)
{
    if (!SvROK(sv))
        return TRUE;
    sv = SvRV(sv);
    if (json->flags & J_CPANEL)
        return SvOBJECT(sv) ? SvSTASH(sv) == json->boolean_stash : ij_boolean_of(aTHX_ sv) >= 0;
    /* As in JSON::XS, a reference to a scalar of a simpler type is accepted. */
    return SvTYPE(sv) >= SVt_PVMG && SvTYPE(sv) < SVt_PVAV
        && (SvOBJECT(sv) ? SvSTASH(sv) == json->boolean_stash : ij_boolean_of(aTHX_ sv) >= 0);
}

/* Dies, because the engine can't write a value. */
static void
croak_unwritable(pTHX_ const ice_json *json, const icecore_error *error)
{
    const char *out_of_range = json->flags & J_CPANEL ? strstr(error->message, "out of range codepoint") : NULL;
    if (out_of_range) /* programs may search for the message of Cpanel::JSON::XS, which has no prefix */
        croak("%s", out_of_range);
    ice_croak_error(aTHX_ error);
}

/* Encodes a value as a text. */
static SV *
encode(pTHX_ const ice_json *json, SV *data, SV *type)
{
    /* The engine's numbers for the values of stringify_infnan: null, quoted, bare, quoted without a
     * sign. */
    static const U8 engine_inf_nan[] = { 1, 2, 0, 3 };
    const U32 flags = json->flags;
    ice_write_settings settings;
    icecore_json_style style;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    ice_context *ctx;
    ij_types types;
    SV *result;

    if (UNLIKELY(!(flags & J_ALLOW_NONREF)) && is_nonref(aTHX_ json, data))
        croak("hash- or arrayref expected (not a simple scalar, use allow_nonref to allow this)");
    Zero(&settings, 1, ice_write_settings);
    settings.rules = flags & J_CPANEL ? &ij_cpanel_rules : &ij_rules;
    if (flags & J_CPANEL
        && ((type && (SvGMAGICAL(type) || SvOK(type))) || flags & (J_REQUIRE_TYPES | J_TYPE_ALL_STRING))) {
        Zero(&types, 1, ij_types);
        types.root = type ? sv_mortalcopy(type) : NULL;
        types.buffer = sv_2mortal(newSVpvs(""));
        settings.types = &types;
    }
    settings.sort_keys = (flags & J_CANONICAL) != 0;
    settings.max_depth = json->max_depth ? json->max_depth : 1;
    settings.owner = json->owner;
    settings.json = json;
    Zero(&style, 1, icecore_json_style);
    if (flags & ~(U32)(J_UTF8 | J_ALLOW_NONREF | J_ALLOW_DUPKEYS)) {
        /* See icecore_json_style. */
        style.beyond = flags & J_BINARY ? 3 : flags & J_ASCII ? 2 : flags & J_LATIN1 ? 1 : 0;
        style.has_lines = (flags & J_INDENT) != 0;
        style.indent = json->indent_length;
        style.space_before = (flags & J_SPACE_BEFORE) != 0;
        style.space_after = (flags & J_SPACE_AFTER) != 0;
        style.escape_slash = (flags & J_ESCAPE_SLASH) != 0;
        style.all_strings = (flags & (J_TYPE_ALL_STRING | J_CPANEL)) == J_TYPE_ALL_STRING;
        style.point_zero = (flags & J_CPANEL) != 0;
    }
    style.inf_nan = engine_inf_nan[json->inf_nan];
    ENTER;
    ctx = ice_take_context(aTHX);
    ice_walk(aTHX_ ctx, &tape, data, &settings, NULL);
    if (icecore_json_write(ctx->pooled.engine, &style, &tape, &out, &error) != ICECORE_OK)
        croak_unwritable(aTHX_ json, &error);
    result = newSVpvn((const char *)out.bytes, out.len);
    if (UNLIKELY(TAINT_get)) /* as in JSON::XS */
        SvTAINTED_off(result);
    if (!(flags & (J_ASCII | J_LATIN1 | J_BINARY | J_UTF8)))
        SvUTF8_on(result);
    if (UNLIKELY(flags & J_SHRINK))
        sv_utf8_downgrade(result, TRUE);
    LEAVE;
    return result;
}

SV *
ice_json_encode(pTHX_ SV *self, SV *data)
{
    dMY_CXT;
    return encode(aTHX_ self ? ij_from_object(aTHX_ self) : &MY_CXT.defaults, data, NULL);
}

SV *
ice_cpanel_encode(pTHX_ SV *self, SV *data, SV *type)
{
    dMY_CXT;
    return encode(aTHX_ self ? ij_from_object(aTHX_ self) : &MY_CXT.cpanel_defaults, data, type);
}

/* ---- decoding ---------------------------------------------------------- */

/* Returns a new reader with the options that are set. With `keeps_digits`, a float that no double represents
 * exactly is the text of its digits. */
static icecore_stage *
new_reader(pTHX_ const ice_json *json, bool keeps_digits)
{
    static const struct {
        U32 flag;
        const char *option;
    } options[] = { { J_RELAXED, "relaxed" },
                    { J_ALLOW_SINGLEQUOTE, "singlequote" },
                    { J_ALLOW_BAREKEY, "barekey" },
                    { J_ALLOW_TAGS, "tags" } };
    SV *spec = sv_2mortal(newSVpvs("json:typed=no"));
    icecore_stage *reader;
    size_t i;
    for (i = 0; i < C_ARRAY_LENGTH(options); i++)
        if (json->flags & options[i].flag)
            sv_catpvf(spec, ",%s", options[i].option);
    if (keeps_digits)
        sv_catpvs(spec, ",bignum");
    reader = ice_stage_new(aTHX_ SvPVX(spec), SvCUR(spec));
    ice_set_stage_limit(aTHX_ reader, "depth", json->max_depth);
    return reader;
}

/* Reads a text that icecore_json_read can't read: one that needs an option, or that has an
 * error. Dies of the error. */
static void
read_special(pTHX_ ice_json *json, ice_context *ctx, const char *text, STRLEN len, const ij_text_origin *origin,
             U32 flags, ice_read_settings *settings, icecore_view *view)
{
    icecore_error error;
    if (!json->reader)
        json->reader = new_reader(aTHX_ json, (json->flags & J_ALLOW_BIGNUM) != 0);
    if (icecore_read(ctx->pooled.engine, json->reader, (const U8 *)text, len, flags | ICECORE_ASCII_BYTES, view,
                     &error)
        == ICECORE_OK)
        return;
    if (error.kind == ICECORE_UNSUPPORTED && !settings->numbers && strstr(error.message, "below 1.8e308")) {
        /* The engine never reads infinity, but perl does. So perl converts the digits. */
        icecore_stage_free(json->digits_reader);
        json->digits_reader = new_reader(aTHX_ json, TRUE);
        settings->parses_floats = TRUE;
        if (icecore_read(ctx->pooled.engine, json->digits_reader, (const U8 *)text, len, flags | ICECORE_ASCII_BYTES,
                         view, &error)
            == ICECORE_OK)
            return;
    }
    if (json->flags & J_CPANEL)
        ij_croak_cpanel_error(aTHX_ json, origin, ice_read_error(aTHX_ & error, settings, text, len));
    ij_croak_text_error(aTHX_ & error, settings, text, len, origin->is_text);
}

/* Decodes a text in UTF-8; see ij_decode. */
static SV *
decode(pTHX_ ice_json *json, const char *text, STRLEN len, const ij_text_origin *origin, STRLEN *consumed,
       SV *type_variable)
{
    const U32 flags = consumed ? ICECORE_EACH : 0;
    ice_read_settings settings;
    icecore_view view;
    ice_context *ctx;
    SV *result;

    if (json->max_size && len > json->max_size)
        croak("attempted decode of JSON text of %lu bytes size, but max_size is set to %lu", (unsigned long)len,
              (unsigned long)json->max_size);
    Zero(&settings, 1, ice_read_settings);
    settings.thaw_format = "JSON";
    settings.depth_advice = "raise it with max_depth(N) if the text is trusted";
    settings.trailing_advice = "cut them off; decode_prefix reads the first document, incr_parse one after another";
    settings.no_thaw_message = "cannot decode perl-object (package does not have a THAW method)";
    if (json->filter || json->single_filter
        || (json->flags & (J_ALLOW_DUPKEYS | J_DUPKEYS_AS_ARRAYREF)) != J_ALLOW_DUPKEYS)
        settings.filters = &ij_filters;
    if (json->flags & J_DUPKEYS_AS_ARRAYREF)
        settings.repeated_keys = (HV *)sv_2mortal((SV *)newHV());
    settings.origin = origin;
    settings.has_bytes = origin->has_bytes;
    settings.owner = json->owner;
    settings.bless_ok = TRUE;
    settings.classes = json->classes;
    settings.json = json;
    settings.true_value = json->true_value;
    settings.false_value = json->false_value;
    if (UNLIKELY(json->flags & J_UNBLESSED_BOOL)) {
        settings.true_value = &PL_sv_yes;
        settings.false_value = &PL_sv_no;
    }
    ENTER;
    ctx = ice_take_context(aTHX);
    /* icecore_json_read is the fast reader, for texts that need no option. If it fails,
     * read_special reads the text again with the options, or dies of the error. */
    if (json->flags & J_ALLOW_BIGNUM) {
        settings.numbers = (AV *)sv_2mortal((SV *)newAV());
        read_special(aTHX_ json, ctx, text, len, origin, flags, &settings, &view);
    } else if (icecore_json_read(ctx->pooled.engine, (const U8 *)text, len, json->max_depth, flags, &view)
               != ICECORE_OK)
        read_special(aTHX_ json, ctx, text, len, origin, flags, &settings, &view);
    if (consumed)
        *consumed = view.consumed;
    if (type_variable)
        ij_set_decoded_type(aTHX_ ctx, &view, type_variable);
    result = ice_build(aTHX_ ctx, &view, view.root, &settings);
    LEAVE;
    if (settings.numbers)
        ij_convert_big_numbers(aTHX_ settings.numbers);
    if (UNLIKELY(!(json->flags & J_ALLOW_NONREF)) && is_nonref(aTHX_ json, result)) {
        SvREFCNT_dec(result);
        croak("JSON text must be an object or array (but found number, string, true, false or null, use allow_nonref "
              "to allow this)");
    }
    return result;
}

SV *
ij_decode(pTHX_ ice_json *json, const char *text, STRLEN len, bool is_text, STRLEN *consumed, SV *type_variable)
{
    const ij_text_origin origin = { text, len, 0, is_text, consumed != NULL, FALSE };
    return decode(aTHX_ json, text, len, &origin, consumed, type_variable);
}

/* Returns the text of a string as UTF-8. With the flag utf8, the string has the bytes of this text.
 * Otherwise it has characters, and they are encoded here. */
static const char *
utf8_text(pTHX_ const ice_json *json, SV *sv, STRLEN *len)
{
    SvGETMAGIC(sv);
    if (json->flags & J_UTF8) {
        if (SvUTF8(sv)) {
            sv = sv_2mortal(newSVsv_nomg(sv));
            sv_utf8_downgrade(sv, FALSE);
        }
    } else if (SvROK(sv) || !SvUTF8(sv)) {
        const char *text = SvPV_nomg(sv, *len);
        if (!SvUTF8(sv) && !ice_is_ascii((const U8 *)text, *len)) {
            sv = sv_2mortal(newSVpvn(text, *len));
            sv_utf8_upgrade_nomg(sv);
        } else
            return text;
    }
    return SvPV_nomg(sv, *len);
}

static SV *
decode_string(pTHX_ ice_json *json, SV *sv, UV *characters, SV *type_variable)
{
    STRLEN consumed;
    ij_text_origin origin = { NULL, 0, 0, !(json->flags & J_UTF8), characters != NULL, FALSE };
    SV *result, *unmarked = NULL;
    const char *text;
    STRLEN len;
    if (json->flags & J_CPANEL) {
        /* Magic and overloading are called only once. */
        if (SvGMAGICAL(sv) || SvROK(sv)) {
            text = SvPV(sv, len);
            sv = newSVpvn_flags(text, len, SVs_TEMP | SvUTF8(sv));
        }
        if (SvOK(sv))
            unmarked = ij_skip_byte_order_mark(aTHX_ sv, &origin.mark_len);
    }
    if (unmarked) {
        text = SvPV(unmarked, len);
        origin.is_text = TRUE;
    } else
        text = utf8_text(aTHX_ json, sv, &len);
    origin.text = text;
    origin.len = len;
    if (UNLIKELY(json->flags & J_BINARY) && memchr(text, '\\', len))
        text = SvPV(ij_convert_binary_escapes(aTHX_ text, len, &origin.has_bytes), len);
    result = decode(aTHX_ json, text, len, &origin, characters ? &consumed : NULL, type_variable);
    if ((json->flags & (J_CPANEL | J_RELAXED)) == J_CPANEL)
        ij_warn_of_noncharacters(aTHX_ text, characters ? consumed : len);
    if (characters) {
        /* Blanks and comments after the value are not part of it. */
        if (text != origin.text || (json->flags & J_RELAXED && memchr(text, '#', consumed))) {
            text = origin.text; /* its escapes may be shorter */
            consumed = ij_first_value_len(aTHX_ json, text, origin.len);
        }
        while (consumed && isSPACE_A(text[consumed - 1]))
            consumed--;
        *characters =
            origin.is_text ? (UV)utf8_length((const U8 *)text, (const U8 *)text + consumed) : (UV)consumed;
    }
    return result;
}

SV *
ice_json_decode(pTHX_ SV *self, SV *sv, UV *characters)
{
    dMY_CXT;
    return decode_string(aTHX_ self ? ij_from_object(aTHX_ self) : &MY_CXT.defaults, sv, characters, NULL);
}

SV *
ice_cpanel_decode(pTHX_ SV *self, SV *text, UV *characters, SV *type_variable)
{
    return decode_string(aTHX_ ij_from_object(aTHX_ self), text, characters, type_variable);
}

SV *
ice_cpanel_decode_json(pTHX_ SV *text, bool allows_nonref, SV *type_variable)
{
    dMY_CXT;
    return decode_string(aTHX_ allows_nonref ? &MY_CXT.cpanel_nonref : &MY_CXT.cpanel_defaults, text, NULL,
                         type_variable);
}
