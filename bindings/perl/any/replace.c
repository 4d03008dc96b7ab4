/* Replaces text in frozen data. No value is built. Perl code (magic of the arguments) only runs
 * before the engine reads the data. */
#include "any/any.h"
#include "core/documents.h"

#define MY_CXT_KEY "Icecore::replace" XS_VERSION
typedef struct {
    icecore_replacer *replacer; /* compiled from the pairs of the last call; or NULL */
} my_cxt_t;
START_MY_CXT

void
ice_replace_boot(pTHX)
{
    MY_CXT_INIT;
    MY_CXT.replacer = NULL;
}

void
ice_replace_clone(pTHX)
{
    MY_CXT_CLONE;
    MY_CXT.replacer = NULL;
}

void
ice_replace_end(pTHX)
{
    dMY_CXT;
    icecore_replacer_free(MY_CXT.replacer);
    MY_CXT.replacer = NULL;
}

/* ---- options ----------------------------------------------------------- */

typedef struct {
    SV *format;                          /* the name of a format in UTF-8; or NULL */
    HV *report;                          /* or NULL */
    UV max_depth, max_uncompressed_size; /* 0 for the default */
    U32 flags;
} replace_options;

/* Returns the flag that an option sets; 0 for other options. */
static U32
find_flag(const char *name)
{
    return strEQ(name, "keys")        ? ICECORE_REPLACE_KEYS
         : strEQ(name, "classes")     ? ICECORE_REPLACE_CLASSES
         : strEQ(name, "base64")      ? ICECORE_REPLACE_BASE64
         : strEQ(name, "mend")        ? ICECORE_REPLACE_MEND
         : strEQ(name, "regex")       ? ICECORE_REPLACE_REGEX
         : strEQ(name, "ignore_case") ? ICECORE_REPLACE_IGNORE_CASE
         : strEQ(name, "url")         ? ICECORE_REPLACE_URL
                                      : 0;
}

/* Returns the value of the option `format`: a mortal, or NULL. */
static SV *
read_format(pTHX_ SV *value)
{
    STRLEN len;
    const char *format;
    SvGETMAGIC(value);
    if (!SvOK(value))
        return NULL;
    format = SvPVutf8(value, len);
    return sv_2mortal(newSVpvn(format, len));
}

/* Returns the hash of the option `report`. A mortal reference keeps it alive, because reading later
 * arguments may run perl code. */
static HV *
read_report(pTHX_ SV *value)
{
    SvGETMAGIC(value);
    if (!SvROK(value) || SvTYPE(SvRV(value)) != SVt_PVHV || SvMAGICAL(SvRV(value)) || SvREADONLY(SvRV(value)))
        croak("Icecore: report takes a reference to a hash, as report => \\my %%report");
    return (HV *)sv_2mortal(SvREFCNT_inc_simple_NN(SvRV(value)));
}

/* Reads the options from perl's stack, up to the index `end`. */
static void
read_options(pTHX_ replace_options *options, I32 stack_index, I32 end)
{
    if ((end - stack_index) % 2)
        croak("Icecore: options are pairs of a name and a value");
    for (; stack_index < end; stack_index += 2) {
        const char *name = SvPV_nolen(PL_stack_base[stack_index]);
        const U32 flag = find_flag(name);
        SV *value = PL_stack_base[stack_index + 1];
        if (flag)
            options->flags = SvTRUE(value) ? options->flags | flag : options->flags & ~flag;
        else if (strEQ(name, "format"))
            options->format = read_format(aTHX_ value);
        else if (strEQ(name, "report"))
            options->report = read_report(aTHX_ value);
        else if (strEQ(name, "max_recursion_depth"))
            options->max_depth = SvUV(value);
        else if (strEQ(name, "max_uncompressed_size"))
            options->max_uncompressed_size = SvUV(value);
        else
            croak("Icecore: there is no option '%s'; there are keys, classes, base64, mend, regex, ignore_case, url, "
                  "format, report, max_recursion_depth and max_uncompressed_size",
                  name);
    }
}

/* ---- pairs ------------------------------------------------------------- */

typedef struct {
    icecore_pair *items; /* in `memory`; their texts are mortals */
    STRLEN count, capacity;
    SV *memory; /* a mortal, or NULL */
} pairs;

/* Returns the bytes of an argument. They are copied to a mortal, because later arguments may run
 * code that changes the first one. */
static const U8 *
copy_bytes(pTHX_ SV *sv, const char *argument_name, size_t *len)
{
    STRLEN text_len;
    const char *text;
    SvGETMAGIC(sv);
    if (SvROK(sv) || !SvOK(sv))
        croak("Icecore: %s must be a string, not %s", argument_name, SvOK(sv) ? "a reference" : "undefined");
    sv = sv_2mortal(newSVsv_nomg(sv));
    if (SvUTF8(sv) && !sv_utf8_downgrade(sv, TRUE))
        croak("Icecore: %s has characters above 255, and frozen data is bytes: encode it first", argument_name);
    text = SvPV(sv, text_len);
    *len = text_len;
    return (const U8 *)text;
}

/* Appends a pair of an old and a new text. */
static void
add_pair(pTHX_ pairs *list, SV *from, SV *to)
{
    icecore_pair *pair;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 8;
        if (!list->memory)
            list->memory = sv_2mortal(newSV(0));
        SvUPGRADE(list->memory, SVt_PV);
        list->items = (icecore_pair *)SvGROW(list->memory, list->capacity * sizeof *list->items);
    }
    pair = &list->items[list->count];
    pair->from = copy_bytes(aTHX_ from, "OLD", &pair->from_len);
    pair->to = copy_bytes(aTHX_ to, "NEW", &pair->to_len);
    list->count++;
}

/* Appends the entries of a hash as pairs. */
static void
add_pairs(pTHX_ pairs *list, HV *hash)
{
    HE *entry;
    hv_iterinit(hash);
    while ((entry = hv_iternext(hash)))
        add_pair(aTHX_ list, hv_iterkeysv(entry), hv_iterval(hash, entry));
}

/* ---- replacing --------------------------------------------------------- */

/* Dies of an error in the data. */
static void
croak_error(pTHX_ const icecore_error *error, const char *bytes, STRLEN len)
{
    ice_read_settings settings;
    Zero(&settings, 1, ice_read_settings);
    settings.names_limit_options = TRUE;
    ice_croak_read_error(aTHX_ error, &settings, bytes, len);
}

/* Prepares the replacer for this call. Pairs that are equal to those of the last call are not
 * compiled again. */
static icecore_replacer *
prepare_replacer(pTHX_ const replace_options *options, const pairs *list)
{
    dMY_CXT;
    icecore_error error;
    STRLEN len = 0;
    const char *format = NULL;
    if (options->format)
        format = SvPV(options->format, len);
    if (!MY_CXT.replacer)
        MY_CXT.replacer = icecore_replacer_new();
    if (icecore_replacer_prepare(MY_CXT.replacer, list->items, list->count, format, len, options->flags, &error)
        != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    if (options->max_depth)
        icecore_replacer_limit(MY_CXT.replacer, STR_WITH_LEN("depth"), options->max_depth, NULL);
    if (options->max_uncompressed_size)
        icecore_replacer_limit(MY_CXT.replacer, STR_WITH_LEN("decompressed"), options->max_uncompressed_size, NULL);
    return MY_CXT.replacer;
}

/* Fills the hash of the option `report`. The engine lists explanations as `NAME=COUNT,...`. */
static void
fill_report(pTHX_ HV *report, const icecore_replaced *counts)
{
    HV *explanations = newHV();
    const char *name, *end;
    char *next;
    hv_clear(report);
    for (name = counts->explanations; (end = strchr(name, '=')); name = next + (*next == ',')) {
        UV number = (UV)strtoul(end + 1, &next, 10);
        (void)hv_store(explanations, name, (I32)(end - name), newSVuv(number), 0);
    }
    (void)hv_stores(report, "explanations", newRV_noinc((SV *)explanations));
    (void)hv_stores(report, "guessed", newSVuv(counts->guessed));
    (void)hv_stores(report, "strings", newSVuv(counts->strings));
    (void)hv_stores(report, "occurrences", newSVuv(counts->occurrences));
    (void)hv_stores(report, "frozen", newSVuv(counts->frozen));
    (void)hv_stores(report, "broken", newSVuv(counts->broken));
    (void)hv_stores(report, "mended", newSVuv(counts->mended));
    (void)hv_stores(report, "opaque", newSVuv(counts->opaque));
    (void)hv_stores(report, "unsayable", newSVuv(counts->unsayable));
    (void)hv_stores(report, "signed", newSVuv(counts->signed_values));
    (void)hv_stores(report, "first_broken",
                    *counts->first_broken ? newSVpvn_utf8(counts->first_broken, strlen(counts->first_broken), 1)
                                          : newSV(0));
}

/* Returns the data with the replacements, as a new SV. */
static SV *
replace_in(pTHX_ const icecore_replacer *replacer, const char *bytes, STRLEN len, icecore_replaced *counts)
{
    icecore_error error;
    icecore_buffer out = { NULL, 0, 0 };
    SV *result;
    if (icecore_replacer_apply(replacer, (const U8 *)bytes, len, &out, counts, &error) != ICECORE_OK)
        croak_error(aTHX_ & error, bytes, len);
    result = counts->is_changed ? newSVpvn((const char *)out.bytes, out.len) : newSVpvn(bytes, len);
    icecore_buffer_free(&out);
    return result;
}

SV *
ice_replace(pTHX_ I32 stack_index, I32 count)
{
    replace_options options = { NULL, NULL, 0, 0, 0 };
    pairs list = { NULL, 0, 0, NULL };
    SV *const first = count ? PL_stack_base[stack_index] : &PL_sv_undef;
    const bool is_map = SvROK(first) && SvTYPE(SvRV(first)) == SVt_PVHV;
    const I32 data_index = stack_index + (is_map ? 1 : 2);
    const icecore_replacer *replacer;
    icecore_replaced counts;
    const char *bytes;
    STRLEN len;
    SV *result;

    if (data_index >= stack_index + count)
        croak("Usage: Icecore::replace($old, $new, $data, %%options), or Icecore::replace(\\%%pairs, $data, "
              "%%options)");
    /* Reading an argument may run perl code, and this code may move perl's stack. So each argument
     * is found by its index when it is needed. */
    ENTER;
    SAVETMPS;
    read_options(aTHX_ & options, data_index + 1, stack_index + count);
    if (is_map)
        add_pairs(aTHX_ & list, (HV *)SvRV(first));
    else
        add_pair(aTHX_ & list, first, PL_stack_base[stack_index + 1]);
    bytes = ice_frozen_bytes(aTHX_ PL_stack_base[data_index], &len);
    replacer = prepare_replacer(aTHX_ & options, &list);
    result = replace_in(aTHX_ replacer, bytes, len, &counts);
    if (options.report)
        fill_report(aTHX_ options.report, &counts);
    FREETMPS;
    LEAVE;
    return result;
}
