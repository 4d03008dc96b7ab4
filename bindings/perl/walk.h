/* What the files of the walk share.
 *
 *   walk.c          the loop over what is open
 *   walk_values.c   what a variable holds, and what a reference leads to
 *   walk_plain.c    tight recursion for what most data is made of
 *   walk_objects.c  hooks, ties, regexps, code, records
 *   walk_json.c     what JSON makes of references and objects
 *   walk_dumper.c   what Data::Dumper sees beside
 *   walk_sorted.c   hashes by their keys
 *   leaf.h          which node a scalar becomes
 */
#ifndef ICECORE_WALK_H
#define ICECORE_WALK_H
#include "icecore_perl.h"

/* Kinds of frames. */
enum {
    ARRAY,
    HASH,
    LISTED,    /* what is left of a hash: keys and values in turn */
    TIED_HASH,
    TIED,      /* a tied variable: its object, and the key of an element */
    HOOK,
    RECORD_END /* ends together with what is in it */
};

typedef struct {
    ice_context *ctx;
    icecore_tape *t;
    const ice_write_settings *set;
    HV *last_stash;
    ice_class *last_class;
    bool storable;
    bool sereal;
    bool json;
    bool dumper;
    bool sorted; /* JSON, Data::Dumper: keys in their order */
    bool is_list; /* the values are in a list that is no part of them */
    bool owned; /* foreign code may drop the encoder */
    const icecore_stage *stage; /* what parts are written with; NULL: it is filled as a whole */
    U32 parts;                  /* how many were */
} walk;

#define REFERENCE ICECORE_IS_REF

/* So that writers can copy short strings as blocks. */
#define SLACK 32

void iw_more_nodes(pTHX_ walk *w);
void iw_more_arena(pTHX_ walk *w, STRLEN len);
void iw_push_long_string(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U64 offset, STRLEN len);
void iw_begin(pTHX_ walk *w);
void iw_finish(pTHX_ walk *w);
void iw_pin(pTHX_ walk *w);
void iw_get_magic(pTHX_ walk *w, SV *sv);
SV *iw_key_sv(pTHX_ HE *he);
void iw_too_deep(pTHX_ walk *w);
ice_class *iw_class_of(pTHX_ walk *w, HV *stash);
ice_walk_frame *iw_push_frame(pTHX_ walk *w, U8 kind, U32 node, U32 wraps, SV *sv);
ice_walk_frame *iw_push_tied(pTHX_ walk *w, U8 form, SV *object, U8 flags, U16 key, U32 wraps);
void iw_put(pTHX_ walk *w, SV *sv, U16 key, bool item, bool remember);
U32 iw_start_hash(pTHX_ walk *w, HV *hv);

/* walk_plain.c */
bool iw_put_plain(pTHX_ walk *w, SV *rv, U16 key, int levels, bool is_root);

/* walk_json.c */
HV *ij_boolean_stash(const ice_json *json);
bool ij_is_sorted(const ice_json *json);
void ij_put(pTHX_ walk *w, SV *sv, U16 key);

/* walk_sorted.c */
void iw_sort(pTHX_ HE **entries, size_t count);
void iw_list_sorted(pTHX_ walk *w, ice_walk_frame *frame);

/* walk_dumper.c */
void iw_freeze_first(pTHX_ walk *w, SV *rv);
bool iw_put_address(pTHX_ walk *w, SV *rv, U16 key, U32 refs);
bool iw_put_dumped(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps);

/* walk_objects.c */
/* Whether what comes next is the body of an object: it is not reached through a
 * reference of its own. And whether something else refers to the object. */
typedef struct {
    bool is_body;
    bool hint;
} record_body;

void iw_put_unknown(pTHX_ walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps);
void iw_put_code(pTHX_ walk *w, SV *rv, SV *cv, U8 flags, U16 key, U32 wraps);
void iw_put_regexp(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps);
AV *iw_call_freeze(pTHX_ walk *w, SV *sv, U32 class_index);
void iw_put_hook(pTHX_ walk *w, SV *sv, AV *list, U32 class_id, U8 flags, U16 key, U32 wraps);
void iw_put_frozen(pTHX_ walk *w, SV *sv, const ice_class *class, U8 flags, U16 key, U32 wraps);
void iw_refuse_object(pTHX);
bool iw_put_magical(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps);
bool iw_is_regexp_record(pTHX_ SV *sv);
SV *iw_put_record(pTHX_ walk *w, SV *rv, U16 *key, U32 *wraps, record_body *inside, bool remember);
void iw_walk_hook(pTHX_ walk *w);

PERL_STATIC_INLINE U32
push(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U32 aux, U64 payload)
{
    icecore_node *node;
    if (UNLIKELY(w->t->node_count == w->t->node_capacity))
        iw_more_nodes(aTHX_ w);
    node = &w->t->nodes[w->t->node_count];
    node->kind = kind;
    node->flags = flags;
    node->key = key;
    node->aux = aux;
    node->payload = payload;
    return (U32)w->t->node_count++;
}

PERL_STATIC_INLINE void
push_string(pTHX_ walk *w, U8 kind, U8 flags, U16 key, const char *text, STRLEN len)
{
    U64 offset;
    if (UNLIKELY(w->t->arena_capacity - w->t->arena_len < len + SLACK))
        iw_more_arena(aTHX_ w, len + SLACK);
    offset = w->t->arena_len;
    ice_copy((char *)w->t->arena + offset, text, len);
    w->t->arena_len += len;
    if (UNLIKELY(len >= ICECORE_LONG))
        iw_push_long_string(aTHX_ w, kind, flags, key, offset, len);
    else
        push(aTHX_ w, kind, flags, key, (U32)len, offset | ICECORE_IN_ARENA);
}

/* Ends the node at `at`, and those before it that wrap it. */
PERL_STATIC_INLINE void
end_node(walk *w, U32 at, U32 count, U32 wraps)
{
    U64 end = w->t->node_count;
    icecore_node *node = &w->t->nodes[at];
    node->aux = count;
    node->payload = (node->payload & ~UINT64_C(0xFFFFFFFF)) | end;
    while (wraps--) {
        node--;
        node->aux = 1;
        node->payload = (node->payload & ~UINT64_C(0xFFFFFFFF)) | end;
    }
}

/* Ends wrappers around a leaf that was pushed last. */
PERL_STATIC_INLINE void
end_wraps(walk *w, U32 wraps)
{
    U32 end = (U32)w->t->node_count;
    if (wraps)
        end_node(w, end - 2, 1, wraps - 1);
}

/* What was pushed as node `to`, again. */
PERL_STATIC_INLINE void
push_again(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U32 to, U32 wraps)
{
    w->t->nodes[to].flags |= ICECORE_IS_TARGET;
    push(aTHX_ w, kind, flags, key, 0, to);
    end_wraps(w, wraps);
}

PERL_STATIC_INLINE MAGIC *
tie_of(pTHX_ SV *sv)
{
    return SvRMAGICAL(sv) ? mg_find(sv, PERL_MAGIC_tied) : NULL;
}

#endif
