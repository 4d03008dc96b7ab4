/* Reads the options of encoders and decoders. settings.h declares the functions. */
#include "sereal/settings.h"
#include "core/class_lists.h"
#include "core/documents.h"

/* Length of the shortest document: a magic number, a version, the length of the suffix, a tag. */
enum { SHORTEST_DOCUMENT = 7 };

HV *
isr_options_hash(pTHX_ SV *options)
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

/* Gets the value of an option. Returns false if it is missing or undefined; if it is missing,
 * `value` is unchanged. */
static bool
get_option(pTHX_ HV *options, const char *name, SV **value)
{
    SV **found = options ? hv_fetch(options, name, (I32)strlen(name), 0) : NULL;
    if (!found)
        return FALSE;
    SvGETMAGIC(*found);
    *value = *found;
    return SvOK(*found);
}

/* Returns true if an option is true. */
static bool
option_is_set(pTHX_ HV *options, const char *name)
{
    SV *value;
    return get_option(aTHX_ options, name, &value) && SvTRUE(value);
}

/* Reads an option with an allow list into `list`, which stays NULL without the option. */
static void
read_class_list(pTHX_ HV *options, const char *name, SV **list)
{
    SV *value;
    if (get_option(aTHX_ options, name, &value))
        ice_class_list_new(aTHX_ list, name, value);
}

/* Reads freeze_deny_action or thaw_deny_action, which say what happens to refused objects. Returns
 * true if the option is `other_action`, false if it is `croak`, the default. */
static bool
has_deny_action(pTHX_ HV *options, const char *name, const char *other_action)
{
    SV *value;
    const char *action;
    if (!get_option(aTHX_ options, name, &value))
        return FALSE;
    action = SvPV_nolen(value);
    if (strNE(action, "croak") && strNE(action, other_action))
        croak("The '%s' option must be 'croak' or '%s'", name, other_action);
    return strEQ(action, other_action);
}

/* ---- encoders ---------------------------------------------------------- */

void
isr_clear_encoder(pTHX_ void *data)
{
    ice_sereal_encoder *enc = (ice_sereal_encoder *)data;
    icecore_stage_free(enc->stage);
    SvREFCNT_dec(enc->settings.freeze_allow_classes);
    Zero(enc, 1, ice_sereal_encoder);
}

/* Returns the version of the protocol. */
static U8
protocol_option(pTHX_ HV *options)
{
    SV *value;
    IV version;
    if (!get_option(aTHX_ options, "protocol_version", &value))
        return option_is_set(aTHX_ options, "use_protocol_v1") ? 1 : 5;
    version = SvIV(value);
    if (version < 1 || version > 5)
        croak("Specified Sereal protocol version ('%" IVdf "') is invalid", version);
    return (U8)version;
}

/* Adds the options about compression to a spec. */
static void
add_compression(pTHX_ SV *spec, HV *options, U8 version)
{
    SV *value;
    IV compress = 0;
    if (get_option(aTHX_ options, "compress", &value))
        compress = SvIV(value);
    else if (option_is_set(aTHX_ options, "snappy") || option_is_set(aTHX_ options, "snappy_incr"))
        compress = 1;
    /* The values of the option `compress` are those of Sereal::Encoder: 0 for no compression,
     * 1 for Snappy, 2 for zlib, 3 for Zstandard. */
    switch (compress) {
    case 0:
        break;
    case 1:
        sv_catpv(spec, version == 1 && !option_is_set(aTHX_ options, "snappy_incr") ? ",compress=snappy_to_end"
                                                                                    : ",compress=snappy");
        break;
    case 2:
        if (version < 3)
            croak("Zlib compression was introduced in protocol version 3 and you are asking for only version %d",
                  version);
        sv_catpvs(spec, ",compress=zlib");
        break;
    case 3:
        if (version < 4)
            croak("Zstd compression was introduced in protocol version 4 and you are asking for only version %d",
                  version);
        sv_catpvs(spec, ",compress=zstd");
        break;
    default:
        croak("Invalid Sereal compression format");
    }
    if (compress >= 2 && get_option(aTHX_ options, "compress_level", &value)) {
        IV level = SvIV(value);
        if (level < 1 || level > (compress == 2 ? 9 : 22))
            croak("Invalid compression level '%" IVdf "'", level);
        sv_catpvf(spec, ",level=%d", (int)level);
    }
    if (get_option(aTHX_ options, "compress_threshold", &value)
        || get_option(aTHX_ options, "snappy_threshold", &value))
        sv_catpvf(spec, ",threshold=%" UVuf, SvIV(value) < 0 ? (UV)0 : (UV)SvIV(value));
}

/* Adds the options that make equal data equal bytes to a spec. */
static void
add_order(pTHX_ SV *spec, HV *options)
{
    SV *value;
    bool canonical_refs = option_is_set(aTHX_ options, "canonical");
    IV sort_mode = canonical_refs;
    if (get_option(aTHX_ options, "sort_keys", &value))
        sort_mode = SvIV(value);
    if (sort_mode)
        sv_catpvf(spec, ",sort_keys=%d", sort_mode < 0 || sort_mode > 3 ? 1 : (int)sort_mode);
    if (get_option(aTHX_ options, "canonical_refs", &value))
        canonical_refs = cBOOL(SvTRUE(value));
    if (canonical_refs)
        sv_catpvs(spec, ",canonical_refs");
}

/* The default of max_recursion_depth. Sereal stops when it would enter the container of this number, so one less is
 * written. */
#define DEFAULT_DEPTH 10000

void
isr_make_encoder(pTHX_ ice_sereal_encoder *enc, HV *options)
{
    const char *const flags[] = { "no_bless_objects",       "no_shared_hashkeys",  "dedupe_strings",
                                  "aliased_dedupe_strings", "use_standard_double", NULL };
    const char *const *flag;
    SV *value, *spec = sv_2mortal(newSVpvs("sereal:no_spelling"));
    ice_write_settings *settings = &enc->settings;

    settings->rules = &ice_sereal_rules;
    settings->max_depth = DEFAULT_DEPTH - 1;
    settings->sereal_protocol = protocol_option(aTHX_ options);
    sv_catpvf(spec, ",protocol=%d", settings->sereal_protocol);
    add_compression(aTHX_ spec, options, settings->sereal_protocol);
    add_order(aTHX_ spec, options);
    for (flag = flags; *flag; flag++)
        if (option_is_set(aTHX_ options, *flag))
            sv_catpvf(spec, ",%s", *flag);

    settings->croak_on_bless = option_is_set(aTHX_ options, "croak_on_bless");
    settings->no_bless = option_is_set(aTHX_ options, "no_bless_objects");
    read_class_list(aTHX_ options, "freeze_allow_classes", &settings->freeze_allow_classes);
    settings->serializes_refused = has_deny_action(aTHX_ options, "freeze_deny_action", "serialize");
    settings->freeze_callbacks = settings->freeze_allow_classes || option_is_set(aTHX_ options, "freeze_callbacks");
    settings->undef_unknown = option_is_set(aTHX_ options, "undef_unknown");
    settings->stringify_unknown = option_is_set(aTHX_ options, "stringify_unknown");
    if (settings->undef_unknown && settings->stringify_unknown)
        croak("'undef_unknown' and 'stringify_unknown' options are mutually exclusive");
    if (settings->no_bless && settings->freeze_callbacks)
        croak("The no_bless_objects option is mutually exclusive with freeze support (freeze_callbacks / "
              "freeze_allow_classes)");
    if (get_option(aTHX_ options, "warn_unknown", &value)) {
        IV warn_unknown = SvIV(value);
        settings->warn_unknown = warn_unknown < 0 ? ICE_WARN_UNLESS_OVERLOADED
                               : warn_unknown > 0 ? ICE_WARN_ALWAYS
                                                  : ICE_WARN_NEVER;
    }
    if (get_option(aTHX_ options, "max_recursion_depth", &value))
        settings->max_depth = SvUV(value) > 1 ? SvUV(value) - 1 : SvUV(value);
    enc->stage = ice_writer_new(aTHX_ SvPVX(spec), SvCUR(spec));
}

/* ---- decoders ---------------------------------------------------------- */

void
isr_clear_decoder(pTHX_ void *data)
{
    ice_sereal_decoder *dec = (ice_sereal_decoder *)data;
    icecore_stage_free(dec->stage);
    SvREFCNT_dec(dec->classes);
    SvREFCNT_dec(dec->settings.thaw_allow_classes);
    SvREFCNT_dec((SV *)dec->settings.aliased_integers);
    Zero(dec, 1, ice_sereal_decoder);
}

/* Returns the spec of a reader. */
static SV *
reader_spec(pTHX_ HV *options)
{
    const char *const flags[] = { "refuse_snappy", "refuse_zlib", "refuse_zstd", "refuse_objects", NULL };
    const char *const numbers[] = { "max_num_hash_entries", "max_num_array_entries", NULL };
    const char *const *name;
    SV *value, *spec = sv_2mortal(newSVpvs("sereal"));
    char separator = ':';
    for (name = flags; *name; name++)
        if (option_is_set(aTHX_ options, *name)) {
            sv_catpvf(spec, "%c%s", separator, *name);
            separator = ',';
        }
    for (name = numbers; *name; name++)
        if (get_option(aTHX_ options, *name, &value)) {
            sv_catpvf(spec, "%c%s=%" UVuf, separator, *name, SvUV(value));
            separator = ',';
        }
    return spec;
}

/* Sereal's messages. An error is recognized by a part of the engine's message. */
static const struct {
    const char *engine_text, *sereal_message;
} error_messages[] = {
    { "encoded as UTF-8", "Bad Sereal header: It seems your document was accidentally UTF-8 encoded" },
    { "goes with the magic number", "Bad Sereal header: Not a valid Sereal document." },
    { "snappy (the option", "Sereal document is compressed with Snappy, but this decoder is configured to refuse "
                            "Snappy-compressed input." },
    { "found zlib (the option", "Sereal document is compressed with ZLIB, but this decoder is configured to refuse "
                                "ZLIB-compressed input." },
    { "found zstd (the option", "Sereal document is compressed with ZSTD, but this decoder is configured to refuse "
                                "ZSTD-compressed input." },
    { "compressed with snappy", "Snappy decompression of Sereal packet payload failed" },
    { "compressed with zlib", "ZLIB decompression of Sereal packet payload failed" },
    { "compressed with zstd", "ZSTD decompression of Sereal packet payload failed" },
    { "(the option `refuse_objects`", "Encountered object in input, but the 'refuse_objects' option is in effect" },
    { "levels of nesting", "Reached recursion limit during deserialization" },
};

/* See ice_read_settings. */
static SV *
translate_error(pTHX_ const icecore_error *error, const char *bytes, STRLEN len)
{
    SV *sereal_message = sv_2mortal(newSVpvs("Sereal: Error"));
    size_t i;
    PERL_UNUSED_VAR(bytes);
    if (error->kind == ICECORE_LIMIT && strstr(error->message, "after decompression"))
        return sv_2mortal(newSVpvs("The expected uncompressed size is larger than the allowed maximum size"));
    for (i = 0; i < C_ARRAY_LENGTH(error_messages); i++)
        if (strstr(error->message, error_messages[i].engine_text)) {
            sv_catpvf(sereal_message, ": %s", error_messages[i].sereal_message);
            return sereal_message;
        }
    if (error->kind == ICECORE_FORMAT || len < SHORTEST_DOCUMENT)
        sv_catpvs(sereal_message, ": Bad Sereal header: Not a valid Sereal document.");
    else if (error->kind == ICECORE_TRUNCATED)
        sv_catpvs(sereal_message, ": Unexpected termination of packet");
    return sereal_message;
}

void
ice_sereal_apply_decode_settings(ice_read_settings *settings)
{
    settings->thaw_format = "Sereal";
    settings->no_thaw_message = "Sereal: Error: No THAW method defined for class";
    settings->bare_regexps = TRUE;
    settings->names_limit_options = TRUE;
    settings->thaws_at_end = TRUE;
}

void
isr_make_decoder(pTHX_ ice_sereal_decoder *dec, HV *options)
{
    SV *value, *spec = reader_spec(aTHX_ options);
    ice_read_settings *settings = &dec->settings;

    ice_sereal_apply_decode_settings(settings);
    settings->translate_error = translate_error;
    settings->thaw_args_class = "Sereal::Decoder::THAW_args";
    /* Without validate_utf8, any bytes may be marked as UTF-8. */
    settings->trusts_utf8_flag = !option_is_set(aTHX_ options, "validate_utf8");
    settings->invalid_utf8_message = "Sereal: Error: Invalid UTF8 byte sequence (the option `validate_utf8` is set)";
    settings->untainted_integers = TRUE;
    settings->tie_ok = TRUE;
    settings->bless_ok = !option_is_set(aTHX_ options, "no_bless_objects");
    dec->refuse_objects = option_is_set(aTHX_ options, "refuse_objects");
    /* If objects are not blessed, they are not thawed either, unless no_thaw_objects says so. */
    settings->no_thaw =
        get_option(aTHX_ options, "no_thaw_objects", &value) ? cBOOL(SvTRUE(value)) : !settings->bless_ok;
    settings->use_undef = option_is_set(aTHX_ options, "use_undef");
    settings->readonly = option_is_set(aTHX_ options, "set_readonly");
    settings->readonly_scalars = option_is_set(aTHX_ options, "set_readonly_scalars");
    dec->incremental = option_is_set(aTHX_ options, "incremental");
    if (get_option(aTHX_ options, "classes", &value)) {
        dec->classes = newSVsv(value);
        settings->classes = dec->classes;
    }
    read_class_list(aTHX_ options, "thaw_allow_classes", &settings->thaw_allow_classes);
    settings->thaws_refused_raw = has_deny_action(aTHX_ options, "thaw_deny_action", "raw");
    if (get_option(aTHX_ options, "alias_varint_under", &value) && SvTRUE(value))
        /* Small integers are those from -16 to 15. */
        settings->alias_limit = SvIV(value) >= 0 && SvIV(value) < 16 ? 16 : SvIV(value);
    else if (option_is_set(aTHX_ options, "alias_smallint"))
        settings->alias_limit = 16;
    if (settings->alias_limit)
        settings->aliased_integers = newAV();
    dec->stage = ice_stage_new(aTHX_ SvPVX(spec), SvCUR(spec));
    if (get_option(aTHX_ options, "max_recursion_depth", &value))
        ice_set_stage_limit(aTHX_ dec->stage, "depth", SvUV(value));
    if (get_option(aTHX_ options, "max_string_length", &value) && SvUV(value))
        ice_set_stage_limit(aTHX_ dec->stage, "string", SvUV(value));
    if (get_option(aTHX_ options, "max_uncompressed_size", &value) && SvUV(value))
        ice_set_stage_limit(aTHX_ dec->stage, "decompressed", SvUV(value));
}
