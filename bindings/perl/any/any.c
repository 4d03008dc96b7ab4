/* Reads and writes a document of any format, and lists its classes. any.h declares the
 * functions. */
#include "any/any.h"
#include "common/ice_found_classes.h"
#include "core/documents.h"
#include "sereal/sereal.h"
#include "storable/storable.h"

/* Frees a stage when perl leaves a scope. */
static void
free_stage(pTHX_ void *stage)
{
    PERL_UNUSED_CONTEXT;
    icecore_stage_free((icecore_stage *)stage);
}

/* Returns the stage that `format` names. If it is NULL or undef, detects the format of the bytes.
 * The stage is freed when perl leaves the scope. */
static icecore_stage *
stage_for(pTHX_ SV *format, const char *bytes, STRLEN len)
{
    icecore_stage *stage;
    if (format && SvOK(format)) {
        STRLEN spec_len;
        const char *spec = SvPVutf8(format, spec_len);
        stage = ice_stage_new(aTHX_ spec, spec_len);
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
ice_decode(pTHX_ SV *bytes, I32 stack_index, I32 count)
{
    ice_read_settings settings;
    STRLEN len;
    const char *text;
    SV *result, *format = NULL;
    icecore_stage *stage;

    /* The settings of Storable are the defaults for every format. */
    ice_storable_read_settings(aTHX_ & settings);
    ice_read_options(aTHX_ & settings, &format, stack_index, count);
    text = ice_frozen_bytes(aTHX_ bytes, &len);
    ENTER;
    stage = stage_for(aTHX_ format, text, len);
    if (settings.max_depth)
        ice_set_stage_limit(aTHX_ stage, "depth", settings.max_depth);
    if (settings.max_string)
        ice_set_stage_limit(aTHX_ stage, "string", settings.max_string);
    if (settings.max_uncompressed)
        ice_set_stage_limit(aTHX_ stage, "decompressed", settings.max_uncompressed);
    settings.names_limit_options = TRUE;
    if (strNE(icecore_stage_format(stage), "storable")) {
        ice_sereal_apply_decode_settings(&settings);
        settings.from_other_language = strNE(icecore_stage_format(stage), "sereal");
    }
    result = ice_read_document(aTHX_ stage, text, len, &settings, NULL, NULL);
    LEAVE;
    return result;
}

/* Reads the options of `encode`, and returns the option `strict`. `depth` receives the option
 * max_recursion_depth if it is set. */
static bool
read_encode_options(pTHX_ I32 stack_index, I32 count, UV *depth)
{
    bool strict = FALSE;
    I32 i;
    if (count % 2)
        croak("Icecore: options are pairs of a name and a value");
    for (i = stack_index; i < stack_index + count; i += 2) {
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
ice_encode(pTHX_ SV *data, SV *format, I32 stack_index, I32 count)
{
    UV depth = 0;
    bool strict = read_encode_options(aTHX_ stack_index, count, &depth);
    ice_write_settings settings;
    icecore_stage *stage;
    const char *name;
    AV *losses = NULL;
    SV *result;
    SSize_t i;

    ENTER;
    stage = stage_for(aTHX_ format, NULL, 0);
    ice_set_stage_limit(aTHX_ stage, "depth", U32_MAX);
    name = icecore_stage_format(stage);
    ice_storable_write_settings(aTHX_ & settings);
    if (depth)
        settings.max_depth = depth;
    if (strEQ(name, "storable")) {
        if (!SvROK(data))
            croak("Not a reference");
    } else if (strEQ(name, "sereal")) {
        settings.rules = &ice_sereal_rules;
        settings.sereal_protocol = 5;
    } else {
        settings.rules = &ice_any_rules;
        losses = (AV *)sv_2mortal((SV *)newAV());
    }
    result = sv_2mortal(ice_write_document(aTHX_ stage, data, NULL, &settings, losses));
    for (i = 0; losses && i <= AvFILLp(losses); i++) {
        if (strict)
            croak("Icecore: lost in %s: %" SVf, name, SVfARG(AvARRAY(losses)[i]));
        warn("Icecore: lost in %s: %" SVf, name, SVfARG(AvARRAY(losses)[i]));
    }
    LEAVE;
    return SvREFCNT_inc_simple_NN(result);
}

/* Frees a list of classes when perl leaves a scope. */
static void
free_found_classes(pTHX_ void *found)
{
    PERL_UNUSED_CONTEXT;
    ice_found_classes_free((ice_found_classes *)found);
}

/* Returns the hash for one class. */
static SV *
class_entry(pTHX_ const ice_found_class *class_use)
{
    HV *hv = newHV();
    /* A name that is valid UTF-8 is most likely UTF-8, as names of packages are. */
    (void)hv_stores(hv, "class",
                    newSVpvn_utf8(class_use->name.bytes, class_use->name.len,
                                  !ice_is_ascii((const U8 *)class_use->name.bytes, class_use->name.len)
                                      && ice_is_utf8((const U8 *)class_use->name.bytes, class_use->name.len)));
    (void)hv_stores(hv, "kind", newSVpvn(class_use->kind.bytes, class_use->kind.len));
    (void)hv_stores(hv, "path", newSVpvn_utf8(class_use->path.bytes, class_use->path.len, 1));
    (void)hv_stores(hv, "count", newSVuv(class_use->count));
    return newRV_noinc((SV *)hv);
}

AV *
ice_classes(pTHX_ SV *bytes, SV *format)
{
    STRLEN len;
    const char *text = ice_frozen_bytes(aTHX_ bytes, &len), *position = NULL;
    AV *list = (AV *)sv_2mortal((SV *)newAV());
    ice_found_classes found = { NULL, 0, 0, 0 };
    ice_found_class class_use;
    icecore_stage *stage;
    icecore_error error;
    ENTER;
    stage = stage_for(aTHX_ format, text, len);
    SAVEDESTRUCTOR_X(free_found_classes, &found);
    if (icecore_classes(stage, (const U8 *)text, len, ice_found_classes_add, &found, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    if (found.failed)
        croak("Icecore: not enough memory");
    while (ice_found_classes_next(&found, &position, &class_use))
        av_push(list, class_entry(aTHX_ & class_use));
    LEAVE;
    return list;
}
