/* Storable: its variables and options; freeze, thaw and dclone. */
#include "storable/storable.h"
#include "core/documents.h"

/* Ways to write an image; each combination has a stage of its own. */
enum { NETORDER = 1, FILE_IMAGE = 2, CANONICAL = 4, WRITERS = 8 };

#define MY_CXT_KEY "Icecore::storable" XS_VERSION
typedef struct {
    icecore_stage *writers[WRITERS];
    icecore_stage *reader;
    GV *canonical, *forgive_me, *deparse, *eval, *flags, *recursion_limit, *accept_future_minor;
    I32 doing; /* the current operation: IS_STORING, IS_RETRIEVING or neither */
    bool last_netorder;
} my_cxt_t;
START_MY_CXT

enum { IS_STORING = 1, IS_RETRIEVING };

static void
start(pTHX_ my_cxt_t *cxt)
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
    start(aTHX_ & MY_CXT);
}

/* The stages belong to the interpreter that was cloned. */
void
ice_storable_clone(pTHX)
{
    MY_CXT_CLONE;
    start(aTHX_ & MY_CXT);
}

/* Destructors of objects may still run; they create what they need again. */
void
ice_storable_end(pTHX)
{
    dMY_CXT;
    int how;
    for (how = 0; how < WRITERS; how++) {
        icecore_stage_free(MY_CXT.writers[how]);
        MY_CXT.writers[how] = NULL;
    }
    icecore_stage_free(MY_CXT.reader);
    MY_CXT.reader = NULL;
}

bool
ice_storable_state(pTHX_ int what)
{
    dMY_CXT;
    switch (what) {
    case ICE_IS_STORING:
        return MY_CXT.doing == IS_STORING;
    case ICE_IS_RETRIEVING:
        return MY_CXT.doing == IS_RETRIEVING;
    default:
        return MY_CXT.last_netorder;
    }
}

/* ---- settings ---------------------------------------------------------- */

PERL_STATIC_INLINE bool
is_set(pTHX_ GV *gv)
{
    SV *sv = gv ? GvSV(gv) : NULL;
    return sv && SvTRUE(sv);
}

PERL_STATIC_INLINE void
write_settings(pTHX_ my_cxt_t *cxt, ice_write_settings *set)
{
    SV *limit = GvSV(cxt->recursion_limit);
    Zero(set, 1, ice_write_settings);
    set->rules = &ice_storable_rules;
    set->deparse = is_set(aTHX_ cxt->deparse);
    set->forgive = is_set(aTHX_ cxt->forgive_me);
    set->max_depth = limit && SvOK(limit) ? (SvIV(limit) < 0 ? 0 : (UV)SvIV(limit)) : 10000;
}

PERL_STATIC_INLINE void
read_settings(pTHX_ my_cxt_t *cxt, ice_read_settings *set)
{
    SV *flags = GvSV(cxt->flags);
    Zero(set, 1, ice_read_settings);
    ice_set_flags(set, flags && SvOK(flags) ? SvIV(flags) : 6);
    set->eval = GvSV(cxt->eval);
    set->original_words = is_original_words;
    set->deeper = "Icecore::decode takes max_recursion_depth => N if the input is trusted";
    set->trailing = "cut them off; fd_retrieve reads one document after another from a handle";
    set->forgive = is_set(aTHX_ cxt->forgive_me);
}

void
ice_storable_write_settings(pTHX_ ice_write_settings *set)
{
    dMY_CXT;
    write_settings(aTHX_ & MY_CXT, set);
}

void
ice_storable_read_settings(pTHX_ ice_read_settings *set)
{
    dMY_CXT;
    read_settings(aTHX_ & MY_CXT, set);
    /* Callers outside of Storable's functions don't look for its words. */
    set->original_words = NULL;
    set->deeper = set->trailing = NULL;
}

/* ---- freeze and thaw --------------------------------------------------- */

static icecore_stage *
writer(pTHX_ my_cxt_t *cxt, int how)
{
    if (UNLIKELY(!cxt->writers[how])) {
        SV *spec = sv_2mortal(newSVpvf("storable:%s%s%s", how & FILE_IMAGE ? "file" : "memory",
                                       how & NETORDER ? ",netorder" : "", how & CANONICAL ? ",canonical" : ""));
        cxt->writers[how] = ice_writer_new(aTHX_ SvPVX(spec), SvCUR(spec));
    }
    return cxt->writers[how];
}

static icecore_stage *
reader(pTHX_ my_cxt_t *cxt)
{
    if (UNLIKELY(!cxt->reader))
        cxt->reader = ice_reader_new(aTHX_ STR_WITH_LEN("storable:text_keys"));
    return cxt->reader;
}

SV *
ice_freeze(pTHX_ SV *ref, int how)
{
    dMY_CXT;
    ice_write_settings set;
    icecore_stage *stage;
    SV *result;

    SvGETMAGIC(ref);
    if (!SvROK(ref))
        croak("not a reference");
    write_settings(aTHX_ & MY_CXT, &set);
    if (is_set(aTHX_ MY_CXT.canonical))
        how |= CANONICAL;
    stage = writer(aTHX_ & MY_CXT, how);
    ENTER;
    SAVEI32(MY_CXT.doing);
    MY_CXT.doing = IS_STORING;
    MY_CXT.last_netorder = (how & NETORDER) != 0;
    result = ice_write_document(aTHX_ stage, ref, NULL, &set, NULL);
    LEAVE;
    return result;
}

/* Reads an image whose header was checked. */
PERL_STATIC_INLINE SV *
thaw_image(pTHX_ my_cxt_t *cxt, SV *frozen, const ice_read_settings *set)
{
    STRLEN len;
    const char *bytes = ice_bytes(aTHX_ frozen, &len);
    const U8 *header = (const U8 *)bytes;
    SV *result;
    if (len > 6 && memEQ(bytes, "pst0", 4))
        header += 4;
    if (len > 2) {
        cxt->last_netorder = header[0] & 1;
        if (header[0] >> 1 == 2 && header[1] > IS_MINOR && !is_set(aTHX_ cxt->accept_future_minor))
            croak("Storable binary image v2.%d more recent than I am (v2.%d)", header[1], IS_MINOR);
    }
    ENTER;
    SAVEI32(cxt->doing);
    cxt->doing = IS_RETRIEVING;
    result = ice_read_document(aTHX_ reader(aTHX_ cxt), bytes, len, set, NULL, NULL);
    LEAVE;
    return result;
}

PERL_STATIC_INLINE SV *
thaw_with(pTHX_ my_cxt_t *cxt, SV *frozen, I32 at, I32 count, ice_read_settings *set)
{
    read_settings(aTHX_ cxt, set);
    if (count == 1) {
        SV *flags = PL_stack_base[at];
        if (SvOK(flags))
            ice_set_flags(set, SvIV(flags));
    } else if (count)
        ice_read_options(aTHX_ set, NULL, at, count);
    return thaw_image(aTHX_ cxt, frozen, set);
}

static SV * __attribute__((noinline))
thaw_first(pTHX_ my_cxt_t *cxt, SV *frozen, I32 at, I32 count)
{
    ice_read_settings set;
    return thaw_with(aTHX_ cxt, frozen, at, count, &set);
}

/* Thaws from within a hook: the settings are on the heap, to save native stack for nested
 * calls. */
static SV * __attribute__((noinline))
thaw_again(pTHX_ my_cxt_t *cxt, SV *frozen, I32 at, I32 count)
{
    ice_read_settings *set;
    SV *result;
    ENTER;
    Newx(set, 1, ice_read_settings);
    SAVEFREEPV(set);
    result = thaw_with(aTHX_ cxt, frozen, at, count, set);
    LEAVE;
    return result;
}

/* The arguments after the image are `FLAGS` or `NAME => VALUE, ...`. */
SV *
ice_thaw(pTHX_ SV *frozen, I32 at, I32 count)
{
    dMY_CXT;
    return UNLIKELY(MY_CXT.doing) ? thaw_again(aTHX_ & MY_CXT, frozen, at, count) : thaw_first(aTHX_ & MY_CXT, frozen, at, count);
}

static void __attribute__((noinline))
view_tape(pTHX_ ice_context *ctx, const icecore_tape *tape, icecore_view *view)
{
    icecore_error error;
    if (icecore_view_tape(ctx->warm.engine, tape, view, &error) != ICECORE_OK)
        ice_croak_error(aTHX_ & error);
}

SV *
ice_dclone(pTHX_ SV *ref)
{
    dMY_CXT;
    ice_write_settings write_set;
    ice_read_settings set;
    ice_context *ctx;
    icecore_tape tape;
    icecore_view view;
    SV *result;

    write_settings(aTHX_ & MY_CXT, &write_set);
    write_set.cloning = TRUE;
    read_settings(aTHX_ & MY_CXT, &set);
    set.bless_ok = set.tie_ok = TRUE;
    set.cloning = TRUE;
    ENTER;
    SAVEI32(MY_CXT.doing);
    MY_CXT.doing = IS_STORING;
    MY_CXT.last_netorder = FALSE;
    ctx = ice_checkout(aTHX);
    ice_walk(aTHX_ ctx, &tape, ref, &write_set, NULL);
    view_tape(aTHX_ ctx, &tape, &view);
    if (ctx->seen.count)
        ice_map_clear(&ctx->seen);
    MY_CXT.doing = IS_RETRIEVING;
    result = ice_build(aTHX_ ctx, &view, view.root, &set);
    LEAVE;
    return result;
}

/* ---- handles ----------------------------------------------------------- */

IV
ice_probe(pTHX_ SV *image)
{
    dMY_CXT;
    STRLEN len;
    const char *bytes = ice_bytes(aTHX_ image, &len);
    ice_context *ctx;
    icecore_view view;
    icecore_error error;
    U32 kind;
    ENTER;
    ctx = ice_checkout(aTHX);
    kind = icecore_read(ctx->warm.engine, reader(aTHX_ & MY_CXT), (const U8 *)bytes, len, ICECORE_EACH, &view, &error);
    if (kind != ICECORE_OK && kind != ICECORE_TRUNCATED) {
        ice_read_settings set;
        read_settings(aTHX_ & MY_CXT, &set);
        ice_croak_read_error(aTHX_ & error, &set, bytes, len);
    }
    LEAVE;
    return kind == ICECORE_OK ? (IV)view.consumed : -1;
}

SV *
ice_more(pTHX_ PerlIO *handle, SV *bytes)
{
    SSize_t count;
    bool full = TRUE;
    while ((count = PerlIO_get_cnt(handle)) <= 0) {
        /* Bytes that were pushed back have a buffer of their own, which is dropped when
         * it is empty: then more may follow. */
        if (PerlIO_fill(handle) != 0)
            return NULL;
        count = PerlIO_get_cnt(handle);
        full = count >= (SSize_t)PerlIO_get_bufsiz(handle);
    }
    sv_catpvn(bytes, (const char *)PerlIO_get_ptr(handle), count);
    PerlIO_set_ptrcnt(handle, PerlIO_get_ptr(handle) + count, 0);
    return boolSV(full);
}
