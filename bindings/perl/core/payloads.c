/* Checks frozen data in the payloads of hooks. payloads.h explains why. */
#include "core/payloads.h"

/* Payloads may contain payloads, so a small document could take very long. A budget limits the time:
 * BASE_BUDGET, plus BUDGET_PER_BYTE for each byte of the document. Each document that is read in a
 * payload costs a fixed amount, an amount for each node, its decompressed size, and the number of
 * bytes that are copied from it. Most strings are not copied, so the cost of nested payloads does
 * not grow with each level. */
enum { BASE_BUDGET = 256 << 20, BUDGET_PER_BYTE = 16, COST_PER_DOCUMENT = 256, COST_PER_NODE = 16 };

#define MY_CXT_KEY "Icecore::payloads" XS_VERSION
typedef struct {
    icecore_stage *storable, *sereal;
    ice_payload_checker *innermost; /* of the innermost call that has checked payloads; or NULL */
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

/* A string that begins like frozen data. */
typedef struct {
    U32 hook;    /* index of the node of the object whose hook receives the string */
    U32 node;    /* index of the node with the string */
    bool is_key; /* the string is the key of that node, not its value */
} found_string;

/* State of a search in a document; lives until perl leaves the scope. */
typedef struct {
    const icecore_view *view;
    SV *visited; /* a byte for each node: 1 if it was searched */
    SV *ranges;  /* ranges of nodes that are searched later: pairs of U32 */
    SV *found;   /* the strings that were found: an array of found_string */
} payload_search;

/* A string that begins like frozen data and is read as such. Its bytes live until the end of the
 * call. */
typedef struct {
    const char *bytes;
    STRLEN len;
    U32 hook; /* the node in the outermost document of the object whose hook receives the string, or a
               * payload that contains it */
} payload;

struct ice_payload_checker {
    ice_payload_checker *outer; /* that of the call around this one; or NULL */
    ice_context *ctx;
    const ice_read_settings *settings;
    SV *classes; /* the list that allowed the classes; or NULL */
    payload_search search;
    SV *payloads;        /* an array of payload */
    HV *by_lookup_key;   /* the index of a payload in that array, by its lookup_key */
    HV *checked_classes; /* names of the classes that were checked */
    UV budget;           /* what remains of the budget */
    U32 hook;            /* the hook of the payload that is being read */
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

/* Returns true if bytes begin like an image of Storable. A file begins with a magic number. In
 * memory the first byte is twice the major version, which is 0 to 2, plus 1 for network order. */
static bool
is_storable(const char *bytes, STRLEN len)
{
    return len >= 3 && ((U8)bytes[0] <= 5 || (len >= 6 && (memEQ(bytes, "pst0", 4) || memEQ(bytes, "perl-s", 6))));
}

/* Returns true if a string begins like an image of Storable or a document of Sereal. */
static bool
looks_frozen(const char *bytes, STRLEN len, bool is_text)
{
    return len >= 3 && (is_storable(bytes, len) || sereal_magic(bytes, len, is_text));
}

/* ---- the data of a hook ------------------------------------------------------ */

/* Returns the index of the node after a value. The result is at most the number of nodes, because
 * a document with an error was not read to its end, and its open containers have no end. */
static U32
node_end(const icecore_view *view, U32 index)
{
    const U32 end = ice_next(view, index);
    return end > index && end <= view->node_count ? end : (U32)view->node_count;
}

/* Begins a search. Its memory is freed when perl leaves the scope. */
static void
begin_search(pTHX_ payload_search *search, const icecore_view *view)
{
    search->view = view;
    search->visited = newSV(view->node_count + 1);
    SAVEFREESV(search->visited);
    Zero(SvPVX(search->visited), view->node_count + 1, char);
    search->ranges = newSVpvs("");
    SAVEFREESV(search->ranges);
    search->found = newSVpvs("");
    SAVEFREESV(search->found);
}

/* Adds the nodes from `index` up to `end` to the ranges that are searched later. */
static void
add_range(pTHX_ payload_search *search, U32 index, U32 end)
{
    const U32 range[2] = { index, end };
    sv_catpvn(search->ranges, (const char *)range, sizeof range);
}

static void
add_found(pTHX_ payload_search *search, U32 hook, U32 node, bool is_key)
{
    found_string found;
    Zero(&found, 1, found_string);
    found.hook = hook;
    found.node = node;
    found.is_key = is_key;
    sv_catpvn(search->found, (const char *)&found, sizeof found);
}

/* Returns the text of the key of a node; NULL if the key has no id. */
static const char *
key_text(const icecore_view *view, const icecore_node *node, STRLEN *len, bool *is_text)
{
    const char *text;
    const icecore_name *name =
        node->key && node->key < ICECORE_IS_KEY ? ice_name(&view->keys, node->key, &text) : NULL;
    if (!name)
        return NULL;
    *len = name->node.aux;
    *is_text = name->node.kind == ICECORE_TEXT;
    return text;
}

/* Adds the key and the string of a node if they begin like frozen data. Returns the target of a link,
 * an alias or a copy; ICECORE_NONE for any other node. */
static U32
search_node(pTHX_ payload_search *search, U32 hook, U32 index)
{
    const icecore_view *view = search->view;
    const icecore_node *node = &view->nodes[index];
    const char *text;
    STRLEN len;
    bool is_text;
    if (node->key && (text = key_text(view, node, &len, &is_text)) && looks_frozen(text, len, is_text))
        add_found(aTHX_ search, hook, index, TRUE);
    switch (node->kind) {
    case ICECORE_BYTES:
    case ICECORE_TEXT:
        text = ice_bytes_of(view, node, &len);
        if (looks_frozen(text, len, node->kind == ICECORE_TEXT))
            add_found(aTHX_ search, hook, index, FALSE);
        return ICECORE_NONE;
    case ICECORE_LINK:
    case ICECORE_ALIAS:
    case ICECORE_COPY:
        return node->payload < view->node_count ? (U32)node->payload : ICECORE_NONE;
    default:
        return ICECORE_NONE;
    }
}

/* Searches the nodes from `index` up to `end`. A node that was visited before was searched with all
 * that it contains, so the search continues after it. */
static void
search_range(pTHX_ payload_search *search, U32 hook, U32 index, U32 end)
{
    char *visited = SvPVX(search->visited);
    while (index < end) {
        U32 target;
        if (visited[index]) {
            index = node_end(search->view, index);
            continue;
        }
        visited[index] = 1;
        target = search_node(aTHX_ search, hook, index++);
        if (target != ICECORE_NONE && !visited[target])
            add_range(aTHX_ search, target, node_end(search->view, target));
    }
}

/* Searches for strings in the data of a hook: in the object, and in everything to which links in it
 * refer. Each node is visited once. A stack of ranges replaces a recursion, because links may be
 * nested to any depth. */
static void
search_hook(pTHX_ payload_search *search, U32 hook)
{
    search_range(aTHX_ search, hook, hook + 1, node_end(search->view, hook));
    while (SvCUR(search->ranges)) {
        U32 range[2];
        SvCUR_set(search->ranges, SvCUR(search->ranges) - sizeof range);
        Copy(SvPVX(search->ranges) + SvCUR(search->ranges), range, sizeof range, char);
        search_range(aTHX_ search, hook, range[0], range[1]);
    }
}

/* ---- classes ---------------------------------------------------------------- */

/* Registers why something can't be checked. Only the first reason is kept. */
static void
set_fault(pTHX_ ice_payload_checker *checker, const char *reason)
{
    if (!checker->fault)
        checker->fault = sv_2mortal(newSVpv(reason, 0));
}

/* Checks whether a class is allowed. Refused classes are collected. */
static void
check_class(pTHX_ ice_payload_checker *checker, const char *name, STRLEN len, bool is_utf8)
{
    const icecore_view *view = checker->search.view;
    const I32 flag = is_utf8 && ice_is_utf8((const U8 *)name, len) ? HVhek_UTF8 : 0;
    U32 verdict;
    char path[512] = "";
    if (hv_common(checker->checked_classes, NULL, name, len, flag, HV_FETCH_ISEXISTS, NULL, 0))
        return;
    (void)hv_common(checker->checked_classes, NULL, name, len, flag, HV_FETCH_ISSTORE | HV_FETCH_JUST_SV, newSViv(1),
                    0);
    verdict = ice_policy_verdict(aTHX_ checker->settings->classes, name, len, is_utf8);
    if (verdict == ICECORE_ALLOWED)
        return;
    if (checker->refused.count < ICE_MAX_LISTED_CLASSES)
        icecore_path(checker->ctx->pooled.engine, view->input, view->input_len, checker->hook, path, sizeof path);
    ice_policy_add_refused(aTHX_ & checker->refused, name, len, is_utf8, path);
}

/* Checks the object of a tied variable. If it is a string, perl would call the methods of the
 * class with that name. */
static void
check_tied_object(pTHX_ ice_payload_checker *checker, const icecore_view *view, U32 index)
{
    const icecore_node *node = &view->nodes[index];
    const char *text;
    STRLEN len;
    U32 steps;
    /* Links in a payload may form a cycle. A chain without a cycle has at most one step for each
     * node, so the steps are counted. */
    for (steps = 0; (node->kind == ICECORE_LINK || node->kind == ICECORE_ALIAS || node->kind == ICECORE_COPY)
                    && node->payload < view->node_count && steps < view->node_count;
         steps++)
        node = &view->nodes[node->payload];
    if (node->kind != ICECORE_BYTES && node->kind != ICECORE_TEXT)
        return;
    text = ice_bytes_of(view, node, &len);
    check_class(aTHX_ checker, text, len, node->kind == ICECORE_TEXT);
}

/* Returns true if $Eval allows to evaluate code. Without `eval` in the settings, this is the variable
 * of Icecore::Storable, because the hook may pass the payload to its functions. */
static bool
may_eval_code(pTHX_ const ice_payload_checker *checker)
{
    SV *eval = checker->settings->eval ? checker->settings->eval : get_sv("Icecore::Storable::Eval", 0);
    return eval && SvTRUE(eval);
}

/* Checks the class that a node names, and code. */
static void
check_node(pTHX_ ice_payload_checker *checker, const icecore_view *view, U32 index)
{
    const icecore_node *node = &view->nodes[index];
    const char *text;
    const icecore_name *name;
    switch (node->kind) {
    case ICECORE_OBJECT:
    case ICECORE_OPAQUE:
        if ((name = ice_name(&view->classes, ICE_CLASS_OF(node), &text)))
            check_class(aTHX_ checker, text, name->node.aux, name->node.kind == ICECORE_TEXT);
        return;
    case ICECORE_TIED:
        if (index + 1 < node_end(view, index))
            check_tied_object(aTHX_ checker, view, index + 1);
        return;
    case ICECORE_CODE:
        if (!may_eval_code(aTHX_ checker))
            set_fault(aTHX_ checker, "it has code as text, and $Icecore::Storable::Eval is not set");
        return;
    default:
        return;
    }
}

/* ---- reading ------------------------------------------------------------------ */

/* Returns the reader for a payload. The reader for Sereal decompresses at most one byte more than the
 * budget allows, so that spend_budget detects the excess. */
static const icecore_stage *
reader_for(pTHX_ ice_payload_checker *checker, bool is_sereal)
{
    dMY_CXT;
    icecore_stage **stage = is_sereal ? &MY_CXT.sereal : &MY_CXT.storable;
    if (!*stage)
        *stage = is_sereal ? icecore_stage_new(STR_WITH_LEN("sereal"), &checker->error)
                           : icecore_stage_new(STR_WITH_LEN("storable"), &checker->error);
    if (!*stage
        || (is_sereal
            && icecore_stage_limit(*stage, STR_WITH_LEN("decompressed"), checker->budget + 1, &checker->error)
                   != ICECORE_OK))
        ice_croak_error(aTHX_ & checker->error);
    return *stage;
}

/* Subtracts a cost from the budget. If the rest is too small, the payloads can't be checked. */
static void
spend_budget(pTHX_ ice_payload_checker *checker, UV cost)
{
    if (cost > checker->budget)
        set_fault(aTHX_ checker, "reading it costs too much");
    checker->budget -= cost > checker->budget ? checker->budget : cost;
}

/* ---- payloads ------------------------------------------------------------------ */

static payload *
payload_at(const ice_payload_checker *checker, size_t index)
{
    return (payload *)SvPVX(checker->payloads) + index;
}

static size_t
payload_count(const ice_payload_checker *checker)
{
    return SvCUR(checker->payloads) / sizeof(payload);
}

/* Returns a key under which a payload is found again: a mortal. It consists of the length and some
 * of the bytes, so different payloads rarely have the same key. */
static SV *
lookup_key(pTHX_ const char *bytes, STRLEN len)
{
    SV *key = sv_2mortal(newSVpvn((const char *)&len, sizeof len));
    sv_catpvn(key, bytes, len < 64 ? len : 64);
    if (len > 64)
        sv_catpvn(key, bytes + len - 16, 16);
    return key;
}

/* Adds a payload to the list of those that are read. */
static void
add_payload(pTHX_ ice_payload_checker *checker, const char *bytes, STRLEN len, U32 hook)
{
    const payload added = { bytes, len, hook };
    ENTER;
    SAVETMPS;
    (void)hv_store_ent(checker->by_lookup_key, lookup_key(aTHX_ bytes, len), newSVuv(payload_count(checker)), 0);
    FREETMPS;
    LEAVE;
    sv_catpvn(checker->payloads, (const char *)&added, sizeof added);
}

/* Returns true if a payload with these bytes was read. Of two payloads with the same lookup_key only
 * one is found; then the other is checked again. */
static bool
has_payload(pTHX_ const ice_payload_checker *checker, const char *bytes, STRLEN len)
{
    HE *entry = hv_fetch_ent(checker->by_lookup_key, lookup_key(aTHX_ bytes, len), 0, 0);
    const payload *found = entry ? payload_at(checker, SvUV(HeVAL(entry))) : NULL;
    return found && found->len == len && memEQ(found->bytes, bytes, len);
}

/* Adds a string that was found. The bytes at `stable` live until the end of the call; a string
 * that is not one of them is copied. */
static void
add_string(pTHX_ ice_payload_checker *checker, const payload_search *search, const found_string *found,
           const char *stable, STRLEN stable_len, U32 hook)
{
    const icecore_node *node = &search->view->nodes[found->node];
    STRLEN len;
    bool is_text = node->kind == ICECORE_TEXT;
    const char *bytes =
        found->is_key ? key_text(search->view, node, &len, &is_text) : ice_bytes_of(search->view, node, &len);
    const bool is_wide = is_text && !ice_is_ascii((const U8 *)bytes, len);
    SV *copy;
    if (is_wide && !ice_is_utf8((const U8 *)bytes, len))
        return;
    if (is_wide || bytes < stable || bytes >= stable + stable_len) {
        spend_budget(aTHX_ checker, len);
        if (checker->fault)
            return;
        ice_keep_for_call(aTHX_ checker->ctx, copy = newSVpvn_utf8(bytes, len, is_wide));
        /* Frozen data in characters has one byte in each character. */
        if (is_wide && !sv_utf8_downgrade(copy, TRUE))
            return;
        bytes = SvPV(copy, len);
    }
    add_payload(aTHX_ checker, bytes, len, hook);
}

/* Adds all strings that a search found. A string to which several nodes refer is added once. If
 * the search was in a payload, `hook` is the hook of the outermost document that receives it.
 * Otherwise `hook` is ICECORE_NONE. */
static void
add_strings(pTHX_ ice_payload_checker *checker, const payload_search *search, const char *stable, STRLEN stable_len,
            U32 hook)
{
    const found_string *found = (const found_string *)SvPVX(search->found);
    const size_t count = SvCUR(search->found) / sizeof *found;
    HV *added = newHV();
    size_t i;
    SAVEFREESV((SV *)added);
    for (i = 0; i < count && !checker->fault; i++) {
        const icecore_node *node = &search->view->nodes[found[i].node];
        /* The location and the length identify a string. For a key, its id takes the place of the
         * location. The highest bit marks such an id. It is also ICECORE_IN_ARENA, but the length of a
         * string that looks frozen is never 0. */
        const U64 location = found[i].is_key ? (U64)1 << 63 | node->key : node->payload;
        const U32 length = found[i].is_key ? 0 : node->aux;
        char identity[sizeof location + sizeof length];
        Copy(&location, identity, sizeof location, char);
        Copy(&length, identity + sizeof location, sizeof length, char);
        if (hv_exists(added, identity, sizeof identity))
            continue;
        (void)hv_store(added, identity, sizeof identity, newSV(0), 0);
        add_string(aTHX_ checker, search, &found[i], stable, stable_len, hook == ICECORE_NONE ? found[i].hook : hook);
    }
}

/* ---- documents ------------------------------------------------------------------ */

/* Checks the classes of a payload that was read, and adds the payloads in its hooks. */
static void
check_view(pTHX_ ice_payload_checker *checker, const icecore_view *view, const char *stable, STRLEN stable_len)
{
    payload_search inner;
    bool has_hook = FALSE;
    U32 index;
    for (index = 0; index < view->node_count; index++) {
        check_node(aTHX_ checker, view, index);
        has_hook |= view->nodes[index].kind == ICECORE_OPAQUE;
    }
    if (!has_hook)
        return;
    ENTER;
    begin_search(aTHX_ & inner, view);
    for (index = 0; index < view->node_count; index++)
        if (view->nodes[index].kind == ICECORE_OPAQUE)
            search_hook(aTHX_ & inner, index);
    add_strings(aTHX_ checker, &inner, stable, stable_len, checker->hook);
    LEAVE;
}

/* Reads one document. Returns its length; 0 if it has an error. The classes before the error are
 * checked too, because the original builds their objects before it fails. */
static STRLEN
check_document(pTHX_ ice_payload_checker *checker, ice_context *ctx, const char *bytes, STRLEN len)
{
    icecore_view *const view = &ctx->view;
    bool was_decompressed;
    U32 kind;
    Zero(view, 1, icecore_view);
    kind = icecore_read(ctx->pooled.engine, reader_for(aTHX_ checker, sereal_magic(bytes, len, FALSE) != 0),
                        (const U8 *)bytes, len, ICECORE_EACH | ICECORE_PARTIAL, view, &checker->error);
    /* The original may have no such limit, and read the document. So its classes are unknown. */
    if (kind == ICECORE_LIMIT)
        set_fault(aTHX_ checker, checker->error.message);
    was_decompressed = view->input != (const U8 *)bytes;
    spend_budget(aTHX_ checker,
                 COST_PER_DOCUMENT + COST_PER_NODE * (UV)view->node_count + (was_decompressed ? view->input_len : 0));
    if (!checker->fault)
        check_view(aTHX_ checker, view, bytes, was_decompressed ? 0 : len);
    return kind == ICECORE_OK ? view->consumed : 0;
}

/* Returns true if bytes after a document look like another one, which a hook may read: a document of
 * Sereal, or a file of Storable, which has a magic number. */
static bool
looks_like_another_document(const char *bytes, STRLEN len)
{
    return sereal_magic(bytes, len, FALSE) || (len >= 6 && memEQ(bytes, "pst0", 4));
}

/* Reads a payload, and the documents after the first one. */
static void
check_payload(pTHX_ ice_payload_checker *checker, ice_context *ctx, const char *bytes, STRLEN len)
{
    do {
        const STRLEN consumed = check_document(aTHX_ checker, ctx, bytes, len);
        if (consumed == 0 || consumed > len)
            return;
        bytes += consumed;
        len -= consumed;
    } while (!checker->fault && looks_like_another_document(bytes, len));
}

/* Dies if a class was refused, or if something can't be checked. */
static void
croak_if_refused(pTHX_ const ice_payload_checker *checker)
{
    const icecore_view *view = checker->search.view;
    char path[512];
    if (checker->refused.count)
        ice_policy_croak_refused(aTHX_ & checker->refused);
    if (!checker->fault)
        return;
    icecore_path(checker->ctx->pooled.engine, view->input, view->input_len, checker->hook, path, sizeof path);
    croak("Icecore: the hook at %s is given frozen data that can't be checked: %" SVf, path, SVfARG(checker->fault));
}

/* ---- nested calls ------------------------------------------------------------------ */

/* Runs when perl leaves the scope of a call that has checked payloads: the call around it is the
 * innermost one again. */
static void
end_nested(pTHX_ void *data)
{
    dMY_CXT;
    MY_CXT.innermost = ((ice_payload_checker *)data)->outer;
}

/* Returns true if two lists of classes are equal. Lists with items that are not plain strings count
 * as different. */
static bool
are_equal_lists(pTHX_ SV *one, SV *other)
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

/* Returns true if a hook is thawing a payload that was checked with the document of the hook, against
 * the same list. Then it needs no second check. */
static bool
was_checked(pTHX_ const ice_payload_checker *outer, const char *bytes, STRLEN len, SV *classes)
{
    for (; outer; outer = outer->outer)
        if (are_equal_lists(aTHX_ outer->classes, classes) && has_payload(aTHX_ outer, bytes, len))
            return TRUE;
    return FALSE;
}

/* ---- interface ---------------------------------------------------------------------- */

ice_payload_checker *
ice_payloads_begin(pTHX_ ice_context *ctx, const icecore_view *view, const ice_read_settings *settings)
{
    SV *memory = newSV(sizeof(ice_payload_checker));
    ice_payload_checker *checker = (ice_payload_checker *)SvPVX(memory);
    Zero(checker, 1, ice_payload_checker);
    ice_keep_for_call(aTHX_ ctx, memory);
    checker->ctx = ctx;
    checker->settings = settings;
    checker->classes = settings->classes;
    begin_search(aTHX_ & checker->search, view);
    ice_keep_for_call(aTHX_ ctx, checker->payloads = newSVpvs(""));
    ice_keep_for_call(aTHX_ ctx, (SV *)(checker->by_lookup_key = newHV()));
    ice_keep_for_call(aTHX_ ctx, (SV *)(checker->checked_classes = newHV()));
    checker->budget = BASE_BUDGET + BUDGET_PER_BYTE * (UV)(ctx->document ? ctx->document_len : view->input_len);
    return checker;
}

void
ice_payloads_add(pTHX_ ice_payload_checker *checker, U32 index)
{
    search_hook(aTHX_ & checker->search, index);
}

bool
ice_payloads_has_any(const ice_payload_checker *checker)
{
    return SvCUR(checker->search.found) > 0;
}

void
ice_payloads_check(pTHX_ ice_payload_checker *checker)
{
    const icecore_view *view = checker->search.view;
    ice_context *ctx;
    size_t index;
    dMY_CXT;
    if (checker->ctx->document
        && was_checked(aTHX_ MY_CXT.innermost, checker->ctx->document, checker->ctx->document_len, checker->classes))
        return;
    ENTER;
    ctx = ice_take_context(aTHX);
    add_strings(aTHX_ checker, &checker->search, (const char *)view->input, view->input_len, ICECORE_NONE);
    /* check_payload appends the payloads in a payload to the list. */
    for (index = 0; index < payload_count(checker) && !checker->fault; index++) {
        const payload current = *payload_at(checker, index);
        checker->hook = current.hook;
        check_payload(aTHX_ checker, ctx, current.bytes, current.len);
    }
    croak_if_refused(aTHX_ checker);
    LEAVE;
    /* From here on the scope is that of the caller. The destructor runs when that scope ends, so
     * the checker is registered while the hooks of the document run. */
    checker->outer = MY_CXT.innermost;
    MY_CXT.innermost = checker;
    SAVEDESTRUCTOR_X(end_nested, checker);
}
