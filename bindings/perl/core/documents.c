/* Reads or writes one document by a stage. documents.h declares the functions. */
#include "core/documents.h"

/* ---- stages ------------------------------------------------------------ */

icecore_stage *
ice_stage_new(pTHX_ const char *spec, STRLEN len)
{
    icecore_error error;
    icecore_stage *stage = icecore_stage_new(spec, len, &error);
    if (!stage)
        croak("Icecore: %s", error.message);
    return stage;
}

void
ice_set_stage_limit(pTHX_ icecore_stage *stage, const char *name, UV value)
{
    icecore_error error;
    if (icecore_stage_limit(stage, name, strlen(name), value, &error) != ICECORE_OK)
        croak("Icecore: %s", error.message);
}

icecore_stage *
ice_writer_new(pTHX_ const char *spec, STRLEN len)
{
    icecore_stage *stage = ice_stage_new(aTHX_ spec, len);
    /* The limits of a stage protect from hostile input, but this data belongs to the program. The
     * walk has limited the depth, and the program may repeat a string any number of times. */
    ice_set_stage_limit(aTHX_ stage, "depth", U32_MAX);
    ice_set_stage_limit(aTHX_ stage, "growth", UV_MAX);
    return stage;
}

/* ---- one document ------------------------------------------------------ */

const char *
ice_frozen_bytes(pTHX_ SV *sv, STRLEN *len)
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

/* Fills a view, or dies. See ice_write_tape for why this is a function of its own. */
static void __attribute__((noinline))
read_view(pTHX_ ice_context *ctx, const icecore_stage *stage, const char *bytes, STRLEN len, U32 flags,
          const ice_read_settings *settings, icecore_view *view)
{
    icecore_error error;
    if (icecore_read(ctx->pooled.engine, stage, (const U8 *)bytes, len, flags, view, &error) != ICECORE_OK)
        ice_croak_read_error(aTHX_ & error, settings, bytes, len);
}

void
ice_write_tape(pTHX_ ice_context *ctx, const icecore_stage *stage, const icecore_tape *tape, icecore_bytes *out,
               size_t *loss_count)
{
    icecore_error error;
    if (icecore_write(ctx->pooled.engine, stage, tape, out, loss_count, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
}

/* Builds the user header. This is a function of its own, because its copy of the settings is
 * large: see ice_write_tape. */
static SV * __attribute__((noinline))
build_header(pTHX_ ice_context *ctx, icecore_view *view, const ice_read_settings *settings)
{
    ice_read_settings header_settings = *settings;
    header_settings.result_variable = NULL;
    return ice_build(aTHX_ ctx, view, view->header, &header_settings);
}

SV *
ice_read_document(pTHX_ const icecore_stage *stage, const char *bytes, STRLEN len, const ice_read_settings *settings,
                  STRLEN *consumed, SV **header)
{
    ice_context *ctx = ice_take_context(aTHX);
    icecore_view *const view = &ctx->view;
    U32 flags = consumed ? ICECORE_EACH : 0;
    if (settings->from_other_language)
        flags |= ICECORE_FOR_PERL;
    read_view(aTHX_ ctx, stage, bytes, len, flags, settings, view);
    if (consumed)
        *consumed = view->consumed;
    ctx->document = bytes;
    ctx->document_len = len;
    ctx->is_uncompressed = view->input == (const U8 *)bytes;
    if (header && view->header != ICECORE_NONE) {
        *header = sv_2mortal(build_header(aTHX_ ctx, view, settings));
    }
    return ice_build(aTHX_ ctx, view, view->root, settings);
}

/* ---- options ---------------------------------------------------------------- */

/* The values of Storable's BLESS_OK and TIE_OK. */
enum { BLESS_OK = 2, TIE_OK = 4 };

void
ice_set_flags(ice_read_settings *settings, IV flags)
{
    settings->bless_ok = (flags & BLESS_OK) != 0;
    settings->tie_ok = (flags & TIE_OK) != 0;
}

/* Returns the field for the number of an option of `decode`; NULL for other options. */
static UV *
limit_option(ice_read_settings *settings, const char *name)
{
    return strEQ(name, "max_recursion_depth")   ? &settings->max_depth
         : strEQ(name, "max_string_length")     ? &settings->max_string
         : strEQ(name, "max_uncompressed_size") ? &settings->max_uncompressed
                                                : NULL;
}

void
ice_read_options(pTHX_ ice_read_settings *settings, SV **format, I32 stack_index, I32 count)
{
    I32 i;
    if (count % 2)
        croak("Icecore: options are pairs of a name and a value");
    for (i = stack_index; i < stack_index + count; i += 2) {
        const char *name = SvPV_nolen(PL_stack_base[i]);
        UV *limit = format ? limit_option(settings, name) : NULL;
        if (limit)
            *limit = SvUV(PL_stack_base[i + 1]);
        else if (strEQ(name, "classes"))
            settings->classes = PL_stack_base[i + 1];
        else if (strEQ(name, "flags"))
            ice_set_flags(settings, SvIV(PL_stack_base[i + 1]));
        else if (format && strEQ(name, "format"))
            *format = PL_stack_base[i + 1];
        else
            croak("Icecore: there is no option '%s'; there are %sclasses and flags", name,
                  format ? "format, max_recursion_depth, max_string_length, max_uncompressed_size, " : "");
    }
}

void
ice_add_text_option(pTHX_ SV *spec, const char *name, SV *value)
{
    STRLEN len, i;
    const char *text = SvPVutf8(value, len);
    sv_catpvf(spec, "%s=\"", name);
    for (i = 0; i < len; i++) {
        const U8 byte = (U8)text[i];
        if (byte < 0x20 || byte == '"' || byte == '\\')
            sv_catpvf(spec, "\\u%04x", byte);
        else
            sv_catpvn(spec, text + i, 1);
    }
    sv_catpvs(spec, "\"");
}
