/* Declarations that the files of the walk share. Each file calls only those above it.
 *
 *   walk_tape.c     begins and ends the tape
 *   walk_frames.c   open containers, and their protection from perl code
 *   walk_classes.c  the id and the hook of each class
 *   walk_sorted.c   hashes in the order of their keys
 *   walk_fast.h     recursion for the most common data: a template
 *   walk_objects.c  hooks, ties, regexps
 *   walk_records.c  records: objects of classes that were not allowed
 *   walk_values.c   the value in a variable, and the target of a reference
 *   walk.c          the loop over the open containers
 *   leaf.h          the nodes of scalars
 *
 * The rules of a format are in a table to which the settings point. The walk itself
 * depends on no format.
 *
 * In names, `push` appends one node to the tape, `put` writes a value, which may take
 * several nodes or leave a frame for its contents, and `open` pushes a frame for the
 * contents of the node that was pushed last.
 *
 * Most functions that put a value have these parameters:
 *
 *   flags          the flags of the node
 *   key            the id of the node's key in a hash, 0 outside of hashes
 *   wrapper_count  the number of nodes right before the node that are wrappers around it,
 *                  such as an object around its body; they end together with it
 *   is_item        the value is an item of an array
 *   may_repeat     the value may be met again, whatever its reference count is */
#ifndef ICECORE_WALK_H
#define ICECORE_WALK_H
#include "core/icecore_perl.h"

/* Kinds of frames. */
enum {
    IW_ARRAY,
    IW_HASH,
    IW_LISTED, /* a hash, or the rest of one, that was copied to a list: keys and values, alternating */
    IW_TIED_HASH,
    IW_TIED,      /* a tied variable: the object of the tie, and the key of an element */
    IW_HOOK,      /* an object whose hook was called: the references that the hook returned */
    IW_COMPLETE   /* a node whose contents were pushed: only its end is missing */
};

typedef struct {
    ice_context *ctx;
    icecore_tape *tape;
    const ice_write_settings *settings;
    const iw_rules *rules;
    HV *last_stash; /* the stash of the last object, and its class; NULL after perl code ran */
    ice_class *last_class;
    bool is_list;               /* the tape begins with a list around the values, which is not a value itself */
    bool keeps_owner;           /* the owner of the settings is kept alive, because perl code may drop it */
    const icecore_stage *stage; /* the writer that gets parts of the tape; NULL if it gets none */
    U32 parts_written;          /* number of these parts */
} iw_walker;

/* Properties of a format. */
enum {
    IW_PERL_ORDER = 1 << 0,  /* hashes are written in the order of perl's own iterator */
    IW_KEY_FLAGS = 1 << 1,   /* perl's flags of keys are stored: locks, absent keys, UTF-8 */
    IW_TIES = 1 << 2,        /* the object of a tie is stored, instead of the values it returns */
    IW_NUL_NAMES = 1 << 3,   /* the name of a class ends at a NUL */
    IW_HINTS = 1 << 4,       /* a value with several references gets ICECORE_FLAG_HINT */
    IW_TREE = 1 << 5,        /* there are no links: a value that is met twice is put twice */
    IW_EXACT_DEPTH = 1 << 6, /* a limit may be as low as a few levels */
    IW_REFERENT = 1 << 7,    /* the root is the referent; the variable with the reference is not stored */
    IW_OVERLOAD = 1 << 8,    /* an object whose class is overloaded gets ICECORE_FLAG_OVERLOAD */
    IW_SOURCE = 1 << 9,      /* the output is source code: variables have no class, globs have a name */
    IW_BLESS_IS_NO_LEVEL = 1 << 10, /* a class around a container or a reference does not count as a level */
    IW_REF_IS_NO_LEVEL = 1 << 11,   /* nor does a reference to a scalar */
    IW_MARKS_REGEXPS = 1 << 12      /* regexps get ICECORE_FLAG_PERL, so that writers for other languages translate
                                     * them */
};

/* The rules of a format. Functions that may be NULL say so. */
struct iw_rules {
    U32 format_flags; /* the properties above */
    /* Puts any value. */
    void (*put)(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item, bool may_repeat);
    /* Puts the target of a reference, and returns true, if all of it is plain: walk_fast.h. */
    bool (*put_fast)(pTHX_ iw_walker *w, SV *rv, U16 key, int levels, bool is_root);
    /* Pushes a scalar that is not a reference. */
    void (*push_scalar)(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, bool is_item);
    /* Puts one of perl's immortal values. Returns false if the format has no form for it.
     * NULL if `put` is not iw_put. */
    bool (*put_immortal)(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item);
    /* Finds the hook of a class. NULL if no class has one. */
    void (*find_hook)(pTHX_ iw_walker *w, ice_class *class);
    /* Calls the hook of an object, and puts what it returns. Returns false if the hook
     * declined. NULL if no class has a hook. */
    bool (*put_hooked)(pTHX_ iw_walker *w, SV *sv, U32 class_index, U8 flags, U16 key, U32 wrapper_count);
    /* Puts a scalar with magic that the format has a form for. Returns false for other
     * scalars. NULL if the format has no such form. */
    bool (*put_magical)(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count);
    /* Is called for each reference before any other function. `refs` is the number of references
     * that were followed to it. Returns true if the reference was put. NULL if the format treats
     * no reference in a special way. */
    bool (*put_ref)(pTHX_ iw_walker *w, SV *rv, U16 key, U32 refs);
    /* Put code, and values of types that no other function puts. `rv` is the reference to
     * the value, or NULL. */
    void (*put_code)(pTHX_ iw_walker *w, SV *rv, SV *cv, U8 flags, U16 key, U32 wrapper_count);
    void (*put_unknown)(pTHX_ iw_walker *w, SV *rv, SV *sv, U8 flags, U16 key, U32 wrapper_count);
    void (*croak_too_deep)(pTHX_ const iw_walker *w);
    /* Returns true if the hook of a class is called for this object. It is called each
     * time that the object is met. NULL if the hook is always called. */
    bool (*is_hook_allowed)(pTHX_ iw_walker *w, U32 class_index, SV *sv);
};

/* The flag of a node to which a reference leads. */
#define IW_FLAG_REF ICECORE_FLAG_REF

/* walk_tape.c */
/* Begins an empty tape. */
void iw_begin(pTHX_ iw_walker *w);
/* Completes the tape, so that it can be written. */
void iw_finish(pTHX_ iw_walker *w);

/* walk_frames.c */
/* Protects all open containers, because perl code is about to run: see walk.c. */
void iw_protect_frames(pTHX_ iw_walker *w);
/* Calls the get magic of a value. */
void iw_get_magic(pTHX_ iw_walker *w, SV *sv);
ice_walk_frame *iw_push_frame(pTHX_ iw_walker *w, U8 kind, U32 node, U32 wrapper_count, SV *sv);
/* Returns the bucket_order of an ice_walk_frame for a hash. */
U32 iw_bucket_order(pTHX_ iw_walker *w, HV *hv);
void iw_open_array(pTHX_ iw_walker *w, U32 node, U32 wrapper_count, AV *av);

/* walk_classes.c */
ice_class *iw_class_of(pTHX_ iw_walker *w, HV *stash);
/* Returns true if the hook of its class is called for an object. */
bool iw_is_hooked(pTHX_ iw_walker *w, U32 class_index, SV *sv);
/* Returns the id of the class of this name. */
U32 iw_class_id(pTHX_ iw_walker *w, SV *name);

/* walk_sorted.c */
void iw_sort_entries(pTHX_ HE **entries, size_t count);
void iw_open_hash(pTHX_ iw_walker *w, U32 node, U32 wrapper_count, HV *hv);

/* walk_objects.c */
void iw_put_regexp(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count);
/* Puts what STORABLE_freeze returned for the object `sv`: a list of a string and of
 * references. */
void iw_put_hook_result(pTHX_ iw_walker *w, SV *sv, AV *list, U32 class_id, U8 flags, U16 key, U32 wrapper_count);
/* Dies, because croak_on_bless is set. */
void iw_croak_on_bless(pTHX);
/* Dies, because the format has no form for the value. */
void iw_croak_unsupported(pTHX_ iw_walker *w, SV *sv, U16 key, U32 wrapper_count);
ice_walk_frame *iw_push_tied(pTHX_ iw_walker *w, U8 form, SV *object, U8 flags, U16 key, U32 wrapper_count);
/* Puts a v-string. Returns false for all other scalars. */
bool iw_put_vstring(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count);
bool iw_put_magical(pTHX_ iw_walker *w, SV *sv, U8 flags, U16 key, U32 wrapper_count);
bool iw_put_immortal(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item);
SV *iw_next_hook_item(pTHX_ iw_walker *w);

/* walk_records.c */
/* What is known about the value that is put after the node of a record. */
typedef struct {
    bool is_body;  /* the value is the body of an object, so it has no reference of its own */
    bool has_hint; /* the value is such a body, and other values refer to the object, so it gets
                    * ICECORE_FLAG_HINT */
} iw_record_body;

bool iw_is_regexp_record(pTHX_ SV *sv);
SV *iw_put_record(pTHX_ iw_walker *w, SV *rv, U16 *key, U32 *wrapper_count, iw_record_body *body, bool may_repeat);

/* walk_values.c */
void iw_put(pTHX_ iw_walker *w, SV *sv, U16 key, bool is_item, bool may_repeat);

PERL_STATIC_INLINE bool
iw_format_has(const iw_walker *w, U32 property)
{
    return (w->rules->format_flags & property) != 0;
}

/* Returns true if the locks of a hash are stored. */
PERL_STATIC_INLINE bool
iw_is_restricted(const iw_walker *w, HV *hv)
{
    return iw_format_has(w, IW_KEY_FLAGS) && SvREADONLY((SV *)hv);
}

/* Functions of common/ice_tape.h for the tape of a walk. */
PERL_STATIC_INLINE U32
iw_push(pTHX_ iw_walker *w, U8 kind, U8 flags, U16 key, U32 aux, U64 payload)
{
    return ice_push(w->ctx->pooled.engine, w->tape, kind, flags, key, aux, payload);
}

PERL_STATIC_INLINE void
iw_push_string(pTHX_ iw_walker *w, U8 kind, U8 flags, U16 key, const char *text, STRLEN len)
{
    ice_push_string(w->ctx->pooled.engine, w->tape, kind, flags, key, text, len);
}

PERL_STATIC_INLINE void
iw_end_node(iw_walker *w, U32 node, U32 count, U32 wrapper_count)
{
    ice_end_node(w->tape, node, count, wrapper_count);
}

PERL_STATIC_INLINE void
iw_end_wrappers(iw_walker *w, U32 wrapper_count)
{
    ice_end_wrappers(w->tape, wrapper_count);
}

/* Pushes a link or an alias to the node `target`, which was pushed before. */
PERL_STATIC_INLINE void
iw_push_link(pTHX_ iw_walker *w, U8 kind, U8 flags, U16 key, U32 target, U32 wrapper_count)
{
    ice_push_link(w->ctx->pooled.engine, w->tape, kind, flags, key, target);
    iw_end_wrappers(w, wrapper_count);
}

/* Returns the magic of a tied array or hash; NULL if it is not tied. */
PERL_STATIC_INLINE MAGIC *
iw_tie_of(pTHX_ SV *sv)
{
    return SvRMAGICAL(sv) ? mg_find(sv, PERL_MAGIC_tied) : NULL;
}

#endif
