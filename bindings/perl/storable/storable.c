/* Reads Storable's variables and options, and implements freeze, thaw and dclone. */
#include "storable/storable.h"
#include "core/documents.h"

/* Bits of the parameter `mode`. Each combination has a writer of its own. */
enum { NETORDER = 1, FILE_IMAGE = 2, CANONICAL = 4, WRITER_MODES = 8 };

#define MY_CXT_KEY "Icecore::storable" XS_VERSION
typedef struct {
    icecore_stage *writers[WRITER_MODES];
    icecore_stage *reader;
    U32 reader_depth; /* the limit of depth of this reader */
    GV *canonical, *forgive_me, *deparse, *eval, *flags, *recursion_limit, *accept_future_minor;
    I32 operation;      /* the current operation; 0 if there is none */
    bool last_netorder; /* the last image was in network order */
} my_cxt_t;
START_MY_CXT

/* Values of `operation`. */
enum { OPERATION_STORING = 1, OPERATION_RETRIEVING };

/* The default of $flags: BLESS_OK and TIE_OK of Storable. */
enum { DEFAULT_FLAGS = 2 | 4 };

/* Finds the variables of the package. */
static void
init_state(pTHX_ my_cxt_t *cxt)
{
    Zero(cxt, 1, my_cxt_t);
#define VARIABLE(name) gv_fetchpvs("Icecore::Storable::" name, GV_ADDMULTI, SVt_PV)
    cxt->canonical = VARIABLE("canonical");
    cxt->forgive_me = VARIABLE("forgive_me");
    cxt->deparse = VARIABLE("Deparse");
    cxt->eval = VARIABLE("Eval");
    cxt->flags = VARIABLE("flags");
    cxt->recursion_limit = VARIABLE("recursion_limit");
    cxt->accept_future_minor = VARIABLE("accept_future_minor");
#undef VARIABLE
}

void
ice_storable_boot(pTHX)
{
    MY_CXT_INIT;
    init_state(aTHX_ & MY_CXT);
}

/* The stages belong to the interpreter that was cloned. */
void
ice_storable_clone(pTHX)
{
    MY_CXT_CLONE;
    init_state(aTHX_ & MY_CXT);
}

/* Destructors of objects may still run after this. They create again what they need. */
void
ice_storable_end(pTHX)
{
    dMY_CXT;
    int mode;
    for (mode = 0; mode < WRITER_MODES; mode++) {
        icecore_stage_free(MY_CXT.writers[mode]);
        MY_CXT.writers[mode] = NULL;
    }
    icecore_stage_free(MY_CXT.reader);
    MY_CXT.reader = NULL;
}

bool
ice_storable_state(pTHX_ int state)
{
    dMY_CXT;
    switch (state) {
    case ICE_IS_STORING:
        return MY_CXT.operation == OPERATION_STORING;
    case ICE_IS_RETRIEVING:
        return MY_CXT.operation == OPERATION_RETRIEVING;
    default:
        return MY_CXT.last_netorder;
    }
}

/* ---- settings ---------------------------------------------------------- */

/* Maximum number of levels if $recursion_limit is not set. */
#define DEFAULT_DEPTH 10000

/* Returns true if a variable of the package is true. */
PERL_STATIC_INLINE bool
is_true(pTHX_ GV *gv)
{
    SV *sv = gv ? GvSV(gv) : NULL;
    return sv && SvTRUE(sv);
}

/* These functions read the variables of the package. */
PERL_STATIC_INLINE void
init_write_settings(pTHX_ my_cxt_t *cxt, ice_write_settings *settings)
{
    SV *limit = GvSV(cxt->recursion_limit);
    Zero(settings, 1, ice_write_settings);
    settings->rules = &ice_storable_rules;
    settings->deparse = is_true(aTHX_ cxt->deparse);
    settings->forgive_me = is_true(aTHX_ cxt->forgive_me);
    settings->max_depth = limit && SvOK(limit) ? (SvIV(limit) < 0 ? 0 : (UV)SvIV(limit)) : DEFAULT_DEPTH;
}

PERL_STATIC_INLINE void
init_read_settings(pTHX_ my_cxt_t *cxt, ice_read_settings *settings)
{
    SV *flags = GvSV(cxt->flags);
    Zero(settings, 1, ice_read_settings);
    ice_set_flags(settings, flags && SvOK(flags) ? SvIV(flags) : DEFAULT_FLAGS);
    settings->eval = GvSV(cxt->eval);
    settings->translate_error = ist_translate_error;
    settings->depth_advice = "Icecore::decode takes max_recursion_depth => N if the input is trusted";
    settings->trailing_advice = "cut them off; fd_retrieve reads one document after another from a handle";
    settings->forgive_me = is_true(aTHX_ cxt->forgive_me);
}

void
ice_storable_write_settings(pTHX_ ice_write_settings *settings)
{
    dMY_CXT;
    init_write_settings(aTHX_ & MY_CXT, settings);
}

void
ice_storable_read_settings(pTHX_ ice_read_settings *settings)
{
    dMY_CXT;
    init_read_settings(aTHX_ & MY_CXT, settings);
    /* Only callers of Storable's own functions search for Storable's messages. */
    settings->translate_error = NULL;
    settings->depth_advice = settings->trailing_advice = NULL;
}

/* ---- freeze and thaw --------------------------------------------------- */

/* Returns the writer for these bits of `mode`. Creates it when it is first needed. */
static icecore_stage *
find_writer(pTHX_ my_cxt_t *cxt, int mode)
{
    if (UNLIKELY(!cxt->writers[mode])) {
        SV *spec = sv_2mortal(newSVpvf("storable:%s%s%s", mode & FILE_IMAGE ? "file" : "memory",
                                       mode & NETORDER ? ",netorder" : "", mode & CANONICAL ? ",canonical" : ""));
        cxt->writers[mode] = ice_writer_new(aTHX_ SvPVX(spec), SvCUR(spec));
    }
    return cxt->writers[mode];
}

/* Returns the limit of depth for reading: what freeze writes with the same $recursion_limit can be thawed. Storable's
 * thaw has no limit of its own; a low one for freeze does not make the default lower. */
static U32
reader_depth(pTHX_ const my_cxt_t *cxt)
{
    SV *limit = GvSV(cxt->recursion_limit);
    if (LIKELY(!limit || !SvOK(limit)))
        return DEFAULT_DEPTH;
    if (SvIV(limit) < 0)
        return U32_MAX;
    return (U32)MIN(MAX((UV)SvIV(limit), DEFAULT_DEPTH), U32_MAX);
}

/* Returns the reader. Creates it when it is first needed. */
static icecore_stage *
find_reader(pTHX_ my_cxt_t *cxt)
{
    const U32 max_depth = reader_depth(aTHX_ cxt);
    if (UNLIKELY(!cxt->reader)) {
        cxt->reader = ice_stage_new(aTHX_ STR_WITH_LEN("storable:text_keys"));
        cxt->reader_depth = 0;
    }
    if (UNLIKELY(cxt->reader_depth != max_depth)) {
        ice_set_stage_limit(aTHX_ cxt->reader, "depth", max_depth);
        cxt->reader_depth = max_depth;
    }
    return cxt->reader;
}

SV *
ice_freeze(pTHX_ SV *ref, int mode)
{
    dMY_CXT;
    ice_write_settings settings;
    icecore_stage *stage;
    SV *result;

    SvGETMAGIC(ref);
    if (!SvROK(ref))
        croak("not a reference");
    init_write_settings(aTHX_ & MY_CXT, &settings);
    if (is_true(aTHX_ MY_CXT.canonical))
        mode |= CANONICAL;
    stage = find_writer(aTHX_ & MY_CXT, mode);
    ENTER;
    SAVEI32(MY_CXT.operation);
    MY_CXT.operation = OPERATION_STORING;
    MY_CXT.last_netorder = (mode & NETORDER) != 0;
    result = ice_write_document(aTHX_ stage, ref, NULL, &settings, NULL);
    LEAVE;
    return result;
}

/* Checks the version of an image, remembers its byte order, and reads it. */
PERL_STATIC_INLINE SV *
thaw_image(pTHX_ my_cxt_t *cxt, SV *frozen, const ice_read_settings *settings)
{
    STRLEN len;
    const char *bytes = ice_frozen_bytes(aTHX_ frozen, &len);
    const U8 *header = (const U8 *)bytes;
    SV *result;
    /* A file begins with a magic number. The next byte is twice the major version, plus 1 for
     * network order. Since version 2 the minor version follows. */
    if (len > 6 && memEQ(bytes, "pst0", 4))
        header += 4;
    if (len > 2) {
        cxt->last_netorder = header[0] & 1;
        if (header[0] >> 1 == 2 && header[1] > IST_NEWEST_MINOR && !is_true(aTHX_ cxt->accept_future_minor))
            croak("Storable binary image v2.%d more recent than I am (v2.%d)", header[1], IST_NEWEST_MINOR);
    }
    ENTER;
    SAVEI32(cxt->operation);
    cxt->operation = OPERATION_RETRIEVING;
    result = ice_read_document(aTHX_ find_reader(aTHX_ cxt), bytes, len, settings, NULL, NULL);
    LEAVE;
    return result;
}

/* Thaws with the options of the call. The settings are filled here. */
PERL_STATIC_INLINE SV *
thaw_with_options(pTHX_ my_cxt_t *cxt, SV *frozen, I32 stack_index, I32 count, ice_read_settings *settings)
{
    init_read_settings(aTHX_ cxt, settings);
    if (count == 1) {
        SV *flags = PL_stack_base[stack_index];
        if (SvOK(flags))
            ice_set_flags(settings, SvIV(flags));
    } else if (count)
        ice_read_options(aTHX_ settings, NULL, stack_index, count);
    return thaw_image(aTHX_ cxt, frozen, settings);
}

/* Thaws with settings on the native stack. */
static SV * __attribute__((noinline))
thaw_on_stack(pTHX_ my_cxt_t *cxt, SV *frozen, I32 stack_index, I32 count)
{
    ice_read_settings settings;
    return thaw_with_options(aTHX_ cxt, frozen, stack_index, count, &settings);
}

/* Thaws in a call that a hook of another operation has made. Such calls can nest, so the
 * settings are on the heap to save native stack. */
static SV * __attribute__((noinline))
thaw_on_heap(pTHX_ my_cxt_t *cxt, SV *frozen, I32 stack_index, I32 count)
{
    ice_read_settings *settings;
    SV *result;
    ENTER;
    Newx(settings, 1, ice_read_settings);
    SAVEFREEPV(settings);
    result = thaw_with_options(aTHX_ cxt, frozen, stack_index, count, settings);
    LEAVE;
    return result;
}

/* The arguments after the image are either `FLAGS` or `NAME => VALUE, ...`. */
SV *
ice_thaw(pTHX_ SV *frozen, I32 stack_index, I32 count)
{
    dMY_CXT;
    return UNLIKELY(MY_CXT.operation) ? thaw_on_heap(aTHX_ & MY_CXT, frozen, stack_index, count)
                                      : thaw_on_stack(aTHX_ & MY_CXT, frozen, stack_index, count);
}

/* Makes a view of a tape, or dies. This is a function of its own, because an icecore_error is
 * large: see ice_write_tape. */
static void __attribute__((noinline))
view_tape(pTHX_ ice_context *ctx, const icecore_tape *tape, icecore_view *view)
{
    icecore_error error;
    if (icecore_view_tape(ctx->pooled.engine, tape, view, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
}

SV *
ice_dclone(pTHX_ SV *ref)
{
    dMY_CXT;
    ice_write_settings write_settings;
    ice_read_settings settings;
    ice_context *ctx;
    icecore_tape tape;
    icecore_view view;
    SV *result;

    init_write_settings(aTHX_ & MY_CXT, &write_settings);
    write_settings.cloning = TRUE;
    init_read_settings(aTHX_ & MY_CXT, &settings);
    settings.bless_ok = settings.tie_ok = TRUE;
    settings.cloning = TRUE;
    ENTER;
    SAVEI32(MY_CXT.operation);
    MY_CXT.operation = OPERATION_STORING;
    MY_CXT.last_netorder = FALSE;
    ctx = ice_take_context(aTHX);
    ice_walk(aTHX_ ctx, &tape, ref, &write_settings, NULL);
    view_tape(aTHX_ ctx, &tape, &view);
    /* The map has the addresses of the values that were walked. The build needs an empty map. */
    if (ctx->seen.count)
        ice_map_clear(&ctx->seen);
    MY_CXT.operation = OPERATION_RETRIEVING;
    result = ice_build(aTHX_ ctx, &view, view.root, &settings);
    LEAVE;
    return result;
}

/* ---- handles ----------------------------------------------------------- */

IV
ice_document_length(pTHX_ SV *image)
{
    dMY_CXT;
    STRLEN len;
    const char *bytes = ice_frozen_bytes(aTHX_ image, &len);
    ice_context *ctx;
    icecore_view view;
    icecore_error error;
    U32 kind;
    ENTER;
    ctx = ice_take_context(aTHX);
    kind = icecore_read(ctx->pooled.engine, find_reader(aTHX_ & MY_CXT), (const U8 *)bytes, len, ICECORE_EACH, &view,
                        &error);
    if (kind != ICECORE_OK && kind != ICECORE_TRUNCATED) {
        ice_read_settings settings;
        init_read_settings(aTHX_ & MY_CXT, &settings);
        ice_croak_read_error(aTHX_ & error, &settings, bytes, len);
    }
    LEAVE;
    return kind == ICECORE_OK ? (IV)view.consumed : -1;
}

SV *
ice_read_buffered(pTHX_ PerlIO *handle, SV *bytes)
{
    SSize_t count;
    bool buffer_was_full = TRUE;
    while ((count = PerlIO_get_cnt(handle)) <= 0) {
        /* Bytes that were pushed back have a buffer of their own. When it is empty, PerlIO drops
         * it, and the ordinary buffer may have bytes. */
        if (PerlIO_fill(handle) != 0)
            return NULL;
        count = PerlIO_get_cnt(handle);
        buffer_was_full = count >= (SSize_t)PerlIO_get_bufsiz(handle);
    }
    sv_catpvn(bytes, (const char *)PerlIO_get_ptr(handle), count);
    PerlIO_set_ptrcnt(handle, PerlIO_get_ptr(handle) + count, 0);
    return boolSV(buffer_was_full);
}
