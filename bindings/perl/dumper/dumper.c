/* Data::Dumper's settings, and lists of values. */
#include "dumper/dumper.h"
#include "core/documents.h"

static const char *const flag_names[FLAGS] = { ID_FLAG_NAMES };
static const char *const number_names[NUMBERS] = { ID_NUMBER_NAMES };
static const char *const text_names[TEXTS] = { ID_TEXT_NAMES };
static const char *const usual_texts[TEXTS] = { ID_USUAL_TEXTS };
static const U8 usual_lengths[TEXTS] = { 0, 3, 4, 5, 0, 0, 0 };

/* The last stages, by their spec. */
enum { STAGES = 4 };
typedef struct {
    SV *spec;
    U32 quick; /* for settings without texts: quick_of; else 0 */
    icecore_stage *stage;
} known_stage;

#define MY_CXT_KEY "Icecore::dumper" XS_VERSION
typedef struct {
    GV *flags[FLAGS], *numbers[NUMBERS], *texts[TEXTS];
    known_stage stages[STAGES];
    U32 next;
    HV *stash;
    icecore_stage *reader;
} my_cxt_t;
START_MY_CXT

static GV *
variable(pTHX_ const char *name)
{
    SV *full = sv_2mortal(newSVpvf("Icecore::Dumper::%s", name));
    GV *gv = gv_fetchsv(full, GV_ADDMULTI, SVt_PV);
    return (GV *)SvREFCNT_inc_simple_NN((SV *)gv);
}

static void
start(pTHX_ my_cxt_t *cxt)
{
    int i;
    Zero(cxt, 1, my_cxt_t);
    ENTER;
    SAVETMPS;
    for (i = 0; i < FLAGS; i++)
        cxt->flags[i] = variable(aTHX_ flag_names[i]);
    for (i = 0; i < NUMBERS; i++)
        cxt->numbers[i] = variable(aTHX_ number_names[i]);
    for (i = 0; i < TEXTS; i++)
        cxt->texts[i] = variable(aTHX_ text_names[i]);
    FREETMPS;
    LEAVE;
    cxt->stash = gv_stashpvs("Icecore::Dumper", GV_ADD);
}

void
ice_dumper_boot(pTHX)
{
    MY_CXT_INIT;
    start(aTHX_ & MY_CXT);
}

void
ice_dumper_clone(pTHX)
{
    MY_CXT_CLONE;
    start(aTHX_ & MY_CXT);
}

void
ice_dumper_end(pTHX)
{
    dMY_CXT;
    int i;
    for (i = 0; i < STAGES; i++) {
        icecore_stage_free(MY_CXT.stages[i].stage);
        SvREFCNT_dec(MY_CXT.stages[i].spec);
    }
    Zero(MY_CXT.stages, STAGES, known_stage);
    icecore_stage_free(MY_CXT.reader);
    MY_CXT.reader = NULL;
}

/* ---- settings ---------------------------------------------------------- */

/* Keeps a text, unless it is the default. */
static void
set_text(pTHX_ settings *set, int which, SV *value)
{
    SV *old = set->texts[which];
    STRLEN len;
    const char *text;
    set->texts[which] = NULL;
    if (value && SvOK(value)) {
        if (SvROK(value))
            set->texts[which] = newSVsv(value);
        else {
            text = SvPV(value, len);
            if (len != usual_lengths[which] || memNE(text, usual_texts[which], len))
                set->texts[which] = newSVsv(value);
        }
    }
    SvREFCNT_dec(old);
}

/* Reads the settings from the package's variables. */
static void
package_settings(pTHX_ settings *set)
{
    dMY_CXT;
    int i;
    Zero(set, 1, settings);
    for (i = 0; i < FLAGS; i++) {
        SV *sv = GvSV(MY_CXT.flags[i]);
        if (sv && SvTRUE(sv))
            set->flags |= 1U << i;
    }
    for (i = 0; i < NUMBERS; i++) {
        SV *sv = GvSV(MY_CXT.numbers[i]);
        set->numbers[i] = sv && SvOK(sv) ? SvIV(sv) : 0;
    }
    for (i = 0; i < TEXTS; i++)
        set_text(aTHX_ set, i, GvSV(MY_CXT.texts[i]));
}

static bool
has_texts(const settings *set)
{
    int i;
    for (i = 0; i < TEXTS; i++)
        if (set->texts[i])
            return TRUE;
    return FALSE;
}

static void
clear_settings(pTHX_ settings *set)
{
    int i;
    for (i = 0; i < TEXTS; i++)
        SvREFCNT_dec(set->texts[i]);
}

static void
clear_settings_later(pTHX_ void *set)
{
    clear_settings(aTHX_(settings *) set);
}

/* ---- stages ------------------------------------------------------------ */

/* Returns the given names of the values; values without one get a number. */
static SV *
names_of(pTHX_ const settings *set, AV *names)
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
            sv_catpvf(list, "%s%" IVdf, set->texts[VARNAME] ? SvPV_nolen(set->texts[VARNAME]) : "VAR", (IV)i + 1);
    }
    return list;
}

static SV *
spec_of(pTHX_ const settings *set, AV *names)
{
    /* Values of the program: the same bytes as Data::Dumper's. */
    SV *spec = sv_2mortal(newSVpvf("dumper:list,trusted,indent=%d", (int)(set->numbers[INDENT] < 0 ? 0 : set->numbers[INDENT] > 3 ? 2 : set->numbers[INDENT])));
    const char *const options[FLAGS] = { "purity", "terse", "useqq", "deepcopy", NULL, "trailingcomma", "useperl", "sparseseen", NULL };
    const char *const texts[TEXTS] = { "pad", "varname", "pair", "bless", NULL, "toaster", NULL };
    int i;
    for (i = 0; i < FLAGS; i++)
        if (options[i] && set->flags & 1U << i)
            sv_catpvf(spec, ",%s", options[i]);
    if (!(set->flags & 1U << QUOTEKEYS))
        sv_catpvs(spec, ",quotekeys=no");
    for (i = 0; i < TEXTS; i++)
        if (texts[i] && set->texts[i]) {
            sv_catpvs(spec, ",");
            ice_add_text(aTHX_ spec, texts[i], set->texts[i]);
        }
    if (names && AvFILL(names) >= 0) {
        sv_catpvs(spec, ",");
        ice_add_text(aTHX_ spec, "names", names_of(aTHX_ set, names));
    }
    return spec;
}

/* Returns a number that identifies settings without texts; 0 for others. */
static U32
quick_of(const settings *set, AV *names)
{
    int i;
    if (names && AvFILLp(names) >= 0)
        return 0;
    for (i = 0; i < FREEZER; i++)
        if (set->texts[i])
            return 0;
    if (set->texts[TOASTER] || set->numbers[INDENT] < 0 || set->numbers[INDENT] > 3)
        return 0;
    return ((U32)set->numbers[INDENT] << FLAGS | set->flags) + 1;
}

static const icecore_stage *
stage_for(pTHX_ const settings *set, AV *names)
{
    dMY_CXT;
    const U32 quick = quick_of(set, names);
    known_stage *known;
    SV *spec;
    int i;
    for (i = 0; quick && i < STAGES; i++)
        if (MY_CXT.stages[i].quick == quick)
            return MY_CXT.stages[i].stage;
    spec = spec_of(aTHX_ set, names);
    for (i = 0; i < STAGES; i++)
        if (MY_CXT.stages[i].spec && sv_eq(MY_CXT.stages[i].spec, spec))
            return MY_CXT.stages[i].stage;
    known = &MY_CXT.stages[MY_CXT.next++ % STAGES];
    {
        STRLEN len;
        const char *text = SvPV(spec, len);
        icecore_stage *stage = ice_writer_new(aTHX_ text, len);
        /* Nobody reads the losses. */
        ice_stage_limit(aTHX_ stage, "loss-paths", 0);
        icecore_stage_free(known->stage);
        SvREFCNT_dec(known->spec);
        known->stage = stage;
        known->spec = newSVsv(spec);
        known->quick = quick;
    }
    return known->stage;
}

/* ---- dumping ----------------------------------------------------------- */

static void
walk_settings(pTHX_ const settings *set, ice_write_settings *how, bool *met_glob)
{
    Zero(how, 1, ice_write_settings);
    how->rules = &ice_dumper_rules;
    how->protocol = 5;
    how->max_depth = set->numbers[MAXRECURSE] > 0 ? (UV)set->numbers[MAXRECURSE] + 1 : 0;
    how->sorted = set->texts[SORTKEYS] && SvTRUE(set->texts[SORTKEYS]);
    if (how->sorted && SvROK(set->texts[SORTKEYS]) && SvTYPE(SvRV(set->texts[SORTKEYS])) == SVt_PVCV)
        how->sort_code = set->texts[SORTKEYS];
    how->freezer = set->texts[FREEZER] ? SvPV_nolen(set->texts[FREEZER]) : NULL;
    how->deparse = (set->flags & 1U << DEPARSE) != 0;
    how->warns_of_code = (set->flags & 1U << PURITY) != 0;
    /* The contents of a glob are dumped too. */
    how->met_glob = set->flags & 1U << PURITY ? met_glob : NULL;
}

/* Returns a list with one value. */
static AV *
list_with(pTHX_ SV *only)
{
    AV *list = (AV *)sv_2mortal((SV *)newAV());
    av_push(list, SvREFCNT_inc_simple_NN(only));
    return list;
}

/* Dumps values to a text: `only`, or those of a list. With `texts`, that list receives
 * one text for each, and NULL is returned; otherwise a mortal. `is_for_original`
 * receives whether Data::Dumper has to do it itself; then there are no texts. */
static SV *
dump_values(pTHX_ const settings *set, SV *only, AV *values, AV *names, AV *texts, bool *is_for_original)
{
    ice_write_settings how;
    ice_context *ctx;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    const icecore_stage *stage;
    SV *result = NULL;
    size_t from = 0;
    SSize_t i;

    walk_settings(aTHX_ set, &how, is_for_original);
    ENTER;
    ctx = ice_checkout(aTHX);
    if (!only || !ice_walk_only(aTHX_ ctx, &tape, only, &how))
        ice_walk_list(aTHX_ ctx, &tape, values ? values : list_with(aTHX_ only), &how);
    if (UNLIKELY(*is_for_original)) {
        LEAVE;
        return NULL;
    }
    /* No more hooks run: nothing replaces the stage from here on. */
    stage = stage_for(aTHX_ set, names);
    if (icecore_write(ctx->warm.engine, stage, &tape, &out, NULL, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    if (!texts)
        result = newSVpvn((const char *)out.bytes, out.len);
    for (i = 0; texts && i <= AvFILL(values); i++) {
        const size_t end = icecore_value_end(ctx->warm.engine, (size_t)i);
        av_push(texts, newSVpvn((const char *)out.bytes + from, end - from));
        from = end;
    }
    LEAVE;
    return result ? sv_2mortal(result) : NULL;
}

/* Dumper(LIST), with the settings of the package. The values are copied, as the original
 * does. */
SV *
ice_dumper_dump(pTHX_ I32 at, I32 count, AV *texts)
{
    settings set;
    AV *values = NULL;
    SV *only = NULL, *result = NULL;
    bool is_for_original;
    I32 i;
    if (count == 1 && !texts)
        only = sv_mortalcopy(PL_stack_base[at]);
    else {
        values = (AV *)sv_2mortal((SV *)newAV());
        av_extend(values, count);
        for (i = 0; i < count; i++)
            av_push(values, newSVsv(PL_stack_base[at + i]));
    }
    ENTER;
    package_settings(aTHX_ & set);
    if (UNLIKELY(has_texts(&set)))
        SAVEDESTRUCTOR_X(clear_settings_later, &set);
    is_for_original = id_is_for_original(&set);
    if (LIKELY(!is_for_original))
        result = dump_values(aTHX_ & set, only, values, NULL, texts, &is_for_original);
    if (UNLIKELY(is_for_original))
        result = id_by_original(aTHX_ & set, &PL_sv_undef, only ? list_with(aTHX_ only) : values, NULL, texts);
    LEAVE;
    return result;
}

/* ---- objects ----------------------------------------------------------- */

static dumper *
dumper_of(pTHX_ SV *self)
{
    dMY_CXT;
    if (!(SvROK(self) && SvOBJECT(SvRV(self))
          && (SvSTASH(SvRV(self)) == MY_CXT.stash || sv_derived_from(self, "Icecore::Dumper")) && SvIOK(SvRV(self))
          && SvIVX(SvRV(self))))
        croak("Icecore: this is not an Icecore::Dumper");
    return INT2PTR(dumper *, SvIVX(SvRV(self)));
}

static AV *
list_of(pTHX_ SV *list)
{
    if (!SvROK(list) || SvTYPE(SvRV(list)) != SVt_PVAV)
        return NULL;
    return (AV *)SvRV(list);
}

SV *
ice_dumper_new(pTHX_ SV *class, SV *values, SV *names)
{
    dumper *made;
    SV *object;
    AV *list = list_of(aTHX_ values);
    if (!list)
        croak("Usage:  PACKAGE->new(ARRAYREF, [ARRAYREF])");
    Newxz(made, 1, dumper);
    object = sv_setref_pv(newSV(0), SvROK(class) ? sv_reftype(SvRV(class), TRUE) : SvPV_nolen(class), made);
    made->values = (AV *)SvREFCNT_inc_simple_NN((SV *)list);
    list = names ? list_of(aTHX_ names) : NULL;
    made->names = (AV *)SvREFCNT_inc((SV *)list);
    package_settings(aTHX_ & made->set);
    return object;
}

void
ice_dumper_destroy(pTHX_ SV *self)
{
    dumper *made;
    if (!SvROK(self) || !SvIOK(SvRV(self)) || !(made = INT2PTR(dumper *, SvIVX(SvRV(self)))))
        return;
    clear_settings(aTHX_ & made->set);
    SvREFCNT_dec((SV *)made->values);
    SvREFCNT_dec((SV *)made->names);
    SvREFCNT_dec(made->original);
    Safefree(made);
    SvREADONLY_off(SvRV(self));
    sv_setiv(SvRV(self), 0);
}

/* Creates the Data::Dumper that remembers the addresses of everything that was dumped:
 * from the second call on, and if names of other values were given. */
static void
remember(pTHX_ dumper *made)
{
    if (made->original)
        return;
    made->original = id_new_original(aTHX);
    if (made->has_dumped)
        id_by_original(aTHX_ & made->set, made->original, made->values, made->names, NULL);
}

SV *
ice_dumper_seen(pTHX_ SV *self)
{
    dumper *made = dumper_of(aTHX_ self);
    remember(aTHX_ made);
    return newSVsv(made->original);
}

void
ice_dumper_forget(pTHX_ SV *self)
{
    dumper *made = dumper_of(aTHX_ self);
    SV *original = made->original;
    made->original = NULL;
    made->has_dumped = FALSE;
    SvREFCNT_dec(original);
}

SV *
ice_dumper_object_dump(pTHX_ SV *self, int how, AV *texts)
{
    dumper *made = dumper_of(aTHX_ self);
    AV *values, *names, *copies = (AV *)sv_2mortal((SV *)newAV());
    settings set = made->set;
    bool is_for_original;
    SV *result = NULL;
    SSize_t i;
    /* A Freezer might drop all of it. */
    sv_2mortal(SvREFCNT_inc_simple_NN(SvRV(self)));
    values = (AV *)sv_2mortal(SvREFCNT_inc_simple_NN((SV *)made->values));
    names = made->names;
    if (how == ICE_DUMP_PERL)
        set.flags |= 1U << USEPERL;
    else if (how == ICE_DUMP_XS)
        set.flags &= ~(1U << USEPERL);
    is_for_original = made->has_dumped || made->original || id_is_for_original(&set);
    if (LIKELY(!is_for_original)) {
        for (i = 0; i <= av_len(values); i++) {
            SV **item = av_fetch(values, i, FALSE);
            av_push(copies, item ? SvREFCNT_inc_simple_NN(*item) : newSV(0));
        }
        result = dump_values(aTHX_ & set, AvFILLp(copies) == 0 && !texts ? AvARRAY(copies)[0] : NULL, copies, names, texts,
                             &is_for_original);
    }
    if (UNLIKELY(is_for_original)) {
        remember(aTHX_ made);
        result = id_by_original(aTHX_ & set, made->original, values, names, texts);
    }
    made->has_dumped = TRUE;
    return result;
}

/* Returns the list of values or names; sets it first, if there is a new one. */
AV *
ice_dumper_list(pTHX_ SV *self, bool is_names, SV *list)
{
    dumper *made = dumper_of(aTHX_ self);
    AV **place = is_names ? &made->names : &made->values, *old = *place;
    if (list) {
        AV *given = SvOK(list) ? list_of(aTHX_ list) : (AV *)sv_2mortal((SV *)newAV());
        if (!is_names && made->has_dumped)
            remember(aTHX_ made);
        if (!given)
            croak("Argument to %s, if provided, must be array ref", is_names ? "Names" : "Values");
        *place = (AV *)SvREFCNT_inc_simple_NN((SV *)given);
        SvREFCNT_dec((SV *)old);
    }
    return *place;
}

/* Returns the setting with this number: flags, then numbers, then texts. Sets it first,
 * if there is a value. A mortal. */
SV *
ice_dumper_setting(pTHX_ SV *self, int which, SV *value)
{
    settings *set = &dumper_of(aTHX_ self)->set;
    if (which < FLAGS) {
        if (value) {
            set->flags &= ~(1U << which);
            if (SvTRUE(value))
                set->flags |= 1U << which;
        }
        return sv_2mortal(newSViv(set->flags >> which & 1));
    }
    which -= FLAGS;
    if (which < NUMBERS) {
        if (value)
            set->numbers[which] = SvOK(value) ? SvIV(value) : 0;
        return sv_2mortal(newSViv(set->numbers[which]));
    }
    which -= NUMBERS;
    if (value)
        set_text(aTHX_ set, which, value);
    return set->texts[which] ? sv_mortalcopy(set->texts[which]) : sv_2mortal(newSVpv(usual_texts[which], 0));
}

/* ---- reading ----------------------------------------------------------- */

/* Returns the value of a text, a mortal; for several, `values` receives the list of
 * them, and NULL is returned. */
SV *
ice_undump(pTHX_ SV *text, I32 at, I32 count, AV **values)
{
    dMY_CXT;
    ice_read_settings set;
    STRLEN len;
    const char *bytes;
    ice_context *ctx;
    icecore_view view;
    icecore_error error;
    SV *result;
    bool is_list;

    Zero(&set, 1, ice_read_settings);
    set.dummy_code = TRUE;
    set.bless_ok = TRUE;
    set.tie_ok = FALSE;
    ice_read_options(aTHX_ & set, NULL, at, count);
    bytes = ice_bytes(aTHX_ text, &len);
    if (!MY_CXT.reader)
        MY_CXT.reader = ice_reader_new(aTHX_ "dumper:narrow", 13);
    ENTER;
    ctx = ice_checkout(aTHX);
    if (icecore_read(ctx->warm.engine, MY_CXT.reader, (const U8 *)bytes, len, 0, &view, &error) != ICECORE_OK)
        ice_croak_read_error(aTHX_ & error, &set, bytes, len);
    is_list = view.node_count && view.nodes[view.root].kind == ICECORE_ARRAY
              && view.nodes[view.root].flags & ICECORE_FLAG_HINT;
    result = sv_2mortal(ice_build(aTHX_ ctx, &view, view.root, &set));
    LEAVE;
    if (!is_list)
        return result;
    *values = (AV *)SvRV(result);
    return NULL;
}
