/* One document of any format: read, written, or asked for its classes. */
#include "interface.h"

/* ---- stages ------------------------------------------------------------ */

icecore_stage *
ice_reader_new(pTHX_ const char *spec, STRLEN len)
{
    icecore_error error;
    icecore_stage *stage = icecore_stage_new(spec, len, &error);
    if (!stage)
        croak("Icecore: %s", error.message);
    return stage;
}

void
ice_stage_limit(pTHX_ icecore_stage *stage, const char *name, UV value)
{
    icecore_error error;
    if (icecore_stage_limit(stage, name, strlen(name), value, &error) != ICECORE_OK)
        croak("Icecore: %s", error.message);
}

icecore_stage *
ice_writer_new(pTHX_ const char *spec, STRLEN len)
{
    icecore_stage *stage = ice_reader_new(aTHX_ spec, len);
    /* The depth of a tape is known; it needs no limit when it is written. */
    ice_stage_limit(aTHX_ stage, "depth", U32_MAX);
    return stage;
}

static void
free_stage(pTHX_ void *stage)
{
    PERL_UNUSED_CONTEXT;
    icecore_stage_free((icecore_stage *)stage);
}

/* The reader that `format` names, or that fits the bytes; freed when perl leaves
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

/* ---- one document ------------------------------------------------------ */

const char *
ice_bytes(pTHX_ SV *sv, STRLEN *len)
{
    SvGETMAGIC(sv);
    if (SvROK(sv) || !SvOK(sv))
        croak("Icecore: frozen bytes expected, found %s", SvOK(sv) ? "a reference" : "an undefined value");
    if (SvUTF8(sv)) {
        sv = sv_2mortal(newSVsv_nomg(sv));
        if (!sv_utf8_downgrade(sv, TRUE))
            croak("Frozen string corrupt - contains characters outside 0-255");
    }
    return SvPV_nomg(sv, *len);
}

SV *
ice_read_document(pTHX_ const icecore_stage *stage, const char *bytes, STRLEN len, const ice_read_settings *set,
                  STRLEN *consumed, SV **header)
{
    ice_context *ctx = ice_checkout(aTHX);
    icecore_view view;
    icecore_error error;
    SV *result;
    U32 flags = consumed ? ICECORE_EACH : 0;
    if (set->is_foreign)
        flags |= ICECORE_FOR_PERL;
    if (icecore_read(ctx->engine, stage, (const U8 *)bytes, len, flags, &view, &error) != ICECORE_OK)
        ice_croak_read_error(aTHX_ & error, set->profile);
    if (consumed)
        *consumed = view.consumed;
    if (header && view.header != ICECORE_NONE) {
        ice_read_settings its = *set;
        its.into = NULL;
        *header = sv_2mortal(ice_build(aTHX_ ctx, &view, view.header, &its));
    }
    result = ice_build(aTHX_ ctx, &view, view.root, set);
    return result;
}

/* ---- any format -------------------------------------------------------- */

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
    if (set.max_uncompressed_size)
        ice_stage_limit(aTHX_ stage, "decompressed", set.max_uncompressed_size);
    if (strNE(icecore_stage_format(stage), "storable")) {
        set.profile = ICE_SEREAL;
        set.is_foreign = strNE(icecore_stage_format(stage), "sereal");
    }
    result = ice_read_document(aTHX_ stage, text, len, &set, NULL, NULL);
    LEAVE;
    return result;
}

/* The option of `encode`. */
static bool
is_strict(pTHX_ I32 at, I32 count)
{
    bool strict = FALSE;
    I32 i;
    if (count % 2)
        croak("Icecore: options are pairs of a name and a value");
    for (i = at; i < at + count; i += 2) {
        const char *name = SvPV_nolen(PL_stack_base[i]);
        if (strNE(name, "strict"))
            croak("Icecore: there is no option '%s'; there is strict", name);
        strict = cBOOL(SvTRUE(PL_stack_base[i + 1]));
    }
    return strict;
}

SV *
ice_encode(pTHX_ SV *data, SV *format, I32 at, I32 count)
{
    bool strict = is_strict(aTHX_ at, count);
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
    if (strEQ(name, "storable")) {
        if (!SvROK(data))
            croak("Not a reference");
    } else if (strEQ(name, "sereal")) {
        set.profile = ICE_SEREAL;
        set.protocol = 5;
    } else {
        set.profile = ICE_PLAIN;
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
visit_class(const icecore_class_use *used, void *data)
{
    dTHX;
    AV *list = (AV *)data;
    HV *hv = newHV();
    /* A name that is UTF-8 is most likely meant as such: that of a package is. */
    (void)hv_stores(hv, "class", newSVpvn_utf8((const char *)used->name.bytes, used->name.len,
                                               !ice_is_ascii(used->name.bytes, used->name.len)
                                                   && ice_is_utf8(used->name.bytes, used->name.len)));
    (void)hv_stores(hv, "kind", newSVpvn((const char *)used->kind.bytes, used->kind.len));
    (void)hv_stores(hv, "path", newSVpvn_utf8((const char *)used->path.bytes, used->path.len, 1));
    (void)hv_stores(hv, "count", newSVuv(used->count));
    av_push(list, newRV_noinc((SV *)hv));
}

AV *
ice_classes(pTHX_ SV *bytes, SV *format)
{
    STRLEN len;
    const char *text = ice_bytes(aTHX_ bytes, &len);
    AV *list = (AV *)sv_2mortal((SV *)newAV());
    icecore_error error;
    ENTER;
    if (icecore_classes(reader_for(aTHX_ format, text, len), (const U8 *)text, len, visit_class, list, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
    LEAVE;
    return list;
}
