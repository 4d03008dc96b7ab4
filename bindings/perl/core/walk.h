/* Declarations that the files of the walk share. Each file calls only those above it.
 *
 *   walk_tape.c     begins and ends the tape
 *   walk_frames.c   open containers, and how they are protected from foreign code
 *   walk_classes.c  the facts about a class
 *   walk_sorted.c   hashes in the order of their keys
 *   walk_fast.h     tight recursion for the most common data: a template
 *   walk_objects.c  hooks, ties, regexps
 *   walk_records.c  records: objects of classes that were not allowed
 *   walk_values.c   the value in a variable, and the target of a reference
 *   walk.c          the loop over the open containers
 *   leaf.h          the node of a scalar
 *
 * The rules of a format are in a table to which the settings point. The walk itself
 * knows no format. */
#ifndef ICECORE_WALK_H
#define ICECORE_WALK_H
#include "core/icecore_perl.h"

/* Kinds of frames. */
enum {
    IW_ARRAY,
    IW_HASH,
    IW_LISTED,    /* the rest of a hash: keys and values, alternating */
    IW_TIED_HASH,
    IW_TIED,      /* a tied variable: its object, and the key of an element */
    IW_HOOK,
    IW_RECORD_END /* ends together with its contents */
};

typedef struct {
    ice_context *ctx;
    icecore_tape *t;
    const ice_write_settings *set;
    const iw_rules *rules;
    HV *last_stash;
    ice_class *last_class;
    bool is_list; /* the list around the values is not part of them */
    bool owned; /* foreign code may drop the encoder */
    const icecore_stage *stage; /* the encoder is held, because foreign code may drop it */
    U32 parts;                  /* number of parts already written */
} iw_walk;

/* Properties of a format. */
enum {
    IW_IN_ORDER = 1 << 0,    /* hashes are in the order of perl's own iterator */
    IW_KEY_FLAGS = 1 << 1,   /* perl's flags are stored: locks, absent keys, UTF-8 */
    IW_TIES = 1 << 2,        /* the object of a tie is stored, instead of the values it returns */
    IW_NUL_NAMES = 1 << 3,   /* the name of a class ends at a NUL */
    IW_HINTS = 1 << 4,       /* values with more than one reference have another form */
    IW_TREE = 1 << 5,        /* no identity: a value that is met twice is put twice */
    IW_EXACT_DEPTH = 1 << 6, /* a limit may be as low as a few levels */
    IW_REFERENT = 1 << 7,    /* the root is the referent, without its variable */
    IW_OVERLOAD = 1 << 8,    /* whether the class of an object is overloaded is stored */
    IW_SOURCE = 1 << 9       /* a program's text: variables have no class, globs have a name */
};

/* Rules of a format. `flags`, `key`: of the node. `wraps`: number of nodes before it
 * that end where it ends. */
struct iw_rules {
    U32 facts;
    /* Puts any value. */
    void (*put)(pTHX_ iw_walk *w, SV *sv, U16 key, bool item, bool remember);
    /* Puts the target of a reference, if all of it is plain: walk_fast.h. */
    bool (*put_fast)(pTHX_ iw_walk *w, SV *rv, U16 key, int levels, bool is_root);
    /* Puts a scalar that is not a reference. */
    void (*leaf)(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, bool item);
    /* Puts one of perl's immortal values. Returns false if the format has no form for
     * it. */
    bool (*put_immortal)(pTHX_ iw_walk *w, SV *sv, U16 key, bool item);
    /* Finds the hook of a class. NULL: no class has one. */
    void (*use_class)(pTHX_ iw_walk *w, ice_class *class);
    /* Puts what the hook of a class returns for an object. Returns false if the hook
     * declined. */
    bool (*put_hooked)(pTHX_ iw_walk *w, SV *sv, U32 class_index, U8 flags, U16 key, U32 wraps);
    /* Puts a scalar with magic of its own. Returns false if it has none. NULL: never. */
    bool (*put_magical)(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, U32 wraps);
    /* Looks at a reference first; `refs`: the number of references before it. Returns
     * whether it was put. NULL: never. */
    bool (*put_ref)(pTHX_ iw_walk *w, SV *rv, U16 key, U32 refs);
    /* Put code, and values that perl has no name for; `rv` may be NULL. */
    void (*put_code)(pTHX_ iw_walk *w, SV *rv, SV *cv, U8 flags, U16 key, U32 wraps);
    void (*put_unknown)(pTHX_ iw_walk *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wraps);
    void (*too_deep)(pTHX_ const iw_walk *w);
    /* Whether the hook of a class is called for an object; asked each time that the
     * object is met. NULL: the hook is always called. */
    bool (*ask_hook)(pTHX_ iw_walk *w, U32 class_index, SV *sv);
};

#define REFERENCE ICECORE_FLAG_REF

#define SLACK ICE_SLACK

/* walk_tape.c */
/* Begins an empty tape. */
void iw_begin(pTHX_ iw_walk *w);
void iw_finish(pTHX_ iw_walk *w);

/* walk_frames.c */
void iw_pin(pTHX_ iw_walk *w);
void iw_get_magic(pTHX_ iw_walk *w, SV *sv);
ice_walk_frame *iw_push_frame(pTHX_ iw_walk *w, U8 kind, U32 node, U32 wraps, SV *sv);
U32 iw_start_hash(pTHX_ iw_walk *w, HV *hv);
/* Opens the node that was just pushed: its contents come next. */
void iw_open_array(pTHX_ iw_walk *w, U32 at, U32 wraps, AV *av);

/* walk_classes.c */
ice_class *iw_class_of(pTHX_ iw_walk *w, HV *stash);
/* Whether the hook of its class is called for an object. */
bool iw_is_hooked(pTHX_ iw_walk *w, U32 class_index, SV *sv);
/* Returns the id of the class of this name. */
U32 iw_named_class(pTHX_ iw_walk *w, SV *name);

/* walk_sorted.c */
void iw_sort(pTHX_ HE **entries, size_t count);
void iw_open_hash(pTHX_ iw_walk *w, U32 at, U32 wraps, HV *hv);

/* walk_objects.c */
void iw_put_regexp(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, U32 wraps);
void iw_put_hook(pTHX_ iw_walk *w, SV *sv, AV *list, U32 class_id, U8 flags, U16 key, U32 wraps);
void iw_refuse_object(pTHX);
/* Dies, because the format has no form for the value. */
void iw_refuse(pTHX_ iw_walk *w, SV *sv, U16 key, U32 wraps);
ice_walk_frame *iw_push_tied(pTHX_ iw_walk *w, U8 form, SV *object, U8 flags, U16 key, U32 wraps);
bool iw_put_magical(pTHX_ iw_walk *w, SV *sv, U8 flags, U16 key, U32 wraps);
bool iw_put_immortal(pTHX_ iw_walk *w, SV *sv, U16 key, bool item);
SV *iw_hook_item(pTHX_ iw_walk *w);

/* walk_records.c */
/* Whether the next value is the body of an object, which is not reached through a
 * reference of its own, and whether something else refers to the object. */
typedef struct {
    bool is_body;
    bool hint;
} record_body;

bool iw_is_regexp_record(pTHX_ SV *sv);
SV *iw_put_record(pTHX_ iw_walk *w, SV *rv, U16 *key, U32 *wraps, record_body *inside, bool remember);

/* walk_values.c */
void iw_put(pTHX_ iw_walk *w, SV *sv, U16 key, bool item, bool remember);

PERL_STATIC_INLINE bool
has_fact(const iw_walk *w, U32 fact)
{
    return (w->rules->facts & fact) != 0;
}

/* Whether a hash is stored with the restrictions of its keys. */
PERL_STATIC_INLINE bool
is_restricted(const iw_walk *w, HV *hv)
{
    return has_fact(w, IW_KEY_FLAGS) && SvREADONLY((SV *)hv);
}

/* The tape of a walk: common/ice_tape.h. */
PERL_STATIC_INLINE U32
push(pTHX_ iw_walk *w, U8 kind, U8 flags, U16 key, U32 aux, U64 payload)
{
    return ice_push(w->ctx->warm.engine, w->t, kind, flags, key, aux, payload);
}

PERL_STATIC_INLINE void
push_string(pTHX_ iw_walk *w, U8 kind, U8 flags, U16 key, const char *text, STRLEN len)
{
    ice_push_string(w->ctx->warm.engine, w->t, kind, flags, key, text, len);
}

PERL_STATIC_INLINE void
end_node(iw_walk *w, U32 at, U32 count, U32 wraps)
{
    ice_end_node(w->t, at, count, wraps);
}

PERL_STATIC_INLINE void
end_wraps(iw_walk *w, U32 wraps)
{
    ice_end_wrappers(w->t, wraps);
}

/* Pushes a link or alias to node `to`, which was pushed before. */
PERL_STATIC_INLINE void
push_again(pTHX_ iw_walk *w, U8 kind, U8 flags, U16 key, U32 to, U32 wraps)
{
    ice_push_link(w->ctx->warm.engine, w->t, kind, flags, key, to);
    end_wraps(w, wraps);
}

PERL_STATIC_INLINE MAGIC *
tie_of(pTHX_ SV *sv)
{
    return SvRMAGICAL(sv) ? mg_find(sv, PERL_MAGIC_tied) : NULL;
}

#endif
