/* One document of any format: reads it, writes it, or lists its classes. */
#include "any/any.h"
#include "common/ice_class_notes.h"
#include "core/documents.h"
#include "sereal/sereal.h"
#include "storable/storable.h"

static void
free_stage(pTHX_ void *stage)
{
    PERL_UNUSED_CONTEXT;
    icecore_stage_free((icecore_stage *)stage);
}

/* Returns the reader that `format` names, or that fits the bytes; freed when perl leaves
 * the scope. */
static icecore_stage *
reader_for(pTHX_ SV *format, const char *bytes, STRLEN len)
{
    icecore_stage *stage;
    if (format && SvOK(format)) {
        STRLEN spec_len;
        const char *spec = SvPVutf8(format, spec_len);
        stage = ice_reader_new(aTHX_ spec, spec_len);
    } else {
        icecore_error error;
        stage = icecore_detect((const U8 *)bytes, len, &error);
        if (!stage)
            croak("Icecore: %s", error.message);
    }
    SAVEDESTRUCTOR_X(free_stage, stage);
    return stage;
}

SV *
ice_decode(pTHX_ SV *bytes, I32 at, I32 count)
{
    ice_read_settings set;
    STRLEN len;
    const char *text;
    SV *result, *format = NULL;
    icecore_stage *stage;

    ice_storable_read_settings(aTHX_ & set);
    ice_read_options(aTHX_ & set, &format, at, count);
    text = ice_bytes(aTHX_ bytes, &len);
    ENTER;
    stage = reader_for(aTHX_ format, text, len);
    if (set.max_depth)
        ice_stage_limit(aTHX_ stage, "depth", set.max_depth);
    if (set.max_string)
        ice_stage_limit(aTHX_ stage, "string", set.max_string);
    if (set.max_uncompressed)
        ice_stage_limit(aTHX_ stage, "decompressed", set.max_uncompressed);
    set.names_limits = TRUE;
    if (strNE(icecore_stage_format(stage), "storable")) {
        ice_sereal_words(&set);
        set.is_foreign = strNE(icecore_stage_format(stage), "sereal");
    }
    result = ice_read_document(aTHX_ stage, text, len, &set, NULL, NULL);
    LEAVE;
    return result;
}

/* Reads the options of `encode`. `depth`: 0 if it is not given. */
static bool
is_strict(pTHX_ I32 at, I32 count, UV *depth)
{
    bool strict = FALSE;
    I32 i;
    if (count % 2)
        croak("Icecore: options are pairs of a name and a value");
    for (i = at; i < at + count; i += 2) {
        const char *name = SvPV_nolen(PL_stack_base[i]);
        if (strEQ(name, "strict"))
            strict = cBOOL(SvTRUE(PL_stack_base[i + 1]));
        else if (strEQ(name, "max_recursion_depth"))
            *depth = SvUV(PL_stack_base[i + 1]);
        else
            croak("Icecore: there is no option '%s'; there are max_recursion_depth and strict", name);
    }
    return strict;
}

SV *
ice_encode(pTHX_ SV *data, SV *format, I32 at, I32 count)
{
    UV depth = 0;
    bool strict = is_strict(aTHX_ at, count, &depth);
    ice_write_settings set;
    icecore_stage *stage;
    const char *name;
    AV *losses = NULL;
    SV *result;
    SSize_t i;

    ENTER;
    stage = reader_for(aTHX_ format, NULL, 0);
    ice_stage_limit(aTHX_ stage, "depth", U32_MAX);
    name = icecore_stage_format(stage);
    ice_storable_write_settings(aTHX_ & set);
    if (depth)
        set.max_depth = depth;
    if (strEQ(name, "storable")) {
        if (!SvROK(data))
            croak("Not a reference");
    } else if (strEQ(name, "sereal")) {
        set.rules = &ice_sereal_rules;
        set.protocol = 5;
    } else {
        set.rules = &ice_any_rules;
        set.protocol = 5;
        losses = (AV *)sv_2mortal((SV *)newAV());
    }
    result = sv_2mortal(ice_write_document(aTHX_ stage, data, NULL, &set, losses));
    for (i = 0; losses && i <= AvFILLp(losses); i++) {
        if (strict)
            croak("Icecore: lost in %s: %" SVf, name, SVfARG(AvARRAY(losses)[i]));
        warn("Icecore: lost in %s: %" SVf, name, SVfARG(AvARRAY(losses)[i]));
    }
    LEAVE;
    return SvREFCNT_inc_simple_NN(result);
}

static void
free_notes(pTHX_ void *notes)
{
    PERL_UNUSED_CONTEXT;
    ice_class_notes_free((ice_class_notes *)notes);
}

static SV *
class_entry(pTHX_ const ice_noted_class *use)
{
    HV *hv = newHV();
    /* A name that is valid UTF-8 is most likely meant as UTF-8, as names of packages
     * are. */
    (void)hv_stores(hv, "class", newSVpvn_utf8(use->name.bytes, use->name.len,
                                               !ice_is_ascii((const U8 *)use->name.bytes, use->name.len)
                                                   && ice_is_utf8((const U8 *)use->name.bytes, use->name.len)));
    (void)hv_stores(hv, "kind", newSVpvn(use->kind.bytes, use->kind.len));
    (void)hv_stores(hv, "path", newSVpvn_utf8(use->path.bytes, use->path.len, 1));
    (void)hv_stores(hv, "count", newSVuv(use->count));
    return newRV_noinc((SV *)hv);
}

AV *
ice_classes(pTHX_ SV *bytes, SV *format)
{
    STRLEN len;
    const char *text = ice_bytes(aTHX_ bytes, &len), *at = NULL;
    AV *list = (AV *)sv_2mortal((SV *)newAV());
    ice_class_notes notes = { NULL, 0, 0, 0 };
    ice_noted_class use;
    icecore_stage *stage;
    icecore_error error;
    ENTER;
    stage = reader_for(aTHX_ format, text, len);
    SAVEDESTRUCTOR_X(free_notes, &notes);
    if (icecore_classes(stage, (const U8 *)text, len, ice_note_class, &notes, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    if (notes.failed)
        croak("Icecore: not enough memory");
    while (ice_next_noted(&notes, &at, &use))
        av_push(list, class_entry(aTHX_ & use));
    LEAVE;
    return list;
}
