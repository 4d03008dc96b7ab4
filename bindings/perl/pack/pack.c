/* Packing lists, as perl's pack does. */
#include "pack/pack.h"
#include "core/documents.h"
#include "core/leaf.h"

/* The last stages, by their template. */
enum { STAGES = 8 };
typedef struct {
    SV *template;
    int how;
    icecore_stage *stage;
} known_stage;

#define MY_CXT_KEY "Icecore::pack" XS_VERSION
typedef struct {
    known_stage stages[STAGES];
    U32 next;
} my_cxt_t;
START_MY_CXT

void
ice_pack_boot(pTHX)
{
    MY_CXT_INIT;
    Zero(&MY_CXT, 1, my_cxt_t);
}

void
ice_pack_clone(pTHX)
{
    MY_CXT_CLONE;
    Zero(&MY_CXT, 1, my_cxt_t);
}

void
ice_pack_end(pTHX)
{
    dMY_CXT;
    int i;
    for (i = 0; i < STAGES; i++) {
        icecore_stage_free(MY_CXT.stages[i].stage);
        SvREFCNT_dec(MY_CXT.stages[i].template);
    }
    Zero(&MY_CXT, 1, my_cxt_t);
}

const icecore_stage *
ice_pack_stage(pTHX_ SV *template, int how, icecore_error *error)
{
    dMY_CXT;
    known_stage *known;
    SV *copy, *spec;
    STRLEN len;
    const char *text = SvPV(template, len);
    icecore_stage *stage;
    int i;
    for (i = 0; i < STAGES; i++) {
        known = &MY_CXT.stages[i];
        if (known->template && known->how == how && SvCUR(known->template) == len
            && memEQ(SvPVX(known->template), text, len) && !SvUTF8(known->template) == !SvUTF8(template))
            return known->stage;
    }
    if (ip_is_odd(text, text + len)) {
        error->kind = ICECORE_USAGE;
        return NULL;
    }
    copy = sv_2mortal(newSVpvn_flags(text, len, SvUTF8(template)));
    spec = sv_2mortal(newSVpvs("pack:"));
    if (how == ICE_UNPACK_TEXT)
        sv_catpvs(spec, "utf8,");
    /* If the text is upgraded to UTF-8 here, it is another copy. */
    ice_add_text(aTHX_ spec, "template", sv_2mortal(newSVpvn_flags(text, len, SvUTF8(template))));
    SvUTF8_on(spec);
    text = SvPV(spec, len);
    stage = icecore_stage_new(text, len, error);
    if (!stage)
        return NULL;
    if (how == ICE_PACK) /* the depth of a tape is known */
        ice_stage_limit(aTHX_ stage, "depth", U32_MAX);
    known = &MY_CXT.stages[MY_CXT.next++ % STAGES];
    icecore_stage_free(known->stage);
    SvREFCNT_dec(known->template);
    known->stage = stage;
    known->how = how;
    known->template = SvREFCNT_inc_simple_NN(copy);
    return stage;
}

/* Whether only perl knows the number or the string of a value. */
PERL_STATIC_INLINE bool
is_for_perl(const SV *sv)
{
    const U32 f = SvFLAGS(sv);
    return (f & (SVf_ROK | SVs_GMG)) || ((f & SVf_POK) ? (f & (SVp_IOK | SVp_NOK)) : !(f & (SVf_IOK | SVf_NOK)));
}

/* Puts a value of the list, as a string if it has one. */
static void
put(pTHX_ iw_walk *w, SV *sv)
{
    const U32 f = SvFLAGS(sv);
    if (f & SVf_POK)
        push_pv(aTHX_ w, sv, 0, 0);
    else if (f & SVf_IOK)
        push_int(aTHX_ w, sv, 0, 0);
    else
        push_float(aTHX_ w, SvNVX(sv), 0, 0);
}

/* Text of a loss of characters beyond bytes. */
#define WIDE "characters beyond bytes"

/* Whether characters beyond bytes were packed; `warns`: whether perl warns about
 * anything. */
static bool
is_wide(pTHX_ ice_context *ctx, size_t lost, bool *warns)
{
    icecore_bytes said;
    bool wide = FALSE;
    while (lost--)
        if (icecore_loss(ctx->warm.engine, lost, &said) == ICECORE_OK) {
            const bool is_it = ninstr((const char *)said.bytes, (const char *)said.bytes + said.len, WIDE, WIDE + sizeof WIDE - 1) != NULL;
            wide |= is_it;
            *warns |= !is_it;
        }
    return wide;
}

/* Packs some items of perl's stack, and adds them to the result. Returns false if perl
 * has to do it. */
static bool
pack_some(pTHX_ SV *template, I32 at, I32 count, SV *result)
{
    const icecore_stage *stage;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    ice_context *ctx;
    const icecore_node integer = { ICECORE_INT, 0, 0, 0, 0 };
    U64 front; /* the first 8 bytes of a node: written in one store */
    iw_walk w;
    size_t lost = 0, i;
    I32 item;
    U32 list;

    memcpy(&front, &integer, 8);
    ENTER;
    ctx = ice_checkout(aTHX);
    Zero(&w, 1, iw_walk);
    w.ctx = ctx;
    w.t = &tape;
    iw_begin(aTHX_ & w);
    list = push(aTHX_ & w, ICECORE_ARRAY, 0, 0, 0, 0);
    ice_reserve_nodes(ctx->warm.engine, &tape, (size_t)count + 1);
    for (item = 0; item < count; item++) {
        /* Integers need nothing but room. */
        icecore_node *node = tape.nodes + tape.node_count;
        SV *sv, **first = PL_stack_base + at + item, **next = first, **end = PL_stack_base + at + count;
        for (; next < end; next++, node++) {
            sv = *next;
            if (UNLIKELY((SvFLAGS(sv) & (SVf_IOK | SVf_POK | SVf_IVisUV | SVs_GMG)) != SVf_IOK))
                break;
            memcpy(node, &front, 8);
            node->payload = (U64)(I64)SvIVX(sv);
        }
        tape.node_count += (size_t)(next - first);
        item += (I32)(next - first);
        if (item >= count)
            break;
        if (is_for_perl(sv)) {
            LEAVE;
            return FALSE;
        }
        put(aTHX_ & w, sv);
    }
    end_node(&w, list, (U32)count, 0);
    iw_finish(aTHX_ & w);
    stage = ice_pack_stage(aTHX_ template, ICE_PACK, &error);
    if (!stage || icecore_write(ctx->warm.engine, stage, &tape, &out, &lost, &error) != ICECORE_OK) {
        if (!ip_may_perl(aTHX_ template, &error))
            ice_croak_error(aTHX_ & error);
        LEAVE;
        return FALSE;
    }
    if (UNLIKELY(lost)) {
        bool warns = FALSE;
        /* They are in UTF-8 there. */
        if (is_wide(aTHX_ ctx, lost, &warns))
            SvUTF8_on(result);
        if (warns && (ckWARN(WARN_PACK) || ckWARN(WARN_NUMERIC))) {
            LEAVE;
            return FALSE;
        }
    }
    sv_catpvn_nomg(result, (const char *)out.bytes, out.len);
    LEAVE;
    return TRUE;
}

/* Whether a template is one number, repeated, so that each part of a list can be packed
 * separately. */
static bool
is_one_number(pTHX_ SV *template)
{
    STRLEN len;
    const char *text = SvPV(template, len), *end = text + len;
    if (len < 2 || !strchr("cCsSiIlLqQjJnNvVfdF", *text) || end[-1] != '*')
        return FALSE;
    for (text++; text < end - 1; text++)
        if (*text != '!' && *text != '<' && *text != '>')
            return FALSE;
    return TRUE;
}

static void
pack_by_perl(pTHX_ SV *template, I32 at, I32 count, SV *result)
{
    if (!ip_may_perl(aTHX_ template, NULL))
        croak("not supported (pack): `p` and `P` are pointers into the memory of a running program");
    SvUTF8_off(result);
    ENTER;
    ip_pack_by_perl(aTHX_ template, at, count, result);
    LEAVE;
}

/* This many nodes stay in the processor's caches. */
#define PART 768

/* Whether the result is characters, even if they are all bytes: the template begins with
 * `U`, or contains `U0`. */
static bool
makes_text(pTHX_ SV *template)
{
    STRLEN len;
    const char *text = SvPV(template, len), *end = text + len, *at = (const char *)memchr(text, 'U', len);
    if (LIKELY(!at))
        return FALSE;
    while (text < end && isSPACE_A(*text))
        text++;
    return *text == 'U' || ninstr(at, end, "U0", "U0" + 2);
}

/* Packs the items on perl's stack. */
SV *
ice_pack_list(pTHX_ SV *template, I32 at, I32 count)
{
    SV *result = sv_2mortal(newSVpvs(""));
    I32 part = count > PART && is_one_number(aTHX_ template) ? PART : count, done = 0;
    do {
        const I32 left = count - done;
        if (UNLIKELY(!pack_some(aTHX_ template, at + done, left < part ? left : part, result))) {
            /* A part of a template that is one number is packed like the whole. */
            pack_by_perl(aTHX_ template, at + done, left, result);
            break;
        }
        done += part;
        /* The remaining parts have the same length. */
        if (done == part && part < count)
            SvGROW(result, SvCUR(result) * (STRLEN)(count / part + 1) + 1);
    } while (done < count);
    if (UNLIKELY(makes_text(aTHX_ template)))
        sv_utf8_upgrade_nomg(result);
    return SvREFCNT_inc_simple_NN(result);
}
