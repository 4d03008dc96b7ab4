/* Implements Data::Dumper: its settings, and functions that dump values and read texts. */
#include "dumper/dumper.h"
#include "core/documents.h"

static const char *const flag_names[ID_FLAG_COUNT] = { ID_FLAG_NAMES };
static const char *const number_names[ID_NUMBER_COUNT] = { ID_NUMBER_NAMES };
static const char *const text_names[ID_TEXT_COUNT] = { ID_TEXT_NAMES };
static const char *const default_texts[ID_TEXT_COUNT] = { ID_DEFAULT_TEXTS };
static const U8 default_lengths[ID_TEXT_COUNT] = { 0, 3, 4, 5, 0, 0, 0 };

/* Number of writers that are kept. */
enum { CACHED_STAGES = 4 };
typedef struct {
    SV *spec;
    U32 settings_key; /* see settings_key_of */
    icecore_stage *stage;
} cached_stage;

#define MY_CXT_KEY "Icecore::dumper" XS_VERSION
typedef struct {
    GV *flags[ID_FLAG_COUNT], *numbers[ID_NUMBER_COUNT], *texts[ID_TEXT_COUNT];
    cached_stage stages[CACHED_STAGES];
    U32 next; /* modulo CACHED_STAGES, the index of the stage that is replaced next */
    HV *stash;
    icecore_stage *reader;
} my_cxt_t;
START_MY_CXT

/* Returns a package variable; creates it if it does not exist. */
static GV *
find_variable(pTHX_ const char *name)
{
    SV *full = sv_2mortal(newSVpvf("Icecore::Dumper::%s", name));
    GV *gv = gv_fetchsv(full, GV_ADDMULTI, SVt_PV);
    return (GV *)SvREFCNT_inc_simple_NN((SV *)gv);
}

static void
init_state(pTHX_ my_cxt_t *cxt)
{
    int i;
    Zero(cxt, 1, my_cxt_t);
    ENTER;
    SAVETMPS;
    for (i = 0; i < ID_FLAG_COUNT; i++)
        cxt->flags[i] = find_variable(aTHX_ flag_names[i]);
    for (i = 0; i < ID_NUMBER_COUNT; i++)
        cxt->numbers[i] = find_variable(aTHX_ number_names[i]);
    for (i = 0; i < ID_TEXT_COUNT; i++)
        cxt->texts[i] = find_variable(aTHX_ text_names[i]);
    FREETMPS;
    LEAVE;
    cxt->stash = gv_stashpvs("Icecore::Dumper", GV_ADD);
}

void
ice_dumper_boot(pTHX)
{
    MY_CXT_INIT;
    init_state(aTHX_ & MY_CXT);
}

void
ice_dumper_clone(pTHX)
{
    MY_CXT_CLONE;
    init_state(aTHX_ & MY_CXT);
}

void
ice_dumper_end(pTHX)
{
    dMY_CXT;
    int i;
    for (i = 0; i < CACHED_STAGES; i++) {
        icecore_stage_free(MY_CXT.stages[i].stage);
        SvREFCNT_dec(MY_CXT.stages[i].spec);
    }
    Zero(MY_CXT.stages, CACHED_STAGES, cached_stage);
    icecore_stage_free(MY_CXT.reader);
    MY_CXT.reader = NULL;
}

/* ---- settings ---------------------------------------------------------- */

/* Sets a text to a copy of the value, or to NULL if the value is the default. */
static void
set_text(pTHX_ id_settings *settings, int setting, SV *value)
{
    SV *old = settings->texts[setting];
    STRLEN len;
    const char *text;
    settings->texts[setting] = NULL;
    if (value && SvOK(value)) {
        if (SvROK(value))
            settings->texts[setting] = newSVsv(value);
        else {
            text = SvPV(value, len);
            if (len != default_lengths[setting] || memNE(text, default_texts[setting], len))
                settings->texts[setting] = newSVsv(value);
        }
    }
    SvREFCNT_dec(old);
}

/* Reads the settings from the package's variables. */
static void
read_package_settings(pTHX_ id_settings *settings)
{
    dMY_CXT;
    int i;
    Zero(settings, 1, id_settings);
    for (i = 0; i < ID_FLAG_COUNT; i++) {
        SV *sv = GvSV(MY_CXT.flags[i]);
        if (sv && SvTRUE(sv))
            settings->flags |= 1U << i;
    }
    for (i = 0; i < ID_NUMBER_COUNT; i++) {
        SV *sv = GvSV(MY_CXT.numbers[i]);
        settings->numbers[i] = sv && SvOK(sv) ? SvIV(sv) : 0;
    }
    for (i = 0; i < ID_TEXT_COUNT; i++)
        set_text(aTHX_ settings, i, GvSV(MY_CXT.texts[i]));
}

/* Returns true if a text is not the default. */
static bool
has_texts(const id_settings *settings)
{
    int i;
    for (i = 0; i < ID_TEXT_COUNT; i++)
        if (settings->texts[i])
            return TRUE;
    return FALSE;
}

/* Releases the texts of settings. */
static void
clear_settings(pTHX_ id_settings *settings)
{
    int i;
    for (i = 0; i < ID_TEXT_COUNT; i++)
        SvREFCNT_dec(settings->texts[i]);
}

/* Releases them when perl leaves a scope. */
static void
clear_settings_at_leave(pTHX_ void *settings)
{
    clear_settings(aTHX_ (id_settings *)settings);
}

/* ---- stages ------------------------------------------------------------ */

/* Returns the option with the names of the values. A value without a name gets `VAR` and a
 * number. */
static SV *
names_option(pTHX_ const id_settings *settings, AV *names)
{
    SV *list = sv_2mortal(newSVpvs(""));
    SSize_t i;
    for (i = 0; i <= AvFILL(names); i++) {
        SV **name = av_fetch(names, i, FALSE);
        STRLEN len = 0;
        if (i)
            sv_catpvs(list, ",");
        if (name && SvOK(*name))
            (void)SvPV(*name, len);
        if (len)
            sv_catsv(list, *name);
        else
            sv_catpvf(list, "%s%" IVdf, settings->texts[ID_VARNAME] ? SvPV_nolen(settings->texts[ID_VARNAME]) : "VAR",
                      (IV)i + 1);
    }
    return list;
}

/* Returns the spec of a writer. */
static SV *
writer_spec(pTHX_ const id_settings *settings, AV *names)
{
    /* `trusted`, because the values belong to the program. Then the text is that of
     * Data::Dumper. */
    SV *spec = sv_2mortal(newSVpvf("dumper:list,trusted,indent=%d",
                                   (int)(settings->numbers[ID_INDENT] < 0   ? 0
                                         : settings->numbers[ID_INDENT] > 3 ? 2
                                                                            : settings->numbers[ID_INDENT])));
    const char *const options[ID_FLAG_COUNT] = { "purity",        "terse",   "useqq",      "deepcopy", NULL,
                                                 "trailingcomma", "useperl", "sparseseen", NULL };
    const char *const texts[ID_TEXT_COUNT] = { "pad", "varname", "pair", "bless", NULL, "toaster", NULL };
    int i;
    for (i = 0; i < ID_FLAG_COUNT; i++)
        if (options[i] && settings->flags & 1U << i)
            sv_catpvf(spec, ",%s", options[i]);
    if (!(settings->flags & 1U << ID_QUOTEKEYS))
        sv_catpvs(spec, ",quotekeys=no");
    for (i = 0; i < ID_TEXT_COUNT; i++)
        if (texts[i] && settings->texts[i]) {
            sv_catpvs(spec, ",");
            ice_add_text_option(aTHX_ spec, texts[i], settings->texts[i]);
        }
    if (names && AvFILL(names) >= 0) {
        sv_catpvs(spec, ",");
        ice_add_text_option(aTHX_ spec, "names", names_option(aTHX_ settings, names));
    }
    return spec;
}

/* Returns a number that identifies the settings if they have no texts; otherwise 0. With such a
 * number, find_writer finds a cached writer without making a spec. */
static U32
settings_key_of(const id_settings *settings, AV *names)
{
    int i;
    if (names && AvFILLp(names) >= 0)
        return 0;
    /* The Freezer and Sortkeys are not part of a writer. */
    for (i = 0; i < ID_FREEZER; i++)
        if (settings->texts[i])
            return 0;
    if (settings->texts[ID_TOASTER] || settings->numbers[ID_INDENT] < 0 || settings->numbers[ID_INDENT] > 3)
        return 0;
    /* The flags are in the lower bits, Indent is above them. 1 is added, so the result is not 0. */
    return ((U32)settings->numbers[ID_INDENT] << ID_FLAG_COUNT | settings->flags) + 1;
}

/* Returns the writer for these settings. */
static const icecore_stage *
find_writer(pTHX_ const id_settings *settings, AV *names)
{
    dMY_CXT;
    const U32 settings_key = settings_key_of(settings, names);
    cached_stage *cached;
    SV *spec;
    int i;
    for (i = 0; settings_key && i < CACHED_STAGES; i++)
        if (MY_CXT.stages[i].settings_key == settings_key)
            return MY_CXT.stages[i].stage;
    spec = writer_spec(aTHX_ settings, names);
    for (i = 0; i < CACHED_STAGES; i++)
        if (MY_CXT.stages[i].spec && sv_eq(MY_CXT.stages[i].spec, spec))
            return MY_CXT.stages[i].stage;
    /* The cached stages are replaced one after another. */
    cached = &MY_CXT.stages[MY_CXT.next++ % CACHED_STAGES];
    {
        STRLEN len;
        const char *text = SvPV(spec, len);
        icecore_stage *stage = ice_writer_new(aTHX_ text, len);
        /* Losses are not reported, so their paths are not needed. */
        ice_set_stage_limit(aTHX_ stage, "loss-paths", 0);
        icecore_stage_free(cached->stage);
        SvREFCNT_dec(cached->spec);
        cached->stage = stage;
        cached->spec = newSVsv(spec);
        cached->settings_key = settings_key;
    }
    return cached->stage;
}

/* ---- dumping ----------------------------------------------------------- */

/* Makes the settings of the walk. The walk sets `needs_original` if Data::Dumper itself has to dump a value, and
 * counts in `undef_count` the uses of perl's own undef. */
static void
init_walk_settings(pTHX_ const id_settings *settings, ice_write_settings *walk_settings, bool *needs_original,
                   U32 *undef_count)
{
    Zero(walk_settings, 1, ice_write_settings);
    walk_settings->rules = &ice_dumper_rules;
    walk_settings->max_depth = settings->numbers[ID_MAXRECURSE] > 0 ? (UV)settings->numbers[ID_MAXRECURSE] + 1 : 0;
    walk_settings->sort_keys = settings->texts[ID_SORTKEYS] && SvTRUE(settings->texts[ID_SORTKEYS]);
    if (walk_settings->sort_keys && SvROK(settings->texts[ID_SORTKEYS])
        && SvTYPE(SvRV(settings->texts[ID_SORTKEYS])) == SVt_PVCV)
        walk_settings->sort_code = settings->texts[ID_SORTKEYS];
    walk_settings->freezer_method = settings->texts[ID_FREEZER] ? SvPV_nolen(settings->texts[ID_FREEZER]) : NULL;
    walk_settings->deparse = (settings->flags & 1U << ID_DEPARSE) != 0;
    walk_settings->warns_about_code = (settings->flags & 1U << ID_PURITY) != 0;
    walk_settings->needs_original = needs_original;
    walk_settings->undef_count = undef_count;
    /* With Purity, Data::Dumper also dumps the contents of a glob. */
    walk_settings->dumps_globs = (settings->flags & 1U << ID_PURITY) != 0;
}

/* Returns a list with one value. */
static AV *
list_of_one(pTHX_ SV *value)
{
    AV *list = (AV *)sv_2mortal((SV *)newAV());
    av_push(list, SvREFCNT_inc_simple_NN(value));
    return list;
}

/* Returns true if an array on the tape has an item that does not exist. */
static bool
has_holes(const icecore_tape *tape)
{
    size_t i;
    for (i = 0; i < tape->node_count; i++)
        if (tape->nodes[i].kind == ICECORE_HOLE)
            return TRUE;
    return FALSE;
}

/* Dumps `value`, or a list of values if it is NULL. Returns the text, see ice_dumper_dump. If a
 * value can only be dumped by Data::Dumper itself, sets `needs_original` and returns NULL. */
static SV *
dump_values(pTHX_ const id_settings *settings, SV *value, AV *values, AV *names, AV *texts, bool *needs_original)
{
    ice_write_settings walk_settings;
    ice_context *ctx;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    const icecore_stage *stage;
    SV *result = NULL;
    size_t start = 0;
    SSize_t i;
    U32 undef_count = 0;

    init_walk_settings(aTHX_ settings, &walk_settings, needs_original, &undef_count);
    ENTER;
    ctx = ice_take_context(aTHX);
    if (!value || !ice_walk_plain_value(aTHX_ ctx, &tape, value, &walk_settings))
        ice_walk_list(aTHX_ ctx, &tape, values ? values : list_of_one(aTHX_ value), &walk_settings);
    /* In Data::Dumper, references to perl's own undef refer to the first use of it, and an item that does not exist is
     * such a use. */
    if (UNLIKELY(*needs_original || undef_count > 1 || (undef_count && has_holes(&tape)))) {
        *needs_original = TRUE;
        LEAVE;
        return NULL;
    }
    /* A call from perl code could replace the stage in the cache. From here on no perl code
     * runs. */
    stage = find_writer(aTHX_ settings, names);
    if (icecore_write(ctx->pooled.engine, stage, &tape, &out, NULL, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    if (!texts)
        result = newSVpvn((const char *)out.bytes, out.len);
    for (i = 0; texts && i <= AvFILL(values); i++) {
        const size_t end = icecore_value_end(ctx->pooled.engine, (size_t)i);
        av_push(texts, newSVpvn((const char *)out.bytes + start, end - start));
        start = end;
    }
    LEAVE;
    return result ? sv_2mortal(result) : NULL;
}

/* The function Dumper, with the settings of the package. Its arguments are copied, as by
 * Data::Dumper. */
SV *
ice_dumper_dump(pTHX_ I32 stack_index, I32 count, AV *texts)
{
    id_settings settings;
    AV *values = NULL;
    SV *value = NULL, *result = NULL;
    bool needs_original;
    I32 i;
    if (count == 1 && !texts)
        value = sv_mortalcopy(PL_stack_base[stack_index]);
    else {
        values = (AV *)sv_2mortal((SV *)newAV());
        av_extend(values, count);
        for (i = 0; i < count; i++)
            av_push(values, newSVsv(PL_stack_base[stack_index + i]));
    }
    ENTER;
    read_package_settings(aTHX_ & settings);
    if (UNLIKELY(has_texts(&settings)))
        SAVEDESTRUCTOR_X(clear_settings_at_leave, &settings);
    needs_original = id_needs_original(&settings);
    if (LIKELY(!needs_original))
        result = dump_values(aTHX_ & settings, value, values, NULL, texts, &needs_original);
    if (UNLIKELY(needs_original))
        result = id_dump_with_original(aTHX_ & settings, &PL_sv_undef, value ? list_of_one(aTHX_ value) : values,
                                       NULL, texts);
    LEAVE;
    return result;
}

/* ---- objects ----------------------------------------------------------- */

/* Returns the contents of an object. */
static id_dumper *
dumper_of(pTHX_ SV *self)
{
    dMY_CXT;
    if (!(SvROK(self) && SvOBJECT(SvRV(self))
          && (SvSTASH(SvRV(self)) == MY_CXT.stash || sv_derived_from(self, "Icecore::Dumper")) && SvIOK(SvRV(self))
          && SvIVX(SvRV(self))))
        croak("Icecore: this is not an Icecore::Dumper");
    return INT2PTR(id_dumper *, SvIVX(SvRV(self)));
}

/* Returns the array that a value refers to; NULL if it is not a reference to an array. */
static AV *
array_of(pTHX_ SV *list)
{
    if (!SvROK(list) || SvTYPE(SvRV(list)) != SVt_PVAV)
        return NULL;
    return (AV *)SvRV(list);
}

SV *
ice_dumper_new(pTHX_ SV *class, SV *values, SV *names)
{
    id_dumper *dumper;
    SV *object;
    AV *list = array_of(aTHX_ values);
    if (!list)
        croak("Usage:  PACKAGE->new(ARRAYREF, [ARRAYREF])");
    Newxz(dumper, 1, id_dumper);
    object = sv_setref_pv(newSV(0), SvROK(class) ? sv_reftype(SvRV(class), TRUE) : SvPV_nolen(class), dumper);
    dumper->values = (AV *)SvREFCNT_inc_simple_NN((SV *)list);
    list = names ? array_of(aTHX_ names) : NULL;
    dumper->names = (AV *)SvREFCNT_inc((SV *)list);
    read_package_settings(aTHX_ & dumper->settings);
    return object;
}

void
ice_dumper_destroy(pTHX_ SV *self)
{
    id_dumper *dumper;
    if (!SvROK(self) || !SvIOK(SvRV(self)) || !(dumper = INT2PTR(id_dumper *, SvIVX(SvRV(self)))))
        return;
    clear_settings(aTHX_ & dumper->settings);
    SvREFCNT_dec((SV *)dumper->values);
    SvREFCNT_dec((SV *)dumper->names);
    SvREFCNT_dec(dumper->original);
    Safefree(dumper);
    SvREADONLY_off(SvRV(self));
    sv_setiv(SvRV(self), 0);
}

/* Creates the Data::Dumper that remembers the addresses of everything that was dumped. It is needed
 * from the second dump on, and if the program names further values (Seen). */
static void
ensure_original(pTHX_ id_dumper *dumper)
{
    if (dumper->original)
        return;
    dumper->original = id_new_original(aTHX);
    if (dumper->has_dumped)
        id_dump_with_original(aTHX_ & dumper->settings, dumper->original, dumper->values, dumper->names, NULL);
}

SV *
ice_dumper_seen(pTHX_ SV *self)
{
    id_dumper *dumper = dumper_of(aTHX_ self);
    ensure_original(aTHX_ dumper);
    return newSVsv(dumper->original);
}

void
ice_dumper_forget(pTHX_ SV *self)
{
    id_dumper *dumper = dumper_of(aTHX_ self);
    SV *original = dumper->original;
    dumper->original = NULL;
    dumper->has_dumped = FALSE;
    SvREFCNT_dec(original);
}

SV *
ice_dumper_object_dump(pTHX_ SV *self, int method, AV *texts)
{
    id_dumper *dumper = dumper_of(aTHX_ self);
    AV *values, *names, *copies = (AV *)sv_2mortal((SV *)newAV());
    id_settings settings = dumper->settings;
    bool needs_original;
    SV *result = NULL;
    SSize_t i;
    /* The Freezer of a value might release the object and its values. */
    sv_2mortal(SvREFCNT_inc_simple_NN(SvRV(self)));
    values = (AV *)sv_2mortal(SvREFCNT_inc_simple_NN((SV *)dumper->values));
    names = dumper->names;
    if (method == ICE_DUMP_PERL)
        settings.flags |= 1U << ID_USEPERL;
    else if (method == ICE_DUMP_XS)
        settings.flags &= ~(1U << ID_USEPERL);
    needs_original = dumper->has_dumped || dumper->original || id_needs_original(&settings);
    if (LIKELY(!needs_original)) {
        for (i = 0; i <= av_len(values); i++) {
            SV **item = av_fetch(values, i, FALSE);
            av_push(copies, item ? SvREFCNT_inc_simple_NN(*item) : newSV(0));
        }
        result = dump_values(aTHX_ & settings, AvFILLp(copies) == 0 && !texts ? AvARRAY(copies)[0] : NULL, copies,
                             names, texts, &needs_original);
    }
    if (UNLIKELY(needs_original)) {
        ensure_original(aTHX_ dumper);
        result = id_dump_with_original(aTHX_ & settings, dumper->original, values, names, texts);
    }
    dumper->has_dumped = TRUE;
    return result;
}

AV *
ice_dumper_values_or_names(pTHX_ SV *self, bool is_names, SV *list)
{
    id_dumper *dumper = dumper_of(aTHX_ self);
    AV **slot = is_names ? &dumper->names : &dumper->values, *old = *slot;
    if (list) {
        AV *given = SvOK(list) ? array_of(aTHX_ list) : (AV *)sv_2mortal((SV *)newAV());
        if (!is_names && dumper->has_dumped)
            ensure_original(aTHX_ dumper);
        if (!given)
            croak("Argument to %s, if provided, must be array ref", is_names ? "Names" : "Values");
        *slot = (AV *)SvREFCNT_inc_simple_NN((SV *)given);
        SvREFCNT_dec((SV *)old);
    }
    return *slot;
}

SV *
ice_dumper_setting(pTHX_ SV *self, int setting, SV *value)
{
    id_settings *settings = &dumper_of(aTHX_ self)->settings;
    if (setting < ID_FLAG_COUNT) {
        if (value) {
            settings->flags &= ~(1U << setting);
            if (SvTRUE(value))
                settings->flags |= 1U << setting;
        }
        return sv_2mortal(newSViv(settings->flags >> setting & 1));
    }
    setting -= ID_FLAG_COUNT;
    if (setting < ID_NUMBER_COUNT) {
        if (value)
            settings->numbers[setting] = SvOK(value) ? SvIV(value) : 0;
        return sv_2mortal(newSViv(settings->numbers[setting]));
    }
    setting -= ID_NUMBER_COUNT;
    if (value)
        set_text(aTHX_ settings, setting, value);
    return settings->texts[setting] ? sv_mortalcopy(settings->texts[setting])
                                    : sv_2mortal(newSVpv(default_texts[setting], 0));
}

/* ---- reading ----------------------------------------------------------- */

SV *
ice_undump(pTHX_ SV *text, I32 stack_index, I32 count, AV **values)
{
    dMY_CXT;
    ice_read_settings settings;
    STRLEN len;
    const char *bytes;
    ice_context *ctx;
    icecore_view view;
    icecore_error error;
    SV *result;
    bool is_list;

    Zero(&settings, 1, ice_read_settings);
    settings.dummy_code = TRUE;
    settings.bless_ok = TRUE;
    settings.tie_ok = FALSE;
    ice_read_options(aTHX_ & settings, NULL, stack_index, count);
    bytes = ice_frozen_bytes(aTHX_ text, &len);
    if (!MY_CXT.reader)
        MY_CXT.reader = ice_stage_new(aTHX_ STR_WITH_LEN("dumper:narrow"));
    ENTER;
    ctx = ice_take_context(aTHX);
    if (icecore_read(ctx->pooled.engine, MY_CXT.reader, (const U8 *)bytes, len, 0, &view, &error) != ICECORE_OK)
        ice_croak_read_error(aTHX_ & error, &settings, bytes, len);
    /* The reader marks an array that is a list of several values, and not a value itself. */
    is_list = view.node_count && view.nodes[view.root].kind == ICECORE_ARRAY
           && view.nodes[view.root].flags & ICECORE_FLAG_HINT;
    result = sv_2mortal(ice_build(aTHX_ ctx, &view, view.root, &settings));
    LEAVE;
    if (!is_list)
        return result;
    *values = (AV *)SvRV(result);
    return NULL;
}
