/* Replaces text inside of frozen data; nothing is built. Perl code that may run (magic
 * of the arguments) runs before the engine looks at the first byte. */
#include "any/any.h"
#include "core/documents.h"

#define MY_CXT_KEY "Icecore::replace" XS_VERSION
typedef struct {
    icecore_replacer *replacer; /* the last pairs, compiled; or NULL */
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
    SV *format; /* a text in UTF-8; or NULL */
    HV *report; /* or NULL */
    UV depth, uncompressed; /* 0: the default */
    U32 flags;
} settings;

static U32
flag_named(const char *name)
{
    return strEQ(name, "keys")          ? ICECORE_REPLACE_KEYS
           : strEQ(name, "classes")     ? ICECORE_REPLACE_CLASSES
           : strEQ(name, "base64")      ? ICECORE_REPLACE_BASE64
           : strEQ(name, "mend")        ? ICECORE_REPLACE_MEND
           : strEQ(name, "regex")       ? ICECORE_REPLACE_REGEX
           : strEQ(name, "ignore_case") ? ICECORE_REPLACE_IGNORE_CASE
           : strEQ(name, "url")         ? ICECORE_REPLACE_URL
                                        : 0;
}

static SV *
format_in(pTHX_ SV *value)
{
    STRLEN len;
    const char *format;
    SvGETMAGIC(value);
    if (!SvOK(value))
        return NULL;
    format = SvPVutf8(value, len);
    return sv_2mortal(newSVpvn(format, len));
}

static HV *
report_in(pTHX_ SV *value)
{
    SvGETMAGIC(value);
    if (!SvROK(value) || SvTYPE(SvRV(value)) != SVt_PVHV || SvMAGICAL(SvRV(value)) || SvREADONLY(SvRV(value)))
        croak("Icecore: report takes a reference to a hash, as report => \\my %%report");
    return (HV *)sv_2mortal(SvREFCNT_inc_simple_NN(SvRV(value)));
}

static void
take_options(pTHX_ settings *set, I32 at, I32 end)
{
    if ((end - at) % 2)
        croak("Icecore: options are pairs of a name and a value");
    for (; at < end; at += 2) {
        const char *name = SvPV_nolen(PL_stack_base[at]);
        const U32 flag = flag_named(name);
        SV *value = PL_stack_base[at + 1];
        if (flag)
            set->flags = SvTRUE(value) ? set->flags | flag : set->flags & ~flag;
        else if (strEQ(name, "format"))
            set->format = format_in(aTHX_ value);
        else if (strEQ(name, "report"))
            set->report = report_in(aTHX_ value);
        else if (strEQ(name, "max_recursion_depth"))
            set->depth = SvUV(value);
        else if (strEQ(name, "max_uncompressed_size"))
            set->uncompressed = SvUV(value);
        else
            croak("Icecore: there is no option '%s'; there are keys, classes, base64, mend, regex, ignore_case, url, "
                  "format, report, max_recursion_depth and max_uncompressed_size",
                  name);
    }
}

/* ---- pairs ------------------------------------------------------------- */

typedef struct {
    icecore_pair *all; /* in a mortal, and so are their texts */
    STRLEN count, room;
    SV *memory;
} pairs;

/* Returns the bytes of a text, in a mortal, because later arguments may run code that
 * changes the text. */
static const U8 *
text_of(pTHX_ SV *sv, const char *what, size_t *len)
{
    STRLEN found;
    const char *text;
    SvGETMAGIC(sv);
    if (SvROK(sv) || !SvOK(sv))
        croak("Icecore: %s must be a string, not %s", what, SvOK(sv) ? "a reference" : "undefined");
    sv = sv_2mortal(newSVsv_nomg(sv));
    if (SvUTF8(sv) && !sv_utf8_downgrade(sv, TRUE))
        croak("Icecore: %s has characters above 255, and frozen data is bytes: encode it first", what);
    text = SvPV(sv, found);
    *len = found;
    return (const U8 *)text;
}

static void
add_pair(pTHX_ pairs *list, SV *from, SV *to)
{
    icecore_pair *pair;
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 8;
        if (!list->memory)
            list->memory = sv_2mortal(newSV(0));
        SvUPGRADE(list->memory, SVt_PV);
        list->all = (icecore_pair *)SvGROW(list->memory, list->room * sizeof *list->all);
    }
    pair = &list->all[list->count];
    pair->from = text_of(aTHX_ from, "OLD", &pair->from_len);
    pair->to = text_of(aTHX_ to, "NEW", &pair->to_len);
    list->count++;
}

static void
add_pairs(pTHX_ pairs *list, HV *hash)
{
    HE *entry;
    hv_iterinit(hash);
    while ((entry = hv_iternext(hash)))
        add_pair(aTHX_ list, hv_iterkeysv(entry), hv_iterval(hash, entry));
}

/* ---- replacing --------------------------------------------------------- */

static void
croak_error(pTHX_ const icecore_error *error, const char *bytes, STRLEN len)
{
    ice_read_settings set;
    Zero(&set, 1, ice_read_settings);
    set.names_limits = TRUE;
    ice_croak_read_error(aTHX_ error, &set, bytes, len);
}

/* Prepares the kept replacer for this call. */
static icecore_replacer *
prepare(pTHX_ const settings *set, const pairs *list)
{
    dMY_CXT;
    icecore_error error;
    STRLEN len = 0;
    const char *format = NULL;
    if (set->format)
        format = SvPV(set->format, len);
    if (!MY_CXT.replacer)
        MY_CXT.replacer = icecore_replacer_new();
    if (icecore_replacer_prepare(MY_CXT.replacer, list->all, list->count, format, len, set->flags, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    if (set->depth)
        icecore_replacer_limit(MY_CXT.replacer, "depth", 5, set->depth, NULL);
    if (set->uncompressed)
        icecore_replacer_limit(MY_CXT.replacer, "decompressed", 12, set->uncompressed, NULL);
    return MY_CXT.replacer;
}

static void
fill_report(pTHX_ HV *report, const icecore_replaced *counts)
{
    HV *explanations = newHV();
    const char *at, *end;
    char *next;
    hv_clear(report);
    for (at = counts->explanations; (end = strchr(at, '=')); at = next + (*next == ',')) {
        UV number = (UV)strtoul(end + 1, &next, 10);
        (void)hv_store(explanations, at, (I32)(end - at), newSVuv(number), 0);
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
    (void)hv_stores(report, "first_broken", *counts->first_broken ? newSVpvn_utf8(counts->first_broken, strlen(counts->first_broken), 1) : newSV(0));
}

/* Returns a new string, which is not a mortal. */
static SV *
replaced(pTHX_ const icecore_replacer *replacer, const char *bytes, STRLEN len, icecore_replaced *counts)
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
ice_replace(pTHX_ I32 at, I32 count)
{
    settings set = { NULL, NULL, 0, 0, 0 };
    pairs list = { NULL, 0, 0, NULL };
    SV *const first = count ? PL_stack_base[at] : &PL_sv_undef;
    const bool is_map = SvROK(first) && SvTYPE(SvRV(first)) == SVt_PVHV;
    const I32 data = at + (is_map ? 1 : 2);
    const icecore_replacer *replacer;
    icecore_replaced counts;
    const char *bytes;
    STRLEN len;
    SV *result;

    if (data >= at + count)
        croak("Usage: Icecore::replace($old, $new, $data, %%options), or Icecore::replace(\\%%pairs, $data, %%options)");
    ENTER;
    SAVETMPS;
    take_options(aTHX_ & set, data + 1, at + count);
    if (is_map)
        add_pairs(aTHX_ & list, (HV *)SvRV(first));
    else
        add_pair(aTHX_ & list, first, PL_stack_base[at + 1]);
    bytes = ice_bytes(aTHX_ PL_stack_base[data], &len);
    replacer = prepare(aTHX_ & set, &list);
    result = replaced(aTHX_ replacer, bytes, len, &counts);
    if (set.report)
        fill_report(aTHX_ set.report, &counts);
    FREETMPS;
    LEAVE;
    return result;
}
