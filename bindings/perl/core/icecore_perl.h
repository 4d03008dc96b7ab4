/* Declarations that all files of the module share.
 *
 *   common/     code that the modules of all languages share: ../common
 *   core/       code that depends on no format: contexts, keys, the walk, the build
 *   storable/, sereal/, json/, dumper/, pack/
 *               code of one format: its settings, the rules of its walk, its calls
 *   any/        documents of any format, and operators that replace calls
 *   Icecore.xs  the functions that perl sees
 *
 * A file calls only files below it in this list; scripts/modules.sh checks this. In core/:
 *
 *   host.c         memory and errors for the common code
 *   context.c      pooled contexts: memory and caches that are reused from call to call
 *   keys.c         hash keys: from perl's shared keys to ids of the engine, and back
 *   hooks.c        calls of perl code: the freeze and thaw methods of a class, eval, qr//
 *   policy.c       which classes may be built
 *   class_lists.c  the allow lists of Sereal's options
 *   payloads.c     frozen data in the payloads of hooks
 *   walk*          from perl values to the engine's tape: walk.h
 *   build*         from the engine's tape to perl values: build.h
 *   documents.c    one document, read or written by a stage
 *
 * Two words have one meaning in all files. The walk reads perl values and fills a tape.
 * The build reads a tape and creates perl values. */
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
#  define PERL_VERSION_GE(r, v, s)                                                                                   \
      (PERL_REVISION > (r)                                                                                           \
       || (PERL_REVISION == (r) && (PERL_VERSION > (v) || (PERL_VERSION == (v) && PERL_SUBVERSION >= (s)))))
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
/* 1 if this perl has objects of the keyword `class`, otherwise 0. */
#if PERL_VERSION_GE(5, 38, 0)
#  define ICE_HAS_CLASS 1
#else
#  define ICE_HAS_CLASS 0
#endif

/* Perl's functions take a length of 0 to mean "up to the first NUL". So an empty text is
 * handled before they are called. */
#define ice_is_utf8(text, len) ((len) == 0 || is_utf8_string(text, len))
#define ice_is_ascii(text, len) ((len) == 0 || is_utf8_invariant_string(text, len))

/* ---- contexts ---------------------------------------------------------- */

typedef struct ice_context ice_context;

/* A container that is being walked; walk.h has the kinds. */
typedef struct {
    U8 kind;
    bool is_protected;    /* perl code that runs now can neither change nor free the container */
    bool is_restricted;   /* of a hash: its keys are locked */
    bool has_key_flags;   /* of a hash: perl's flags of its keys are stored */
    bool is_tied_element; /* of a tied variable: it is an element of an array; `index` is its position */
    bool is_tied_array;   /* of an array: its items are fetched through the tie */
    U32 wrapper_count;    /* number of nodes before `node` that end together with it */
    U32 node;             /* index of its node */
    U32 bucket_order;     /* of a hash: XOR of a bucket's number gives perl's order of the buckets */
    SV *sv;
    union {
        SV *object; /* of a hook: the object whose hook was called */
        SV *key;    /* of a tied element: its key, or NULL */
        SV *hash;   /* of a hash in sorted order: the hash */
    } owner;
    HE *he;        /* of a hash: the next entry of the current bucket, or NULL */
    SSize_t index; /* the next item of an array or list; the next bucket of a hash */
    SSize_t count; /* of an array: the number of its items; of others: the children pushed so far */
} ice_walk_frame;

/* A container that is being built; build.h has the kinds. */
typedef struct {
    U8 kind;
    bool is_protected; /* perl code that runs now can't free the container */
    U32 node;          /* index of its node */
    U32 end;           /* index of the node after it */
    U32 key;           /* index of the node that is the next key */
    SV *sv;
    AV *children;       /* of an object, a record or a tied variable: the children that were built so far */
    AV *values_to_lock; /* of a restricted hash: values that become read-only at its end; otherwise NULL */
    SV *variable;       /* of a hash that may be filtered: the reference to it */
    SSize_t index;      /* of an array: the index of the next item */
} ice_build_frame;

typedef union {
    ice_walk_frame walk;
    ice_build_frame build;
} ice_frame;

/* A node of the tape that other nodes refer to, and what was built for it. */
typedef struct {
    U32 node;
    SV *variable; /* what an alias of the node refers to */
    SV *referent; /* what a link to the node refers to */
} ice_target;

/* An object that the method FREEZE of its class froze. It is registered until everything is
 * built, because THAW is called then. */
typedef struct {
    U32 node;
    U32 last_link; /* 1 + the index of the last link to the object; 0 without links */
    SV *variable;
} ice_frozen;

/* A variable with a reference to a frozen object; THAW replaces that reference too. */
typedef struct {
    SV *variable;
    U32 next; /* 1 + the index of another link to the same object; 0 at the end of this chain */
} ice_frozen_link;

/* What a call knows about a class whose objects are walked. */
typedef struct {
    HV *stash;
    U32 id;
    bool has_amagic;   /* it has overloading */
    bool hook_used;    /* its hook returned data for an object of this call */
    bool hook_ignored; /* its hook returned nothing, so it is not called again */
    bool is_record;    /* it is Icecore::Record */
    CV *hook;          /* its method that freezes objects, or NULL */
} ice_class;

/* Memory and caches of one call. */
struct ice_context {
    ice_pooled_context pooled; /* the engine's context, and the next context in the pool */
    ice_keys keys;   /* an SV with the shared key for each id; the address of a key is that of its HEK */
    ice_frame *frames;
    U32 depth; /* number of open frames */
    U32 frame_capacity;
    ice_map seen;    /* from the address of an SV that may be met again to its node */
    ice_map stashes; /* from the address of a stash to its index in `classes` */
    ice_class *classes;
    U32 class_count;
    U32 class_capacity;
    ice_target *targets; /* in ascending order of nodes */
    U32 target_count;
    U32 target_capacity;
    SV **weak; /* references that become weak when everything is built */
    U32 weak_count;
    U32 weak_capacity;
    ice_frozen *frozen; /* in ascending order of nodes */
    U32 frozen_count;
    U32 frozen_capacity;
    ice_frozen_link *frozen_links;
    U32 frozen_link_count;
    U32 frozen_link_capacity;
    SV *refused_thaws;     /* U32s in ascending order: the nodes for which a list refuses THAW; or NULL */
    bool has_opaque;       /* the document has objects that their classes froze */
    bool body_was_checked; /* the classes of the body were checked together with those of the header */
    SV *root;              /* the value that is being built */
    icecore_view view;     /* the document; not on the native stack, because hooks can nest */
    const char *document;  /* the bytes that the caller passed; or NULL */
    STRLEN document_len;
    bool is_uncompressed; /* `document` was not compressed */
    bool owns_input;      /* the input was copied, because perl code can change the caller's */
    AV *kept_values;      /* values that are kept alive until the end of the call; or NULL */
    U8 *verdicts;         /* by the id of a class: its verdict, see ib_check_classes */
    U32 verdict_capacity;
};

/* Takes a context out of the pool for the current call. The context returns to the pool
 * when perl leaves the scope, even after an error. */
ice_context *ice_take_context(pTHX);
/* Frees the contexts in the pool. */
void ice_contexts_free(pTHX);
/* Keeps a value alive until the end of the call. The caller passes on its reference. */
void ice_keep_for_call(pTHX_ ice_context *ctx, SV *sv);
ice_frame *ice_push_frame(pTHX_ ice_context *ctx);
/* Releases the objects that were waiting for THAW. */
void ice_release_frozen(pTHX_ ice_context *ctx);

/* Drops all keys if `generation` is a new one. */
void ice_drop_old_keys(pTHX_ ice_context *ctx, U32 generation);
void ice_free_keys(pTHX_ ice_context *ctx);
/* Returns the key with this id; the context keeps it. Dies if the key is invalid. */
SV *ice_key_sv(pTHX_ ice_context *ctx, const icecore_view *view, U16 id);
/* Returns the id of a key that is not known by its address; see ice_key_id. */
U16 ice_new_key_id(pTHX_ ice_context *ctx, HE *he, bool key_flags);

/* Drops all keys if the engine has dropped its ids. */
PERL_STATIC_INLINE void
ice_update_keys(pTHX_ ice_context *ctx, U32 generation)
{
    if (UNLIKELY(ctx->keys.generation != generation))
        ice_drop_old_keys(aTHX_ ctx, generation);
}

/* Returns the id of the key of an entry, or 0 if the key needs a node of its own.
 * `key_flags` says whether the format stores perl's flags of keys. */
PERL_STATIC_INLINE U16
ice_key_id(pTHX_ ice_context *ctx, HE *he, bool key_flags)
{
    const HEK *hek = HeKEY_hek(he);
    U16 id;
    return LIKELY(ice_keys_find_by_address(&ctx->keys, hek, &id)) ? id : ice_new_key_id(aTHX_ ctx, he, key_flags);
}

/* ---- settings ---------------------------------------------------------- */

/* The rules of a format for walking values: walk.h. */
typedef struct iw_rules iw_rules;

typedef struct ice_json ice_json;
typedef struct ij_types ij_types;
typedef struct ij_text_origin ij_text_origin;
typedef struct ice_read_settings ice_read_settings;

/* How values are walked. A field that only some formats use begins its comment with the format. */
typedef struct {
    const iw_rules *rules;
    bool cloning;          /* Storable: dclone */
    bool deparse;          /* Storable, Data::Dumper: code is written as text */
    bool forgive_me;       /* Storable: values that can't be stored become strings */
    bool freeze_callbacks; /* Sereal: the option of this name, as are the next four */
    bool croak_on_bless;
    bool no_bless;
    bool undef_unknown;
    bool stringify_unknown;
    U8 warn_unknown;            /* Sereal: an ice_warn_unknown */
    U8 sereal_protocol;         /* Sereal: the version of the protocol */
    UV max_depth;               /* 0 if only the memory limits the depth */
    SV *freeze_allow_classes;   /* Sereal: a list of class_lists.h, or NULL */
    bool serializes_refused;    /* Sereal: objects that this list refuses are written as ordinary objects */
    SV *owner;                  /* the encoder that owns these settings; or NULL */
    const ice_json *json;       /* JSON: json.h */
    ij_types *types;            /* JSON: the types of values, cpanel.h; or NULL */
    bool sort_keys;             /* hashes are written in the order of their keys */
    SV *sort_code;              /* Data::Dumper: code that lists the keys of a hash; or NULL */
    const char *freezer_method; /* Data::Dumper: a method that is called before an object is walked; or NULL */
    bool *needs_original;       /* Data::Dumper: set to true if only Data::Dumper itself can dump a value; or NULL */
    U32 *undef_count;           /* Data::Dumper: counts the uses of perl's own undef; or NULL */
    bool dumps_globs;           /* Data::Dumper: the contents of globs are dumped, which only the original can */
    bool warns_about_code;      /* Data::Dumper */
} ice_write_settings;

/* Values of warn_unknown. */
typedef enum { ICE_WARN_NEVER, ICE_WARN_ALWAYS, ICE_WARN_UNLESS_OVERLOADED } ice_warn_unknown;

/* Filters for complete hashes. */
typedef struct {
    /* Returns true if a hash that was built from this number of entries is filtered. */
    bool (*is_filtered)(pTHX_ const ice_read_settings *settings, HV *hv, U32 entries);
    /* Filters a hash; `variable` is the variable with the reference to it. */
    void (*filter)(pTHX_ const ice_json *json, HV *hv, SV *variable);
    /* Adds the value of a repeated key; `slot` has what the hash has so far. Takes over the caller's reference. */
    void (*add_repeated)(pTHX_ HV *repeated_keys, SV **slot, SV *value);
} ice_filters;

/* How values are built. A field that only some formats use begins its comment with the format. */
struct ice_read_settings {
    bool cloning;                     /* Storable: dclone */
    bool bless_ok;                    /* objects are blessed, and their hooks are called */
    bool tie_ok;                      /* variables are tied */
    bool no_thaw;                     /* Sereal: no_thaw_objects */
    const char *thaw_args_class;      /* Sereal: the class of the arguments of THAW, if THAW is not called; or NULL */
    bool trusts_utf8_flag;            /* strings that are marked as text are not checked to be UTF-8 */
    const char *invalid_utf8_message; /* the error for text that is not UTF-8; NULL for the default */
    bool use_undef;                   /* Sereal: use_undef */
    bool readonly;                    /* Sereal: set_readonly */
    bool readonly_scalars;            /* Sereal: set_readonly_scalars */
    IV alias_limit;                   /* Sereal: integers from -16 to below this are shared; or 0 */
    AV *aliased_integers;             /* Sereal: these integers, -16 first; or NULL */
    bool from_other_language;         /* a program in another language froze the document */
    SV *result_variable;              /* Sereal: the caller's variable, which becomes the root; or NULL */
    SV *owner;                        /* the decoder that owns these settings; or NULL */
    SV *eval;                         /* Storable: $Eval */
    bool forgive_me;                  /* Storable: $forgive_me, for code */
    SV *classes;                      /* the option `classes`, or NULL */
    UV max_depth, max_string, max_uncompressed; /* 0 for the default */
    SV *thaw_allow_classes;                     /* Sereal: a list of class_lists.h, or NULL */
    bool thaws_refused_raw;       /* Sereal: objects that this list refuses become the arguments of THAW */
    bool thaws_at_end;            /* Sereal: THAW is called when everything is built, for the last object first */
    SV *false_value, *true_value; /* the values of booleans; NULL for perl's own */
    const ice_json *json;         /* JSON: json.h */
    const ice_filters *filters;   /* JSON; or NULL */
    const ij_text_origin *origin; /* JSON: the text; or NULL */
    bool parses_floats;           /* JSON: the reader left floats as the text of their digits */
    bool has_bytes;               /* JSON: strings with escapes are bytes, if their characters allow it */
    HV *repeated_keys;            /* JSON: values of a repeated key become an array; the addresses of these arrays; or
                                   * NULL */
    AV *numbers;                  /* JSON: receives two items for each number: its value, and true if it is a float;
                               * or NULL */
    const char *thaw_format;      /* the argument of THAW that names the format */
    const char *no_thaw_message;  /* the error for a class without THAW */
    bool dummy_code;              /* Data::Dumper: code becomes a dummy sub */
    bool bare_regexps;            /* Sereal: if objects are not blessed, regexps are not either */
    bool untainted_integers;      /* Sereal: integers are never tainted */
    bool names_limit_options;     /* errors about limits name the option that raises the limit */
    /* Returns the message that the original has for an error, as a mortal, or NULL. Programs
     * search for this message in $@. */
    SV *(*translate_error)(pTHX_ const icecore_error *error, const char *bytes, STRLEN len);
    const char *depth_advice;    /* what allows more levels; NULL for the default */
    const char *trailing_advice; /* what to do about bytes after the document; NULL for the default */
};

/* ---- records ------------------------------------------------------------ */

/* A value that the method `kind` of an Icecore::Record returns, and the kind and the form of
 * the node from which such a record was built. The value "object" is not in the table. */
typedef struct {
    const char *name;
    U8 node_kind, form;
} ice_record_kind;

enum { ICE_RECORD_KINDS = 8 };
extern const ice_record_kind ice_record_kinds[ICE_RECORD_KINDS];

/* ---- the walk and the build ---------------------------------------------- */

/* Fills a tape with a value. With a `stage`, which is the writer, parts of a large tape
 * may be written already. If it is NULL, the tape is filled as a whole. */
void ice_walk(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings,
              const icecore_stage *stage);
/* Fills a tape with a list of one value. Returns false if the value is not plain. */
bool ice_walk_plain_value(pTHX_ ice_context *ctx, icecore_tape *tape, SV *sv, const ice_write_settings *settings);
/* Fills a tape with a list of values, each as a variable of its own. */
void ice_walk_list(pTHX_ ice_context *ctx, icecore_tape *tape, AV *list, const ice_write_settings *settings);
/* Fills a tape with the user header and the body of a Sereal document. */
void ice_walk_header(pTHX_ ice_context *ctx, icecore_tape *tape, SV *header, SV *body,
                     const ice_write_settings *settings);

/* Builds the value of a node and returns it as a new SV. */
SV *ice_build(pTHX_ ice_context *ctx, icecore_view *view, U32 node, const ice_read_settings *settings);

/* Appends the names and values of the fields of an object of a `class`, alternating. */
void ice_fields(pTHX_ SV *object, AV *list);

/* ---- hooks ------------------------------------------------------------- */

/* Call a sub. Arguments that are NULL are passed as undef. */
AV *ice_call_list(pTHX_ SV *method, SV **arguments, SSize_t count);
SV *ice_call_scalar(pTHX_ SV *method, SV **arguments, SSize_t count);
SV *ice_eval(pTHX_ SV *code);
SV *ice_eval_with_sub(pTHX_ SV *sub, SV *code);
SV *ice_compile_regexp(pTHX_ SV *pattern, const char *flags, STRLEN len);
CV *ice_find_method(pTHX_ HV *stash, const char *name);

/* The value of `cloning` that Storable passes to hooks when it clones. */
enum { ICE_CLONING = 4 };

/* ---- policy ------------------------------------------------------------ */

void ice_policy_boot(pTHX);
void ice_policy_clone(pTHX);
/* Returns true if a warning names each class that is built. */
bool ice_policy_reports(pTHX_ SV *classes);
/* Returns true if all classes may be built, because of `any`. */
bool ice_policy_is_any(pTHX_ SV *classes);
/* Returns the verdict on a class, an icecore_verdict. With ICECORE_REPORTED, the caller
 * refuses the class together with all other refused classes. */
U32 ice_policy_verdict(pTHX_ SV *classes, const char *name, STRLEN len, bool is_utf8);
/* Returns true if the program itself lists the full name of this class. Then its module
 * may be loaded. */
bool ice_policy_lists_class(pTHX_ SV *classes, SV *name);
/* Returns the name of a class as a quoted Perl literal: a mortal. */
SV *ice_policy_literal(pTHX_ const char *name, STRLEN len, bool is_utf8);
/* Refused classes after this number are only counted. */
#define ICE_MAX_LISTED_CLASSES 1000

/* Classes that are refused together. The texts are mortals. */
typedef struct {
    U32 count;
    bool has_wildcard; /* a name contains `*` */
    SV *only_message;  /* the message if there is only one class */
    SV *places;        /* each class with its path */
    SV *list_items;    /* the classes as items of a Perl list */
    SV *hash_items;    /* the classes as keys of a Perl hash */
} ice_refused;
void ice_policy_add_refused(pTHX_ ice_refused *refused, const char *name, STRLEN len, bool is_utf8, const char *path);
/* Dies with a message that names all of them and the options that would allow them. */
void ice_policy_croak_refused(pTHX_ const ice_refused *refused);

/* ---- errors ------------------------------------------------------------ */

void ice_croak_error(pTHX_ const icecore_error *error);
/* Returns the message for an error of the input, as a mortal: the original's message,
 * then what was expected and found, and which option raises a limit. */
SV *ice_read_error(pTHX_ const icecore_error *error, const ice_read_settings *settings, const char *bytes,
                   STRLEN len);
void ice_croak_read_error(pTHX_ const icecore_error *error, const ice_read_settings *settings, const char *bytes,
                          STRLEN len) __attribute__noreturn__;

#endif
