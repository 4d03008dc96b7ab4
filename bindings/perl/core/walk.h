/* What the files of the walk share; each calls those above it.
 *
 *   walk_tape.c     the tape from its begin to its end
 *   walk_frames.c   what is open, and how it is made safe from foreign code
 *   walk_classes.c  what is known of a class
 *   walk_sorted.c   hashes by their keys
 *   walk_fast.h    tight recursion for what most data is made of: a template
 *   walk_objects.c  hooks, ties, regexps
 *   walk_records.c  objects of classes that were not allowed
 *   walk_values.c   what a variable holds, and what a reference leads to
 *   walk.c          the loop over what is open
 *   leaf.h          which node a scalar becomes
 *
 * What a format does in its own way is in a table that the settings name: the walk
 * itself knows no format. */
#ifndef ICECORE_WALK_H
#define ICECORE_WALK_H
#include "core/icecore_perl.h"

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
    const iw_rules *rules;
    HV *last_stash;
    ice_class *last_class;
    bool is_list; /* the values are in a list that is no part of them */
    bool owned; /* foreign code may drop the encoder */
    const icecore_stage *stage; /* what parts are written with; NULL: it is filled as a whole */
    U32 parts;                  /* how many were */
} walk;

/* Facts of a format. */
enum {
    IW_IN_ORDER = 1 << 0,    /* hashes go as perl's own iterator does */
    IW_KEY_FLAGS = 1 << 1,   /* what perl notes of hashes and keys: locks, absent ones, UTF-8 */
    IW_TIES = 1 << 2,        /* what ties a variable, in the place of what it gives */
    IW_NUL_NAMES = 1 << 3,   /* the name of a class goes up to a NUL */
    IW_HINTS = 1 << 4,       /* what may be referred to again has another form */
    IW_TREE = 1 << 5,        /* nothing is the same again: what comes twice is put twice */
    IW_EXACT_DEPTH = 1 << 6, /* a limit may be as low as a few levels */
    IW_REFERENT = 1 << 7,    /* the root is what the reference refers to, without its variable */
    IW_OVERLOAD = 1 << 8,    /* whether the class of an object is overloaded */
    IW_SOURCE = 1 << 9       /* a program's text: variables have no class, globs have a name */
};

/* What a format has of its own. `flags`, `key`: of the node. `wraps`: how many nodes
 * before it end where it ends. */
struct iw_rules {
    U32 facts;
    /* Any value. */
    void (*put)(pTHX_ walk *w, SV *sv, U16 key, bool item, bool remember);
    /* What a reference leads to, if all of it is plain: walk_fast.h. */
    bool (*put_fast)(pTHX_ walk *w, SV *rv, U16 key, int levels, bool is_root);
    /* A scalar that is no reference. */
    void (*leaf)(pTHX_ walk *w, SV *sv, U8 flags, U16 key, bool item);
    /* A value that perl has but one of. Says no, if the format has no word for it. */
    bool (*put_immortal)(pTHX_ walk *w, SV *sv, U16 key, bool item);
    /* Finds the hook of a class. NULL: there are none. */
    void (*use_class)(pTHX_ walk *w, ice_class *class);
    /* What the hook of a class makes of an object. Says no, if it declined. */
    bool (*put_hooked)(pTHX_ walk *w, SV *sv, U32 class_index, U8 flags, U16 key, U32 wraps);
    /* A scalar with magic of its own. Says no, if there is none. NULL: never. */
    bool (*put_magical)(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps);
    /* Looks at a reference first, behind so many others. Says whether it was put. NULL: never. */
    bool (*put_ref)(pTHX_ walk *w, SV *rv, U16 key, U32 refs);
    /* Code, and what perl has no name for; `rv` may be NULL. */
    void (*put_code)(pTHX_ walk *w, SV *rv, SV *cv, U8 flags, U16 key, U32 wraps);
    void (*put_unknown)(pTHX_ walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps);
    void (*too_deep)(pTHX_ const walk *w);
    /* Whether the hook of a class is called for an object. It is asked each time that the
     * object is met. NULL: the hook is always called. */
    bool (*ask_hook)(pTHX_ walk *w, U32 class_index, SV *sv);
};

#define REFERENCE ICECORE_FLAG_REF

#define SLACK ICE_SLACK

/* walk_tape.c */
/* Begins an empty tape. */
void iw_begin(pTHX_ walk *w);
void iw_finish(pTHX_ walk *w);

/* walk_frames.c */
void iw_pin(pTHX_ walk *w);
void iw_get_magic(pTHX_ walk *w, SV *sv);
ice_walk_frame *iw_push_frame(pTHX_ walk *w, U8 kind, U32 node, U32 wraps, SV *sv);
U32 iw_start_hash(pTHX_ walk *w, HV *hv);
/* Opens what is at the node that was just pushed: what is in it comes next. */
void iw_open_array(pTHX_ walk *w, U32 at, U32 wraps, AV *av);

/* walk_classes.c */
ice_class *iw_class_of(pTHX_ walk *w, HV *stash);
/* Whether the hook of its class is called for an object. */
bool iw_is_hooked(pTHX_ walk *w, U32 class_index, SV *sv);
/* The class of this name, as its id. */
U32 iw_named_class(pTHX_ walk *w, SV *name);

/* walk_sorted.c */
void iw_sort(pTHX_ HE **entries, size_t count);
void iw_open_hash(pTHX_ walk *w, U32 at, U32 wraps, HV *hv);

/* walk_objects.c */
void iw_put_regexp(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps);
void iw_put_hook(pTHX_ walk *w, SV *sv, AV *list, U32 class_id, U8 flags, U16 key, U32 wraps);
void iw_refuse_object(pTHX);
/* Dies, as something has no word in the format. */
void iw_refuse(pTHX_ walk *w, SV *sv, U16 key, U32 wraps);
ice_walk_frame *iw_push_tied(pTHX_ walk *w, U8 form, SV *object, U8 flags, U16 key, U32 wraps);
bool iw_put_magical(pTHX_ walk *w, SV *sv, U8 flags, U16 key, U32 wraps);
bool iw_put_immortal(pTHX_ walk *w, SV *sv, U16 key, bool item);
SV *iw_hook_item(pTHX_ walk *w);

/* walk_records.c */
/* Whether what comes next is the body of an object: it is not reached through a
 * reference of its own. And whether something else refers to the object. */
typedef struct {
    bool is_body;
    bool hint;
} record_body;

bool iw_is_regexp_record(pTHX_ SV *sv);
SV *iw_put_record(pTHX_ walk *w, SV *rv, U16 *key, U32 *wraps, record_body *inside, bool remember);

/* walk_values.c */
void iw_put(pTHX_ walk *w, SV *sv, U16 key, bool item, bool remember);

PERL_STATIC_INLINE bool
has_fact(const walk *w, U32 fact)
{
    return (w->rules->facts & fact) != 0;
}

/* Whether a hash is stored with what its keys allow. */
PERL_STATIC_INLINE bool
is_restricted(const walk *w, HV *hv)
{
    return has_fact(w, IW_KEY_FLAGS) && SvREADONLY((SV *)hv);
}

/* The tape of a walk: common/ice_tape.h. */
PERL_STATIC_INLINE U32
push(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U32 aux, U64 payload)
{
    return ice_push(w->ctx->warm.engine, w->t, kind, flags, key, aux, payload);
}

PERL_STATIC_INLINE void
push_string(pTHX_ walk *w, U8 kind, U8 flags, U16 key, const char *text, STRLEN len)
{
    ice_push_string(w->ctx->warm.engine, w->t, kind, flags, key, text, len);
}

PERL_STATIC_INLINE void
end_node(walk *w, U32 at, U32 count, U32 wraps)
{
    ice_end_node(w->t, at, count, wraps);
}

PERL_STATIC_INLINE void
end_wraps(walk *w, U32 wraps)
{
    ice_end_wraps(w->t, wraps);
}

/* What was pushed as node `to`, again. */
PERL_STATIC_INLINE void
push_again(pTHX_ walk *w, U8 kind, U8 flags, U16 key, U32 to, U32 wraps)
{
    ice_push_again(w->ctx->warm.engine, w->t, kind, flags, key, to);
    end_wraps(w, wraps);
}

PERL_STATIC_INLINE MAGIC *
tie_of(pTHX_ SV *sv)
{
    return SvRMAGICAL(sv) ? mg_find(sv, PERL_MAGIC_tied) : NULL;
}

#endif
