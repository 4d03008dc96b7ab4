/* Frozen data in the payloads of hooks: payloads.h. */
#include "core/payloads.h"

/* Budget for reading: COST, plus COST_FOR_EACH_BYTE for each byte of the document. Each
 * document that is read costs a fixed amount, its nodes, its decompressed size, and the
 * bytes copied from it. Strings are not copied, so nested frozen data does not cost more
 * for each level. */
enum { COST = 256 << 20, COST_FOR_EACH_BYTE = 16, COST_OF_DOCUMENT = 256, COST_OF_NODE = 16 };

#define MY_CXT_KEY "Icecore::payloads" XS_VERSION
typedef struct {
    icecore_stage *storable, *sereal;
    ice_payloads *innermost; /* the last of the running calls that checked payloads */
} my_cxt_t;
START_MY_CXT

void
ice_payloads_boot(pTHX)
{
    MY_CXT_INIT;
    Zero(&MY_CXT, 1, my_cxt_t);
}

/* The stages belong to the interpreter that was cloned. */
void
ice_payloads_clone(pTHX)
{
    MY_CXT_CLONE;
    Zero(&MY_CXT, 1, my_cxt_t);
}

void
ice_payloads_end(pTHX)
{
    dMY_CXT;
    icecore_stage_free(MY_CXT.storable);
    icecore_stage_free(MY_CXT.sereal);
    Zero(&MY_CXT, 1, my_cxt_t);
}

/* Position of a string that begins like frozen data. */
typedef struct {
    U32 hook;
    U32 node;
    bool is_key; /* the string is the key of that node */
} found_string;

/* State of a search in a document; lives until perl leaves the scope. */
typedef struct {
    const icecore_view *view;
    SV *visited; /* a byte for each node */
    SV *ranges;  /* ranges still to search: pairs of U32 */
    SV *found;   /* of `found_string` */
} search;

/* A string that is read, or was read. Its bytes live until the end of the call. */
typedef struct {
    const char *bytes;
    STRLEN len;
    U32 hook; /* the hook in the document that receives it, or that contains it */
} payload;

struct ice_payloads {
    ice_payloads *outer; /* the previous one of the running calls */
    ice_context *ctx;
    const ice_read_settings *set;
    SV *classes; /* the list under which they were checked; or NULL */
    search search;
    SV *payloads; /* of `payload` */
    HV *by_front; /* the index of each payload */
    HV *asked;    /* classes that were checked */
    UV left;      /* the rest of the budget */
    U32 hook;
    ice_refused refused;
    SV *fault; /* the first reason why something can't be checked; or NULL */
    icecore_error error;
};

/* ---- strings --------------------------------------------------------------- */

/* Returns the length of Sereal's magic number if the bytes begin with it, otherwise 0. */
static STRLEN
sereal_magic(const char *bytes, STRLEN len, bool is_text)
{
    if (len >= 5 && memEQ(bytes, "=srl", 4))
        return 4;
    if (is_text)
        return len >= 6 && memEQ(bytes, "=\xC3\xB3rl", 5) ? 5 : 0;
    return len >= 5 && memEQ(bytes, "=\xF3rl", 4) ? 4 : 0;
}

/* Whether bytes begin like an image of Storable: with a file's magic number, or in
 * memory with the version 0 to 2, doubled, plus the byte order. */
static bool
is_storable(const char *bytes, STRLEN len)
{
    return len >= 3 && ((U8)bytes[0] <= 5 || (len >= 6 && (memEQ(bytes, "pst0", 4) || memEQ(bytes, "perl-s", 6))));
}

static bool
begins_frozen(const char *bytes, STRLEN len, bool is_text)
{
    return len >= 3 && (is_storable(bytes, len) || sereal_magic(bytes, len, is_text));
}

/* ---- the data of a hook ------------------------------------------------------ */

/* Returns the node after a value; in a document that was not read to its end, at most
 * the node count. */
static U32
end_of(const icecore_view *view, U32 at)
{
    const U32 end = ice_next(view, at);
    return end > at && end <= view->node_count ? end : (U32)view->node_count;
}

static void
begin_search(pTHX_ search *s, const icecore_view *view)
{
    s->view = view;
    s->visited = newSV(view->node_count + 1);
    SAVEFREESV(s->visited);
    Zero(SvPVX(s->visited), view->node_count + 1, char);
    s->ranges = newSVpvs("");
    SAVEFREESV(s->ranges);
    s->found = newSVpvs("");
    SAVEFREESV(s->found);
}

static void
add_range(pTHX_ search *s, U32 at, U32 end)
{
    const U32 range[2] = { at, end };
    sv_catpvn(s->ranges, (const char *)range, sizeof range);
}

static void
add_found(pTHX_ search *s, U32 hook, U32 node, bool is_key)
{
    found_string found;
    Zero(&found, 1, found_string);
    found.hook = hook;
    found.node = node;
    found.is_key = is_key;
    sv_catpvn(s->found, (const char *)&found, sizeof found);
}

/* Returns the text of a key that has an id, otherwise NULL. */
static const char *
key_text(const icecore_view *view, const icecore_node *node, STRLEN *len, bool *is_text)
{
    const char *text;
    const icecore_name *name = node->key && node->key < ICECORE_IS_KEY ? ice_name(&view->keys, node->key, &text) : NULL;
    if (!name)
        return NULL;
    *len = name->node.aux;
    *is_text = name->node.kind == ICECORE_TEXT;
    return text;
}

/* Checks a node. Returns the node that it refers to, or ICECORE_NONE. */
static U32
look_at(pTHX_ search *s, U32 hook, U32 at)
{
    const icecore_view *view = s->view;
    const icecore_node *node = &view->nodes[at];
    const char *text;
    STRLEN len;
    bool is_text;
    if (node->key && (text = key_text(view, node, &len, &is_text)) && begins_frozen(text, len, is_text))
        add_found(aTHX_ s, hook, at, TRUE);
    switch (node->kind) {
    case ICECORE_BYTES:
    case ICECORE_TEXT:
        text = ice_bytes_of(view, node, &len);
        if (begins_frozen(text, len, node->kind == ICECORE_TEXT))
            add_found(aTHX_ s, hook, at, FALSE);
        return ICECORE_NONE;
    case ICECORE_LINK:
    case ICECORE_ALIAS:
    case ICECORE_COPY:
        return node->payload < view->node_count ? (U32)node->payload : ICECORE_NONE;
    default:
        return ICECORE_NONE;
    }
}

static void
search_range(pTHX_ search *s, U32 hook, U32 at, U32 end)
{
    char *visited = SvPVX(s->visited);
    while (at < end) {
        U32 other;
        if (visited[at]) {
            at = end_of(s->view, at);
            continue;
        }
        visited[at] = 1;
        other = look_at(aTHX_ s, hook, at++);
        if (other != ICECORE_NONE && !visited[other])
            add_range(aTHX_ s, other, end_of(s->view, other));
    }
}

/* Searches for strings in the data of a hook: in the object, and in everything that
 * links in it lead to. Each node is visited once. */
static void
search_hook(pTHX_ search *s, U32 hook)
{
    search_range(aTHX_ s, hook, hook + 1, end_of(s->view, hook));
    while (SvCUR(s->ranges)) {
        U32 range[2];
        SvCUR_set(s->ranges, SvCUR(s->ranges) - sizeof range);
        Copy(SvPVX(s->ranges) + SvCUR(s->ranges), range, sizeof range, char);
        search_range(aTHX_ s, hook, range[0], range[1]);
    }
}

/* ---- classes ---------------------------------------------------------------- */

static void
note_fault(pTHX_ ice_payloads *p, const char *words)
{
    if (!p->fault)
        p->fault = sv_2mortal(newSVpv(words, 0));
}

static void
ask_class(pTHX_ ice_payloads *p, const char *name, STRLEN len, bool is_utf8)
{
    const icecore_view *view = p->search.view;
    const I32 flag = is_utf8 && ice_is_utf8((const U8 *)name, len) ? HVhek_UTF8 : 0;
    U32 verdict;
    char path[512] = "";
    if (hv_common(p->asked, NULL, name, len, flag, HV_FETCH_ISEXISTS, NULL, 0))
        return;
    (void)hv_common(p->asked, NULL, name, len, flag, HV_FETCH_ISSTORE | HV_FETCH_JUST_SV, newSViv(1), 0);
    verdict = ice_policy(aTHX_ p->set->classes, name, len, is_utf8);
    if (verdict == ICECORE_ALLOWED)
        return;
    if (p->refused.count < ICE_LISTED)
        icecore_path(p->ctx->warm.engine, view->input, view->input_len, p->hook, path, sizeof path);
    ice_policy_list(aTHX_ & p->refused, name, len, is_utf8, path);
}

/* If the object that ties a variable is a string, perl would call the methods of the
 * class with that name. */
static void
ask_tied(pTHX_ ice_payloads *p, const icecore_view *view, U32 at)
{
    const icecore_node *node = &view->nodes[at];
    const char *text;
    STRLEN len;
    U32 steps;
    for (steps = 0; (node->kind == ICECORE_LINK || node->kind == ICECORE_ALIAS || node->kind == ICECORE_COPY)
                    && node->payload < view->node_count && steps < view->node_count; steps++)
        node = &view->nodes[node->payload];
    if (node->kind != ICECORE_BYTES && node->kind != ICECORE_TEXT)
        return;
    text = ice_bytes_of(view, node, &len);
    ask_class(aTHX_ p, text, len, node->kind == ICECORE_TEXT);
}

static bool
evals_code(pTHX_ const ice_payloads *p)
{
    SV *eval = p->set->eval ? p->set->eval : get_sv("Icecore::Storable::Eval", 0);
    return eval && SvTRUE(eval);
}

static void
ask_node(pTHX_ ice_payloads *p, const icecore_view *view, U32 at)
{
    const icecore_node *node = &view->nodes[at];
    const char *text;
    const icecore_name *name;
    switch (node->kind) {
    case ICECORE_OBJECT:
    case ICECORE_OPAQUE:
        if ((name = ice_name(&view->classes, ICE_CLASS_OF(node), &text)))
            ask_class(aTHX_ p, text, name->node.aux, name->node.kind == ICECORE_TEXT);
        return;
    case ICECORE_TIED:
        if (at + 1 < end_of(view, at))
            ask_tied(aTHX_ p, view, at + 1);
        return;
    case ICECORE_CODE:
        if (!evals_code(aTHX_ p))
            note_fault(aTHX_ p, "it has code as text, and $Icecore::Storable::Eval is not set");
        return;
    default:
        return;
    }
}

/* ---- reading ------------------------------------------------------------------ */

static const icecore_stage *
stage_of(pTHX_ ice_payloads *p, bool is_sereal)
{
    dMY_CXT;
    icecore_stage **stage = is_sereal ? &MY_CXT.sereal : &MY_CXT.storable;
    if (!*stage)
        *stage = is_sereal ? icecore_stage_new(STR_WITH_LEN("sereal"), &p->error)
                           : icecore_stage_new(STR_WITH_LEN("storable"), &p->error);
    if (!*stage
        || (is_sereal && icecore_stage_limit(*stage, STR_WITH_LEN("decompressed"), p->left + 1, &p->error) != ICECORE_OK))
        ice_croak_error(aTHX_ & p->error);
    return *stage;
}

static void
spend(pTHX_ ice_payloads *p, UV cost)
{
    if (cost > p->left)
        note_fault(aTHX_ p, "reading it costs too much");
    p->left -= cost > p->left ? p->left : cost;
}

/* ---- payloads ------------------------------------------------------------------ */

static payload *
payload_at(const ice_payloads *p, size_t at)
{
    return (payload *)SvPVX(p->payloads) + at;
}

static size_t
payload_count(const ice_payloads *p)
{
    return SvCUR(p->payloads) / sizeof(payload);
}

/* Returns a key that equal strings share, made of their length and some of their bytes:
 * a mortal. */
static SV *
front_of(pTHX_ const char *bytes, STRLEN len)
{
    SV *front = sv_2mortal(newSVpvn((const char *)&len, sizeof len));
    sv_catpvn(front, bytes, len < 64 ? len : 64);
    if (len > 64)
        sv_catpvn(front, bytes + len - 16, 16);
    return front;
}

static void
add_payload(pTHX_ ice_payloads *p, const char *bytes, STRLEN len, U32 hook)
{
    const payload added = { bytes, len, hook };
    ENTER;
    SAVETMPS;
    (void)hv_store_ent(p->by_front, front_of(aTHX_ bytes, len), newSVuv(payload_count(p)), 0);
    FREETMPS;
    LEAVE;
    sv_catpvn(p->payloads, (const char *)&added, sizeof added);
}

static bool
has_payload(pTHX_ const ice_payloads *p, const char *bytes, STRLEN len)
{
    HE *entry = hv_fetch_ent(p->by_front, front_of(aTHX_ bytes, len), 0, 0);
    const payload *known = entry ? payload_at(p, SvUV(HeVAL(entry))) : NULL;
    return known && known->len == len && memEQ(known->bytes, bytes, len);
}

/* Adds a string that was found. `lasting` are the bytes that outlive the document; a
 * string outside of them is copied. */
static void
add_string(pTHX_ ice_payloads *p, const search *s, const found_string *found, const char *lasting, STRLEN lasting_len,
           U32 hook)
{
    const icecore_node *node = &s->view->nodes[found->node];
    STRLEN len;
    bool is_text = node->kind == ICECORE_TEXT;
    const char *bytes = found->is_key ? key_text(s->view, node, &len, &is_text) : ice_bytes_of(s->view, node, &len);
    const bool is_wide = is_text && !ice_is_ascii((const U8 *)bytes, len);
    SV *copy;
    if (is_wide && !ice_is_utf8((const U8 *)bytes, len))
        return;
    if (is_wide || bytes < lasting || bytes >= lasting + lasting_len) {
        spend(aTHX_ p, len);
        if (p->fault)
            return;
        ice_keep(aTHX_ p->ctx, copy = newSVpvn_utf8(bytes, len, is_wide));
        /* A reader takes the characters as bytes. */
        if (is_wide && !sv_utf8_downgrade(copy, TRUE))
            return;
        bytes = SvPV(copy, len);
    }
    add_payload(aTHX_ p, bytes, len, hook);
}

/* Adds all strings that were found. A string to which several nodes refer is added once.
 * `hook`: the hook of the outermost document that contains them; ICECORE_NONE if they
 * are in that document itself. */
static void
add_strings(pTHX_ ice_payloads *p, const search *s, const char *lasting, STRLEN lasting_len, U32 hook)
{
    const found_string *found = (const found_string *)SvPVX(s->found);
    const size_t count = SvCUR(s->found) / sizeof *found;
    HV *added = newHV();
    size_t i;
    SAVEFREESV((SV *)added);
    for (i = 0; i < count && !p->fault; i++) {
        const icecore_node *node = &s->view->nodes[found[i].node];
        const U64 place = found[i].is_key ? (U64)1 << 63 | node->key : node->payload;
        const U32 part = found[i].is_key ? 0 : node->aux;
        char name[sizeof place + sizeof part];
        Copy(&place, name, sizeof place, char);
        Copy(&part, name + sizeof place, sizeof part, char);
        if (hv_exists(added, name, sizeof name))
            continue;
        (void)hv_store(added, name, sizeof name, newSV(0), 0);
        add_string(aTHX_ p, s, &found[i], lasting, lasting_len, hook == ICECORE_NONE ? found[i].hook : hook);
    }
}

/* ---- documents ------------------------------------------------------------------ */

/* Checks the classes of a document that was read, and adds the strings of the hooks in
 * it. */
static void
check_view(pTHX_ ice_payloads *p, const icecore_view *view, const char *lasting, STRLEN lasting_len)
{
    search inner;
    bool has_hook = FALSE;
    U32 at;
    for (at = 0; at < view->node_count; at++) {
        ask_node(aTHX_ p, view, at);
        has_hook |= view->nodes[at].kind == ICECORE_OPAQUE;
    }
    if (!has_hook)
        return;
    ENTER;
    begin_search(aTHX_ & inner, view);
    for (at = 0; at < view->node_count; at++)
        if (view->nodes[at].kind == ICECORE_OPAQUE)
            search_hook(aTHX_ & inner, at);
    add_strings(aTHX_ p, &inner, lasting, lasting_len, p->hook);
    LEAVE;
}

/* Reads one document. Returns its length; 0 if it is not read to its end. The classes
 * before an error are checked too, because the original reader would build them before
 * it fails. */
static STRLEN
check_document(pTHX_ ice_payloads *p, ice_context *ctx, const char *bytes, STRLEN len)
{
    icecore_view *const view = &ctx->view;
    bool is_inflated;
    U32 kind;
    Zero(view, 1, icecore_view);
    kind = icecore_read(ctx->warm.engine, stage_of(aTHX_ p, sereal_magic(bytes, len, FALSE) != 0), (const U8 *)bytes, len,
                        ICECORE_EACH | ICECORE_PARTIAL, view, &p->error);
    /* The original has other limits, or none. */
    if (kind == ICECORE_LIMIT)
        note_fault(aTHX_ p, p->error.message);
    is_inflated = view->input != (const U8 *)bytes;
    spend(aTHX_ p, COST_OF_DOCUMENT + COST_OF_NODE * (UV)view->node_count + (is_inflated ? view->input_len : 0));
    if (!p->fault)
        check_view(aTHX_ p, view, bytes, is_inflated ? 0 : len);
    return kind == ICECORE_OK ? view->consumed : 0;
}

/* Whether a class may read another document after this one: one of Sereal, or of a file. */
static bool
begins_another(const char *bytes, STRLEN len)
{
    return sereal_magic(bytes, len, FALSE) || (len >= 6 && memEQ(bytes, "pst0", 4));
}

/* Reads a payload, and the documents after the first one. */
static void
check_payload(pTHX_ ice_payloads *p, ice_context *ctx, const char *bytes, STRLEN len)
{
    do {
        const STRLEN consumed = check_document(aTHX_ p, ctx, bytes, len);
        if (consumed == 0 || consumed > len)
            return;
        bytes += consumed;
        len -= consumed;
    } while (!p->fault && begins_another(bytes, len));
}

static void
refuse(pTHX_ const ice_payloads *p)
{
    const icecore_view *view = p->search.view;
    char path[512];
    if (p->refused.count)
        ice_policy_refuse_all(aTHX_ & p->refused);
    if (!p->fault)
        return;
    icecore_path(p->ctx->warm.engine, view->input, view->input_len, p->hook, path, sizeof path);
    croak("Icecore: the hook at %s is given frozen data that can't be checked: %" SVf, path, SVfARG(p->fault));
}

/* ---- nested calls ------------------------------------------------------------------ */

static void
forget(pTHX_ void *data)
{
    dMY_CXT;
    MY_CXT.innermost = ((ice_payloads *)data)->outer;
}

/* Whether two lists are equal. Lists with values that are not plain strings count as
 * different. */
static bool
are_same_lists(pTHX_ SV *one, SV *other)
{
    AV *list, *other_list;
    SSize_t i;
    if (one == other)
        return TRUE;
    if (!one || !other || !SvROK(one) || !SvROK(other))
        return FALSE;
    if (SvRV(one) == SvRV(other))
        return TRUE;
    list = (AV *)SvRV(one);
    other_list = (AV *)SvRV(other);
    if (SvTYPE(list) != SVt_PVAV || SvTYPE(other_list) != SVt_PVAV || SvMAGICAL(list) || SvMAGICAL(other_list)
        || AvFILLp(list) != AvFILLp(other_list))
        return FALSE;
    for (i = 0; i <= AvFILLp(list); i++) {
        SV *item = AvARRAY(list)[i], *other_item = AvARRAY(other_list)[i];
        if (!item || !other_item || SvMAGICAL(item) || SvMAGICAL(other_item) || !SvPOK(item) || !SvPOK(other_item)
            || SvROK(item) || SvROK(other_item) || !sv_eq_flags(item, other_item, 0))
            return FALSE;
    }
    return TRUE;
}

/* Whether a document is the payload of a hook and was checked together with the document
 * of that hook. */
static bool
was_checked(pTHX_ const ice_payloads *outer, const char *bytes, STRLEN len, SV *classes)
{
    for (; outer; outer = outer->outer)
        if (are_same_lists(aTHX_ outer->classes, classes) && has_payload(aTHX_ outer, bytes, len))
            return TRUE;
    return FALSE;
}

/* ---- interface ---------------------------------------------------------------------- */

ice_payloads *
ice_payloads_begin(pTHX_ ice_context *ctx, const icecore_view *view, const ice_read_settings *set)
{
    SV *memory = newSV(sizeof(ice_payloads));
    ice_payloads *p = (ice_payloads *)SvPVX(memory);
    Zero(p, 1, ice_payloads);
    ice_keep(aTHX_ ctx, memory);
    p->ctx = ctx;
    p->set = set;
    p->classes = set->classes;
    begin_search(aTHX_ & p->search, view);
    ice_keep(aTHX_ ctx, p->payloads = newSVpvs(""));
    ice_keep(aTHX_ ctx, (SV *)(p->by_front = newHV()));
    ice_keep(aTHX_ ctx, (SV *)(p->asked = newHV()));
    p->left = COST + COST_FOR_EACH_BYTE * (UV)(ctx->source ? ctx->source_len : view->input_len);
    return p;
}

void
ice_payloads_add(pTHX_ ice_payloads *p, U32 at)
{
    search_hook(aTHX_ & p->search, at);
}

bool
ice_payloads_has_any(const ice_payloads *p)
{
    return SvCUR(p->search.found) > 0;
}

void
ice_payloads_check(pTHX_ ice_payloads *p)
{
    const icecore_view *view = p->search.view;
    ice_context *ctx;
    size_t at;
    dMY_CXT;
    if (p->ctx->source && was_checked(aTHX_ MY_CXT.innermost, p->ctx->source, p->ctx->source_len, p->classes))
        return;
    ENTER;
    ctx = ice_checkout(aTHX);
    add_strings(aTHX_ p, &p->search, (const char *)view->input, view->input_len, ICECORE_NONE);
    /* The strings of a payload are appended to the list. */
    for (at = 0; at < payload_count(p) && !p->fault; at++) {
        const payload next = *payload_at(p, at);
        p->hook = next.hook;
        check_payload(aTHX_ p, ctx, next.bytes, next.len);
    }
    refuse(aTHX_ p);
    LEAVE;
    p->outer = MY_CXT.innermost;
    MY_CXT.innermost = p;
    SAVEDESTRUCTOR_X(forget, p);
}
