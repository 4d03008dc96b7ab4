/* Declarations that all files of the module share.
 *
 *   common/     pieces that the modules of all languages share: ../common
 *   core/       code that knows no format: contexts, keys, the walk, the build
 *   storable/, sereal/, json/, dumper/, pack/
 *               code of one format: settings, rules of its walk, calls
 *   any/        documents of any format, and operators that replace calls
 *   Icecore.xs  the functions that perl sees
 *
 * A file calls only files below it in this list; scripts/modules.sh checks it. In core/:
 *
 *   host.c         what the common pieces need from perl
 *   context.c      warm contexts: memory and caches that live from call to call
 *   keys.c         hash keys: perl's shared keys to ids of the engine, and back
 *   hooks.c        calls of a class's own freeze and thaw methods
 *   policy.c       which classes may be built
 *   class_lists.c  the allow lists of Sereal's options
 *   payloads.c     frozen data in the payloads of hooks
 *   walk*          perl values to the engine's tape: walk.h
 *   build*         the engine's tape to perl values: build.h
 *   documents.c    one document, read or written by a stage
 */
#ifndef ICECORE_PERL_H
#define ICECORE_PERL_H

#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"
#include "common/ice_keys.h"
#include "common/ice_map.h"
#include "common/ice_message.h"
#include "common/ice_pool.h"
#include "common/ice_tape.h"
#include "common/ice_view.h"
#include "icecore.h"

#ifndef PERL_VERSION_GE
#  define PERL_VERSION_GE(r, v, s) \
    (PERL_REVISION > (r) || (PERL_REVISION == (r) && (PERL_VERSION > (v) || (PERL_VERSION == (v) && PERL_SUBVERSION >= (s)))))
#endif
#ifndef HvHasAUX
#  define HvHasAUX(hv) SvOOK(hv)
#endif
#ifndef G_LIST
#  define G_LIST G_ARRAY
#endif
#ifndef SvIsBOOL
#  define SvIsBOOL(sv) 0
#endif
/* Objects of `class`. */
#if PERL_VERSION_GE(5, 38, 0)
#  define ICE_HAS_CLASS 1
#else
#  define ICE_HAS_CLASS 0
#endif

/* perl takes a length of 0 for the length up to a NUL. */
#define ice_is_utf8(text, len) ((len) == 0 || is_utf8_string(text, len))
#define ice_is_ascii(text, len) ((len) == 0 || is_utf8_invariant_string(text, len))

/* ---- contexts ---------------------------------------------------------- */

typedef struct ice_context ice_context;

/* A container that is being walked; walk.h has the kinds. `pinned`: foreign code can
 * change or free the open containers, and this one is protected from that. */
typedef struct {
    U8 kind;
    bool pinned;
    bool restricted; /* a hash whose keys are locked */
    bool flagged;    /* a hash that has flags for its keys */
    bool by_index;   /* a tied element of an array; `at` is its index */
    bool is_tied;    /* an array whose items are fetched */
    U32 wraps;       /* number of nodes before `node` that end where it ends */
    U32 node;
    U32 order;       /* of a hash: perl's order of its buckets */
    SV *sv;
    SV *other;       /* of a hook: the object; of a tied element: its key; of a sorted hash: the hash */
    HE *he;
    SSize_t at;
    SSize_t count;
} ice_walk_frame;

/* A container that is being built; build.h has the kinds. */
typedef struct {
    U8 kind;
    bool pinned;
    U32 node;
    U32 end;  /* the node after it */
    U32 key;  /* the node of the next key */
    SV *sv;
    AV *list; /* the parts of an object, until they are complete */
    SV *variable; /* of a hash that is filtered: the reference to it */
    SSize_t at;
} ice_build_frame;

typedef union {
    ice_walk_frame walk;
    ice_build_frame build;
} ice_frame;

/* A node of the tape that other nodes refer to. */
typedef struct {
    U32 node;
    SV *variable; /* the target of an alias */
    SV *referent; /* the target of a link */
} ice_target;

/* An object that FREEZE of its class froze; kept until everything is built. */
typedef struct {
    U32 node;
    U32 links; /* number of the last link to it; 0: there are no links */
    SV *variable;
} ice_frozen;

/* A reference to a frozen object; THAW changes it too. */
typedef struct {
    SV *variable;
    U32 next; /* number of another link to the same object; 0: this is the first */
} ice_frozen_link;

typedef struct {
    HV *stash;
    U32 id;
    bool has_amagic;
    bool hook_used;
    bool hook_ignored;
    bool is_record;
    CV *hook;
} ice_class;

struct ice_context {
    ice_pooled_context warm; /* the engine's context, and the next in the pool */
    ice_keys keys; /* shared keys by id, held by SVs; their address is that of the HEK */
    ice_frame *frames;
    U32 depth;
    U32 room;
    ice_map seen;
    ice_map stashes;
    ice_class *classes;
    U32 class_count;
    U32 class_room;
    ice_target *targets;
    U32 target_count;
    U32 target_room;
    SV **weak;
    U32 weak_count;
    U32 weak_room;
    ice_frozen *frozen;
    U32 frozen_count;
    U32 frozen_room;
    ice_frozen_link *links;
    U32 link_count;
    U32 link_room;
    SV *denied;       /* the nodes that FREEZE wrote and a list denies: sorted U32s; or NULL */
    bool has_opaque;  /* some objects were frozen by their classes */
    bool is_checked;  /* the classes of the body were checked together with those of the header */
    SV *root;   /* what is being built */
    icecore_view view; /* the document; not on the native stack, because hooks can nest */
    const char *source; /* the document as the caller gave it; or NULL */
    STRLEN source_len;
    bool is_plain;      /* it was not compressed */
    bool has_input; /* the input was copied, because foreign code can change the caller's */
    AV *keep;   /* what must live as long as the call */
    U8 *verdicts;
    U32 verdict_room;
};

/* Takes a context out of the pool for the current call. The context returns to the pool
 * when perl leaves the scope, even after an error. */
ice_context *ice_checkout(pTHX);
void ice_contexts_free(pTHX);
void ice_keep(pTHX_ ice_context *ctx, SV *sv);
ice_frame *ice_push_frame(pTHX_ ice_context *ctx);
/* Releases the objects that were waiting for THAW. */
void ice_forget_frozen(pTHX_ ice_context *ctx);

void ice_keys_renew(pTHX_ ice_context *ctx, U32 generation);
void ice_keys_drop(pTHX_ ice_context *ctx);
SV *ice_key_sv(pTHX_ ice_context *ctx, const icecore_view *view, U16 id);
U16 ice_new_key_id(pTHX_ ice_context *ctx, HE *he, bool key_flags);

/* Forgets all ids if the engine has forgotten them. */
PERL_STATIC_INLINE void
ice_keys_of(pTHX_ ice_context *ctx, U32 generation)
{
    if (UNLIKELY(ctx->keys.generation != generation))
        ice_keys_renew(aTHX_ ctx, generation);
}

/* Returns the id of the key of an entry; 0: the key needs a node. `key_flags`: perl's
 * flags of keys are stored. */
PERL_STATIC_INLINE U16
ice_key_id(pTHX_ ice_context *ctx, HE *he, bool key_flags)
{
    const HEK *hek = HeKEY_hek(he);
    U16 id;
    return LIKELY(ice_keys_find_by_address(&ctx->keys, hek, &id)) ? id : ice_new_key_id(aTHX_ ctx, he, key_flags);
}

U16 ice_key_id_sv(pTHX_ ice_context *ctx, const char *key, STRLEN len, bool is_utf8);

/* ---- settings ---------------------------------------------------------- */

/* The rules of a format for walking values: walk.h. */
typedef struct iw_rules iw_rules;

typedef struct ice_json ice_json;

typedef struct {
    const iw_rules *rules;
    bool cloning;         /* Storable: dclone */
    bool deparse;         /* Storable: code as text */
    bool forgive;         /* Storable: values that can't be stored become strings */
    bool freeze_callbacks; /* Sereal */
    bool croak_on_bless;
    bool no_bless;
    bool undef_unknown;
    bool stringify_unknown;
    U8 warn_unknown;      /* 0, 1; 2: not for overloaded objects */
    U8 protocol;
    UV max_depth;         /* 0: no limit of its own */
    SV *freeze_allow;     /* Sereal: freeze_allow_classes, see class_lists.h; or NULL */
    bool freezes_allowed_only; /* Sereal: objects that the list denies are ordinary objects */
    SV *owner;            /* the encoder that owns these settings; or NULL */
    const ice_json *json; /* JSON: json.h */
    bool sorted;          /* hashes are written in the order of their keys */
    SV *sort_code;        /* code that lists the keys of a hash; or NULL */
    const char *freezer;  /* a method that is called before an object is walked */
    bool *met_glob;       /* set if a glob is met; or NULL */
    bool warns_of_code;
} ice_write_settings;

/* Filters for complete hashes. `is_filtered`: whether a hash with this number of entries
 * is filtered. `filter`: filters it; `variable` refers to it. */
typedef struct {
    bool (*is_filtered)(pTHX_ const ice_json *json, HV *hv, U32 entries);
    void (*filter)(pTHX_ const ice_json *json, HV *hv, SV *variable);
} ice_filters;

typedef struct {
    bool cloning;
    bool bless_ok;
    bool tie_ok;
    bool no_thaw;         /* Sereal: no_thaw_objects */
    const char *args_class; /* the class of the arguments of THAW, if THAW is not called; or NULL */
    bool as_marked;       /* strings are text if they are marked as text, without a check */
    const char *bad_text; /* error for text that is not UTF-8; NULL: the default */
    bool undef_own;       /* Sereal: use_undef */
    bool readonly;        /* Sereal: set_readonly */
    bool readonly_scalars;
    IV alias_under;       /* Sereal: alias_smallint, alias_varint_under; 0: off */
    bool is_foreign;      /* another language froze it */
    AV *aliases;          /* the integers from -16 up to there */
    SV *into;             /* the variable that becomes the root; or NULL */
    SV *owner;            /* the decoder that owns these settings; or NULL */
    SV *eval;             /* Storable: $Eval */
    bool forgive;         /* Storable: $forgive_me, for code */
    int downgrade_restricted;
    SV *classes;          /* the option `classes`, or NULL */
    UV max_depth, max_string, max_uncompressed; /* of any format; 0: the default */
    SV *thaw_allow;       /* Sereal: thaw_allow_classes, see class_lists.h; or NULL */
    bool thaw_raw;        /* Sereal: denied objects become the arguments of THAW */
    bool thaws_last;      /* Sereal: THAW is called when everything is built, last object first */
    SV *original;         /* dclone: the SV that is copied, for the path in errors */
    SV *no, *yes;         /* the values of booleans; or NULL */
    const ice_json *json; /* JSON: json.h */
    const ice_filters *filters; /* JSON; or NULL */
    AV *numbers;          /* JSON: receives each number: the value, and whether it is a float; or NULL */
    const char *thaws_for; /* the argument of THAW that names the format */
    const char *no_method; /* error for a class without THAW */
    bool dummy_code;      /* Data::Dumper: code becomes a dummy sub */
    bool bare_regexps;    /* Sereal: without classes, regexps have no class either */
    bool clean_integers;  /* Sereal: integers are never tainted */
    bool names_limits;    /* Sereal: errors about limits name the option */
    /* Returns the original's error message for such an input, because programs look for
     * it: a mortal, or NULL. */
    SV *(*original_words)(pTHX_ const icecore_error *error, const char *bytes, STRLEN len);
    const char *deeper;   /* what allows more levels; NULL: the default */
    const char *trailing; /* advice about bytes after the document; NULL: the default */
} ice_read_settings;

/* ---- records ------------------------------------------------------------ */

/* Result of the method `kind` of a record, unless it is `object`. */
typedef struct {
    const char *word;
    U8 node, form;
} ice_record_kind;

enum { ICE_RECORD_KINDS = 8 };
extern const ice_record_kind ice_record_kinds[ICE_RECORD_KINDS];

/* ---- the two ways ------------------------------------------------------ */

/* Fills a tape with a value. `stage`: the writer, which can already write parts of the
 * tape; NULL: the tape is filled as a whole. */
void ice_walk(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings,
              const icecore_stage *stage);
/* Puts the only value of a list, if it is plain; returns false otherwise. */
bool ice_walk_only(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings);
/* Puts a list of values, each as a variable of its own. */
void ice_walk_list(pTHX_ ice_context *ctx, icecore_tape *tape, AV *list, const ice_write_settings *settings);
/* Puts the user header of a Sereal document before the body. */
void ice_walk_header(pTHX_ ice_context *ctx, icecore_tape *tape, SV *header, SV *body, const ice_write_settings *settings);

/* Builds the value at a node and returns it as a new SV. */
SV *ice_build(pTHX_ ice_context *ctx, icecore_view *view, U32 node, const ice_read_settings *settings);

/* Lists the keys and values of an object of `class`, alternating. */
void ice_fields(pTHX_ SV *object, AV *list);

/* ---- hooks ------------------------------------------------------------- */

AV *ice_call_list(pTHX_ SV *method, SV **arguments, SSize_t count);
SV *ice_call_scalar(pTHX_ SV *method, SV **arguments, SSize_t count);
SV *ice_eval(pTHX_ SV *code);
SV *ice_eval_by(pTHX_ SV *sub, SV *code);
SV *ice_regexp(pTHX_ SV *pattern, const char *flags, STRLEN len);
CV *ice_method(pTHX_ HV *stash, const char *name);

/* The value of `cloning` that Storable passes to hooks when it clones. */
enum { ICE_CLONING = 4 };

/* ---- policy ------------------------------------------------------------ */

void ice_policy_boot(pTHX);
void ice_policy_clone(pTHX);
/* Whether a warning lists the classes that are built. */
bool ice_policy_reports(pTHX_ SV *classes);
/* Whether all classes may be built, because of `any`. */
bool ice_policy_is_any(pTHX_ SV *classes);
/* Returns one of `icecore_verdict`: whether a class may be built. With
 * `ICECORE_REPORTED`, it is refused together with all other refused classes. */
U32 ice_policy(pTHX_ SV *classes, const char *name, STRLEN len, bool is_utf8);
/* Whether the program itself names this class in full. Then its module may be loaded. */
bool ice_policy_names(pTHX_ SV *classes, SV *name);
/* Returns the name of a class as a quoted Perl literal: a mortal. */
SV *ice_policy_literal(pTHX_ const char *name, STRLEN len, bool is_utf8);
/* Beyond this number, refused classes are only counted. */
#define ICE_LISTED 1000

/* Classes that are refused together. The texts are mortals. */
typedef struct {
    U32 count;
    bool has_wildcard;
    SV *only; /* the message if there is one class only */
    SV *places, *names, *keys;
} ice_refused;
void ice_policy_list(pTHX_ ice_refused *refused, const char *name, STRLEN len, bool is_utf8, const char *path);
/* Dies with a message that names all of them and the options that would allow them. */
void ice_policy_refuse_all(pTHX_ const ice_refused *refused);

/* ---- errors ------------------------------------------------------------ */

void ice_croak_error(pTHX_ const icecore_error *error);
/* Returns the message for an error of the input, as a mortal: the original's message,
 * then what was expected and found, and which option raises a limit. */
SV *ice_read_error(pTHX_ const icecore_error *error, const ice_read_settings *set, const char *bytes, STRLEN len);
void ice_croak_read_error(pTHX_ const icecore_error *error, const ice_read_settings *set, const char *bytes, STRLEN len)
    __attribute__noreturn__;

#endif
