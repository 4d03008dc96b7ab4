/* Packs lists. pack.h declares the functions. */
#include "pack/pack.h"
#include "core/documents.h"
#include "core/leaf.h"

/* Number of stages that are kept. */
enum { CACHED_STAGES = 8 };
typedef struct {
    SV *template;
    int mode;
    icecore_stage *stage;
} cached_stage;

#define MY_CXT_KEY "Icecore::pack" XS_VERSION
typedef struct {
    cached_stage stages[CACHED_STAGES];
    U32 next; /* modulo CACHED_STAGES, the index of the stage that is replaced next */
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
    for (i = 0; i < CACHED_STAGES; i++) {
        icecore_stage_free(MY_CXT.stages[i].stage);
        SvREFCNT_dec(MY_CXT.stages[i].template);
    }
    Zero(&MY_CXT, 1, my_cxt_t);
}

const icecore_stage *
ice_pack_stage(pTHX_ SV *template, int mode, icecore_error *error)
{
    dMY_CXT;
    cached_stage *cached;
    SV *copy, *spec;
    STRLEN len;
    const char *text = SvPV(template, len);
    icecore_stage *stage;
    int i;
    for (i = 0; i < CACHED_STAGES; i++) {
        cached = &MY_CXT.stages[i];
        if (cached->template && cached->mode == mode && SvCUR(cached->template) == len
            && memEQ(SvPVX(cached->template), text, len) && !SvUTF8(cached->template) == !SvUTF8(template))
            return cached->stage;
    }
    if (ip_perl_warns(text, text + len)) {
        error->kind = ICECORE_USAGE;
        return NULL;
    }
    copy = sv_2mortal(newSVpvn_flags(text, len, SvUTF8(template)));
    spec = sv_2mortal(newSVpvs("pack:"));
    if (mode == ICE_UNPACK_TEXT)
        sv_catpvs(spec, "utf8,");
    /* ice_add_text_option may upgrade its argument to UTF-8, so it gets another copy. */
    ice_add_text_option(aTHX_ spec, "template", sv_2mortal(newSVpvn_flags(text, len, SvUTF8(template))));
    SvUTF8_on(spec);
    text = SvPV(spec, len);
    stage = icecore_stage_new(text, len, error);
    if (!stage)
        return NULL;
    if (mode == ICE_PACK) /* see ice_writer_new */
        ice_set_stage_limit(aTHX_ stage, "depth", U32_MAX);
    /* The cached stages are replaced one after another. */
    cached = &MY_CXT.stages[MY_CXT.next++ % CACHED_STAGES];
    icecore_stage_free(cached->stage);
    SvREFCNT_dec(cached->template);
    cached->stage = stage;
    cached->mode = mode;
    cached->template = SvREFCNT_inc_simple_NN(copy);
    return stage;
}

/* Returns true if an item may have another value for pack than the tape would have: it has
 * magic, is a reference, or is a string that was used as a number. */
PERL_STATIC_INLINE bool
needs_perl(const SV *sv)
{
    const U32 sv_flags = SvFLAGS(sv);
    return (sv_flags & (SVf_ROK | SVs_GMG))
        || ((sv_flags & SVf_POK) ? (sv_flags & (SVp_IOK | SVp_NOK)) : !(sv_flags & (SVf_IOK | SVf_NOK)));
}

/* Pushes an item: its string if it has one. */
static void
push_item(pTHX_ iw_walker *w, SV *sv)
{
    const U32 sv_flags = SvFLAGS(sv);
    if (sv_flags & SVf_POK)
        iw_push_pv(aTHX_ w, sv, 0, 0);
    else if (sv_flags & SVf_IOK)
        iw_push_int(aTHX_ w, sv, 0, 0);
    else
        iw_push_float(aTHX_ w, SvNVX(sv), 0, 0);
}

/* How the engine describes characters beyond bytes, which it counts as losses. */
#define WIDE_CHARACTERS "characters beyond bytes"

/* Returns true if characters beyond bytes were packed. Sets `has_warnings` if there are other
 * losses, about which perl warns. */
static bool
has_wide_characters(pTHX_ ice_context *ctx, size_t loss_count, bool *has_warnings)
{
    icecore_bytes description;
    bool has_wide = FALSE;
    while (loss_count--)
        if (icecore_loss(ctx->pooled.engine, loss_count, &description) == ICECORE_OK) {
            const bool is_wide =
                ninstr((const char *)description.bytes, (const char *)description.bytes + description.len,
                       WIDE_CHARACTERS, WIDE_CHARACTERS + sizeof WIDE_CHARACTERS - 1)
                != NULL;
            has_wide |= is_wide;
            *has_warnings |= !is_wide;
        }
    return has_wide;
}

/* Packs items of perl's stack, and appends them to the result. Returns false if perl's own pack
 * must pack the items. Then the result is unchanged, except for its flag for UTF-8. */
static bool
pack_items(pTHX_ SV *template, I32 stack_index, I32 count, SV *result)
{
    const icecore_stage *stage;
    icecore_tape tape;
    icecore_bytes out;
    icecore_error error;
    ice_context *ctx;
    const icecore_node integer = { ICECORE_INT, 0, 0, 0, 0 };
    U64 first_word; /* the first 8 bytes of a node for an integer, written in one store */
    iw_walker w;
    size_t loss_count = 0;
    I32 item;
    U32 list;

    memcpy(&first_word, &integer, 8);
    ENTER;
    ctx = ice_take_context(aTHX);
    Zero(&w, 1, iw_walker);
    w.ctx = ctx;
    w.tape = &tape;
    iw_begin(aTHX_ & w);
    list = iw_push(aTHX_ & w, ICECORE_ARRAY, 0, 0, 0, 0);
    ice_reserve_nodes(ctx->pooled.engine, &tape, (size_t)count + 1);
    for (item = 0; item < count; item++) {
        /* A run of integers is written directly. There is room for the nodes of all items. */
        icecore_node *node = tape.nodes + tape.node_count;
        SV *sv, **first_item = PL_stack_base + stack_index + item, **next_item = first_item,
                **end = PL_stack_base + stack_index + count;
        for (; next_item < end; next_item++, node++) {
            sv = *next_item;
            if (UNLIKELY((SvFLAGS(sv) & (SVf_IOK | SVf_POK | SVf_IVisUV | SVs_GMG)) != SVf_IOK))
                break;
            memcpy(node, &first_word, 8);
            node->payload = (U64)(I64)SvIVX(sv);
        }
        tape.node_count += (size_t)(next_item - first_item);
        item += (I32)(next_item - first_item);
        if (item >= count)
            break;
        if (needs_perl(sv)) {
            LEAVE;
            return FALSE;
        }
        push_item(aTHX_ & w, sv);
    }
    iw_end_node(&w, list, (U32)count, 0);
    iw_finish(aTHX_ & w);
    stage = ice_pack_stage(aTHX_ template, ICE_PACK, &error);
    if (!stage || icecore_write(ctx->pooled.engine, stage, &tape, &out, &loss_count, &error) != ICECORE_OK) {
        if (!ip_can_use_perl(aTHX_ template, &error))
            ice_croak_error(aTHX_ & error);
        LEAVE;
        return FALSE;
    }
    if (UNLIKELY(loss_count)) {
        bool has_warnings = FALSE;
        /* The output has such characters in UTF-8. */
        if (has_wide_characters(aTHX_ ctx, loss_count, &has_warnings))
            SvUTF8_on(result);
        if (has_warnings && (ckWARN(WARN_PACK) || ckWARN(WARN_NUMERIC))) {
            LEAVE;
            return FALSE;
        }
    }
    sv_catpvn_nomg(result, (const char *)out.bytes, out.len);
    LEAVE;
    return TRUE;
}

/* Returns true if a template is one number, repeated for all items. Then parts of the list can be
 * packed separately. */
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

/* Packs items by perl's own pack. Dies if the template has pointers. */
static void
pack_by_perl(pTHX_ SV *template, I32 stack_index, I32 count, SV *result)
{
    if (!ip_can_use_perl(aTHX_ template, NULL))
        croak("not supported (pack): `p` and `P` are pointers into the memory of a running program");
    SvUTF8_off(result);
    ENTER;
    ip_pack_by_perl(aTHX_ template, stack_index, count, result);
    LEAVE;
}

/* Number of items in a part. Their nodes fit into the processor's caches. */
#define PART_ITEMS 768

/* Returns true if a template asks for a result of characters: it begins with `U`, or contains
 * `U0`. */
static bool
makes_characters(pTHX_ SV *template)
{
    STRLEN len;
    const char *text = SvPV(template, len), *end = text + len, *first_u = (const char *)memchr(text, 'U', len);
    if (LIKELY(!first_u))
        return FALSE;
    while (text < end && isSPACE_A(*text))
        text++;
    return *text == 'U' || ninstr(first_u, end, "U0", "U0" + 2);
}

SV *
ice_pack_list(pTHX_ SV *template, I32 stack_index, I32 count)
{
    SV *result = sv_2mortal(newSVpvs(""));
    I32 part = count > PART_ITEMS && is_one_number(aTHX_ template) ? PART_ITEMS : count, done = 0;
    do {
        const I32 remaining = count - done;
        if (UNLIKELY(!pack_items(aTHX_ template, stack_index + done, remaining < part ? remaining : part, result))) {
            /* The template of a list in parts is one number, so it also packs the remaining
             * items. */
            pack_by_perl(aTHX_ template, stack_index + done, remaining, result);
            break;
        }
        done += part;
        /* The remaining parts have the same length. */
        if (done == part && part < count)
            SvGROW(result, SvCUR(result) * (STRLEN)(count / part + 1) + 1);
    } while (done < count);
    if (UNLIKELY(makes_characters(aTHX_ template)))
        sv_utf8_upgrade_nomg(result);
    return SvREFCNT_inc_simple_NN(result);
}
