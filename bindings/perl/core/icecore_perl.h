/* What all files of the module share.
 *
 *   common/    what every language's module has: ../common
 *   core/      what knows no format: contexts, keys, the walk, the build
 *   storable/, sereal/, json/, dumper/, pack/
 *              what each of these has of its own: settings, rules of its walk, calls
 *   any/       documents of any format, and operators in the place of calls
 *   Icecore.xs what perl sees
 *
 * A file calls what stands below it only; scripts/modules.sh checks it. In core/:
 *
 *   host.c       what the common pieces need of perl
 *   context.c    warm contexts: memory and caches that live from call to call
 *   keys.c       hash keys: perl's shared keys to ids of the engine, and back
 *   hooks.c      calls of a class's own freeze and thaw methods
 *   policy.c     which classes may be built
 *   class_lists.c  the allow lists of Sereal's options
 *   payloads.c   frozen data in what hooks are given
 *   walk*        perl values to the engine's tape: walk.h
 *   build*       the engine's tape to perl values: build.h
 *   documents.c  one document, read or written by a stage
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

/* A container that is being walked: walk.h has the kinds. `pinned`: foreign code
 * may change or free what is open, and this is safe from it. */
typedef struct {
    U8 kind;
    bool pinned;
    bool restricted; /* a hash whose keys are locked */
    bool flagged;    /* a hash that has flags for its keys */
    bool by_index;   /* a tied element of an array, which `at` names */
    bool is_tied;    /* an array whose items are fetched */
    U32 wraps;       /* how many nodes before `node` end where it ends */
    U32 node;
    U32 order;       /* of a hash: perl's order of its buckets */
    SV *sv;
    SV *other;       /* of a hook: the object; of a tied element: its key; of a sorted hash: the hash */
    HE *he;
    SSize_t at;
    SSize_t count;
} ice_walk_frame;

/* A container that is being built: build.h has the kinds. */
typedef struct {
    U8 kind;
    bool pinned;
    U32 node;
    U32 end;  /* the node behind it */
    U32 key;  /* the node of the next key */
    SV *sv;
    AV *list; /* what an object is built from when all of it is there */
    SV *variable; /* of a hash that is filtered: what refers to it */
    SSize_t at;
} ice_build_frame;

typedef union {
    ice_walk_frame walk;
    ice_build_frame build;
} ice_frame;

/* A value of the tape that something else names. */
typedef struct {
    U32 node;
    SV *variable; /* what an alias means */
    SV *referent; /* what a link means */
} ice_target;

/* What FREEZE of its class froze, until all is built. */
typedef struct {
    U32 node;
    U32 links; /* the last of the links to it, by its number; 0: there is none */
    SV *variable;
} ice_frozen;

/* A reference to something frozen, which THAW changes too. */
typedef struct {
    SV *variable;
    U32 next; /* another one to the same, by its number; 0: this is the first */
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
    ice_warm warm; /* the engine's context, and the next in the pool */
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
    SV *denied;       /* the nodes that FREEZE wrote and a list denies, as U32, in their order; or NULL */
    bool has_opaque;  /* some objects were frozen by their classes */
    bool is_checked;  /* the classes of the body were checked with those of the header */
    SV *root;   /* what is being built */
    icecore_view view; /* what it is built from: not on the native stack, as hooks call each other */
    const char *source; /* the document as it was given; or NULL */
    STRLEN source_len;
    bool is_plain;      /* it was not compressed */
    bool has_input; /* the input was copied: foreign code may change the caller's */
    AV *keep;   /* what must live as long as the call */
    U8 *verdicts;
    U32 verdict_room;
};

/* Takes a context out of the pool for the call that goes on; it goes back when
 * perl leaves the scope, however that happens. */
ice_context *ice_checkout(pTHX);
void ice_contexts_free(pTHX);
void ice_keep(pTHX_ ice_context *ctx, SV *sv);
ice_frame *ice_push_frame(pTHX_ ice_context *ctx);
/* Lets go of what was to be thawed. */
void ice_forget_frozen(pTHX_ ice_context *ctx);

void ice_keys_renew(pTHX_ ice_context *ctx, U32 generation);
void ice_keys_drop(pTHX_ ice_context *ctx);
SV *ice_key_sv(pTHX_ ice_context *ctx, const icecore_view *view, U16 id);
U16 ice_new_key_id(pTHX_ ice_context *ctx, HE *he, bool key_flags);

/* Forgets all ids, if the engine did. */
PERL_STATIC_INLINE void
ice_keys_of(pTHX_ ice_context *ctx, U32 generation)
{
    if (UNLIKELY(ctx->keys.generation != generation))
        ice_keys_renew(aTHX_ ctx, generation);
}

/* The id of the key of an entry; 0: it needs a node. `key_flags`: what perl notes of
 * keys is stored. */
PERL_STATIC_INLINE U16
ice_key_id(pTHX_ ice_context *ctx, HE *he, bool key_flags)
{
    const HEK *hek = HeKEY_hek(he);
    U16 id;
    return LIKELY(ice_keys_near(&ctx->keys, hek, &id)) ? id : ice_new_key_id(aTHX_ ctx, he, key_flags);
}

U16 ice_key_id_sv(pTHX_ ice_context *ctx, const char *key, STRLEN len, bool is_utf8);

/* ---- settings ---------------------------------------------------------- */

/* What a format has of its own when values are walked: walk.h. */
typedef struct iw_rules iw_rules;

typedef struct ice_json ice_json;

typedef struct {
    const iw_rules *rules;
    bool cloning;         /* Storable: dclone */
    bool deparse;         /* Storable: code as text */
    bool forgive;         /* Storable: what can't be stored becomes a string */
    bool freeze_callbacks; /* Sereal */
    bool croak_on_bless;
    bool no_bless;
    bool undef_unknown;
    bool stringify_unknown;
    U8 warn_unknown;      /* 0, 1; 2: not for overloaded objects */
    U8 protocol;
    UV max_depth;         /* 0: no limit of its own */
    SV *freeze_allow;     /* Sereal: freeze_allow_classes: class_lists.h; or NULL */
    bool freezes_allowed_only; /* Sereal: what the list denies is an ordinary object */
    SV *owner;            /* the encoder that these belong to; or NULL */
    const ice_json *json; /* JSON: json.h */
    bool sorted;          /* hashes go by their keys */
    SV *sort_code;        /* what lists the keys of a hash; or NULL */
    const char *freezer;  /* a method that is called before an object is walked */
    bool *met_glob;       /* is told of globs; or NULL */
    bool warns_of_code;
} ice_write_settings;

/* Hashes that are complete: whether something is done with one of so many entries,
 * and what; `variable` refers to it. */
typedef struct {
    bool (*is_filtered)(pTHX_ const ice_json *json, HV *hv, U32 entries);
    void (*filter)(pTHX_ const ice_json *json, HV *hv, SV *variable);
} ice_filters;

typedef struct {
    bool cloning;
    bool bless_ok;
    bool tie_ok;
    bool no_thaw;         /* Sereal: no_thaw_objects */
    const char *args_class; /* of what THAW would have been given, where it is not called; or NULL */
    bool as_marked;       /* strings are text if they say so: nobody looks */
    const char *bad_text; /* what is said of text that is no UTF-8; NULL: as usual */
    bool undef_own;       /* Sereal: use_undef */
    bool readonly;        /* Sereal: set_readonly */
    bool readonly_scalars;
    IV alias_under;       /* Sereal: alias_smallint, alias_varint_under; 0: no */
    bool is_foreign;      /* another language froze it */
    AV *aliases;          /* the integers from -16 to there */
    SV *into;             /* the variable that is to be the root; or NULL */
    SV *owner;            /* the decoder that these belong to; or NULL */
    SV *eval;             /* Storable: $Eval */
    bool forgive;         /* Storable: $forgive_me, for code */
    int downgrade_restricted;
    SV *classes;          /* the option `classes`, or NULL */
    UV max_depth, max_string, max_uncompressed; /* of any format; 0: as usual */
    SV *thaw_allow;       /* Sereal: thaw_allow_classes: class_lists.h; or NULL */
    bool thaw_raw;        /* Sereal: what the list denies becomes what THAW would have been given */
    bool thaws_last;      /* Sereal: THAW is called when all is built, the last object first */
    SV *original;         /* dclone: the SV that is copied; for the path of errors */
    SV *no, *yes;         /* what booleans become; or NULL */
    const ice_json *json; /* JSON: json.h */
    const ice_filters *filters; /* JSON; or NULL */
    AV *numbers;          /* JSON: gets numbers of any size: what was built, and whether it is a float; or NULL */
    const char *thaws_for; /* what THAW is told: whose data it is */
    const char *no_method; /* what is said of a class without THAW */
    bool dummy_code;      /* Data::Dumper writes no code, but a sub that says so */
    bool bare_regexps;    /* Sereal: without classes, regexps have none either */
    bool clean_integers;  /* Sereal: integers are never tainted */
    bool names_limits;    /* Sereal: errors of limits name the option */
    /* What the original says of such an input, which programs look for; a mortal, or NULL. */
    SV *(*original_words)(pTHX_ const icecore_error *error, const char *bytes, STRLEN len);
    const char *deeper;   /* what allows more levels; NULL: as usual */
    const char *trailing; /* what to do about bytes behind the document; NULL: as usual */
} ice_read_settings;

/* ---- records ------------------------------------------------------------ */

/* What the method `kind` of a record says, where it does not say `object`. */
typedef struct {
    const char *word;
    U8 node, form;
} ice_record_kind;

enum { ICE_RECORD_KINDS = 8 };
extern const ice_record_kind ice_record_kinds[ICE_RECORD_KINDS];

/* ---- the two ways ------------------------------------------------------ */

/* Fills a tape with a value. What it will be written with may already write parts
 * of it; NULL: it has to be filled as a whole. */
void ice_walk(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings,
              const icecore_stage *stage);
/* The only value of a list, if it is plain; says no, if it is not. */
bool ice_walk_only(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings);
/* A list of values, each as a variable of its own. */
void ice_walk_list(pTHX_ ice_context *ctx, icecore_tape *tape, AV *list, const ice_write_settings *settings);
/* The user header of a Sereal document, before the body. */
void ice_walk_header(pTHX_ ice_context *ctx, icecore_tape *tape, SV *header, SV *body, const ice_write_settings *settings);

/* Builds the value at a node: a new SV. */
SV *ice_build(pTHX_ ice_context *ctx, icecore_view *view, U32 node, const ice_read_settings *settings);

/* Keys and values of an object of `class` in turn. */
void ice_fields(pTHX_ SV *object, AV *list);

/* ---- hooks ------------------------------------------------------------- */

AV *ice_call_list(pTHX_ SV *method, SV **arguments, SSize_t count);
SV *ice_call_scalar(pTHX_ SV *method, SV **arguments, SSize_t count);
SV *ice_eval(pTHX_ SV *code);
SV *ice_eval_by(pTHX_ SV *sub, SV *code);
SV *ice_regexp(pTHX_ SV *pattern, const char *flags, STRLEN len);
CV *ice_method(pTHX_ HV *stash, const char *name);

/* What Storable tells hooks when it clones. */
enum { ICE_CLONING = 4 };

/* ---- policy ------------------------------------------------------------ */

void ice_policy_boot(pTHX);
void ice_policy_clone(pTHX);
/* Whether it is said which classes are built, by a warning. */
bool ice_policy_reports(pTHX_ SV *classes);
/* Whether all classes may be built, as `any` says. */
bool ice_policy_is_any(pTHX_ SV *classes);
/* Whether a class may be built: one of `icecore_verdict`; with `ICECORE_REPORTED`, if it
 * is refused together with all others that are. */
U32 ice_policy(pTHX_ SV *classes, const char *name, STRLEN len, bool is_utf8);
/* Whether the program itself names this class, in full: then its module may be loaded. */
bool ice_policy_names(pTHX_ SV *classes, SV *name);
/* A name of a class as a literal of Perl, in quotes: a mortal. */
SV *ice_policy_literal(pTHX_ const char *name, STRLEN len, bool is_utf8);
/* More classes that are refused are counted only. */
#define ICE_LISTED 1000

/* Classes that are refused together. Texts are mortals. */
typedef struct {
    U32 count;
    bool has_wildcard;
    SV *only; /* what is said of one */
    SV *places, *names, *keys;
} ice_refused;
void ice_policy_list(pTHX_ ice_refused *refused, const char *name, STRLEN len, bool is_utf8, const char *path);
/* Dies, and names all of them with what would allow them. */
void ice_policy_refuse_all(pTHX_ const ice_refused *refused);

/* ---- errors ------------------------------------------------------------ */

void ice_croak_error(pTHX_ const icecore_error *error);
/* An error of the input, in perl's words: the original's first, then what is expected and
 * found, and what raises a limit. A mortal. */
SV *ice_read_error(pTHX_ const icecore_error *error, const ice_read_settings *set, const char *bytes, STRLEN len);
void ice_croak_read_error(pTHX_ const icecore_error *error, const ice_read_settings *set, const char *bytes, STRLEN len)
    __attribute__noreturn__;

#endif
