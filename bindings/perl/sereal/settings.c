/* The options of encoders and decoders. */
#include "sereal/settings.h"
#include "core/class_lists.h"
#include "core/documents.h"

/* A magic number, a version, the length of the suffix and a tag. */
enum { SHORTEST = 7 };

HV *
isr_options_of(pTHX_ SV *options)
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

/* Reads the classes that an option allows into `list`, which stays NULL without the
 * option. */
static void
option_classes(pTHX_ HV *options, const char *name, SV **list)
{
    SV *value;
    if (option(aTHX_ options, name, &value))
        ice_class_list_make(aTHX_ list, name, value);
}

/* Whether the action of an option for denied classes is `other`, and not `croak`. */
static bool
is_denied_otherwise(pTHX_ HV *options, const char *name, const char *other)
{
    SV *value;
    const char *action;
    if (!option(aTHX_ options, name, &value))
        return FALSE;
    action = SvPV_nolen(value);
    if (strNE(action, "croak") && strNE(action, other))
        croak("The '%s' option must be 'croak' or '%s'", name, other);
    return strEQ(action, other);
}

/* ---- encoders ---------------------------------------------------------- */

void
isr_clear_encoder(pTHX_ void *data)
{
    ice_sereal_encoder *enc = (ice_sereal_encoder *)data;
    icecore_stage_free(enc->stage);
    SvREFCNT_dec(enc->set.freeze_allow);
    Zero(enc, 1, ice_sereal_encoder);
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

/* Adds the options that make equal data equal bytes. */
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

void
isr_make_encoder(pTHX_ ice_sereal_encoder *enc, HV *options)
{
    const char *const flags[] = { "no_bless_objects",       "no_shared_hashkeys",  "dedupe_strings",
                                  "aliased_dedupe_strings", "use_standard_double", NULL };
    const char *const *flag;
    SV *value, *spec = sv_2mortal(newSVpvs("sereal:no_spelling"));
    ice_write_settings *set = &enc->set;

    set->rules = &ice_sereal_rules;
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
    option_classes(aTHX_ options, "freeze_allow_classes", &set->freeze_allow);
    set->freezes_allowed_only = is_denied_otherwise(aTHX_ options, "freeze_deny_action", "serialize");
    set->freeze_callbacks = set->freeze_allow || option_is_set(aTHX_ options, "freeze_callbacks");
    set->undef_unknown = option_is_set(aTHX_ options, "undef_unknown");
    set->stringify_unknown = option_is_set(aTHX_ options, "stringify_unknown");
    if (set->undef_unknown && set->stringify_unknown)
        croak("'undef_unknown' and 'stringify_unknown' options are mutually exclusive");
    if (set->no_bless && set->freeze_callbacks)
        croak("The no_bless_objects option is mutually exclusive with freeze support (freeze_callbacks / "
              "freeze_allow_classes)");
    if (option(aTHX_ options, "warn_unknown", &value)) {
        IV warn_unknown = SvIV(value);
        set->warn_unknown = warn_unknown < 0 ? 2 : warn_unknown > 0 ? 1 : 0;
    }
    if (option(aTHX_ options, "max_recursion_depth", &value))
        set->max_depth = SvUV(value);
    enc->stage = ice_writer_new(aTHX_ SvPVX(spec), SvCUR(spec));
}

/* ---- decoders ---------------------------------------------------------- */

void
isr_clear_decoder(pTHX_ void *data)
{
    ice_sereal_decoder *dec = (ice_sereal_decoder *)data;
    icecore_stage_free(dec->stage);
    SvREFCNT_dec(dec->classes);
    SvREFCNT_dec(dec->set.thaw_allow);
    SvREFCNT_dec((SV *)dec->set.aliases);
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

/* Sereal's messages for errors that are recognized by a part of the engine's message. */
static const struct {
    const char *part, *words;
} error_words[] = {
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

/* Returns the words with which Sereal's message begins. */
static SV *
original_words(pTHX_ const icecore_error *error, const char *bytes, STRLEN len)
{
    SV *words = sv_2mortal(newSVpvs("Sereal: Error"));
    size_t i;
    PERL_UNUSED_VAR(bytes);
    if (error->kind == ICECORE_LIMIT && strstr(error->message, "after decompression"))
        return sv_2mortal(newSVpvs("The expected uncompressed size is larger than the allowed maximum size"));
    for (i = 0; i < C_ARRAY_LENGTH(error_words); i++)
        if (strstr(error->message, error_words[i].part)) {
            sv_catpvf(words, ": %s", error_words[i].words);
            return words;
        }
    if (error->kind == ICECORE_FORMAT || len < SHORTEST)
        sv_catpvs(words, ": Bad Sereal header: Not a valid Sereal document.");
    else if (error->kind == ICECORE_TRUNCATED)
        sv_catpvs(words, ": Unexpected termination of packet");
    return words;
}

void
ice_sereal_words(ice_read_settings *set)
{
    set->thaws_for = "Sereal";
    set->no_method = "Sereal: Error: No THAW method defined for class";
    set->bare_regexps = TRUE;
    set->names_limits = TRUE;
    set->thaws_last = TRUE;
}

void
isr_make_decoder(pTHX_ ice_sereal_decoder *dec, HV *options)
{
    SV *value, *spec = reader_spec(aTHX_ options);
    ice_read_settings *set = &dec->set;

    ice_sereal_words(set);
    set->original_words = original_words;
    set->args_class = "Sereal::Decoder::THAW_args";
    /* Perl decides what is UTF-8: surrogates are. */
    set->as_marked = !option_is_set(aTHX_ options, "validate_utf8");
    set->bad_text = "Sereal: Error: Invalid UTF8 byte sequence (the option `validate_utf8` is set)";
    set->clean_integers = TRUE;
    set->tie_ok = TRUE;
    set->bless_ok = !option_is_set(aTHX_ options, "no_bless_objects");
    dec->refuse_objects = option_is_set(aTHX_ options, "refuse_objects");
    /* Without objects nothing is thawed either, unless it is requested. */
    set->no_thaw = option(aTHX_ options, "no_thaw_objects", &value) ? cBOOL(SvTRUE(value)) : !set->bless_ok;
    set->undef_own = option_is_set(aTHX_ options, "use_undef");
    set->readonly = option_is_set(aTHX_ options, "set_readonly");
    set->readonly_scalars = option_is_set(aTHX_ options, "set_readonly_scalars");
    dec->incremental = option_is_set(aTHX_ options, "incremental");
    if (option(aTHX_ options, "classes", &value)) {
        dec->classes = newSVsv(value);
        set->classes = dec->classes;
    }
    option_classes(aTHX_ options, "thaw_allow_classes", &set->thaw_allow);
    set->thaw_raw = is_denied_otherwise(aTHX_ options, "thaw_deny_action", "raw");
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
