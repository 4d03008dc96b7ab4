/* What all files of the extension share.
 *
 *   common/    what every language's module has: ../../../common
 *   core/      what knows no method of Ruby's: contexts, classes, the walk, the build
 *   formats/   the methods, a file for each group of them
 *   icecore.c  what Ruby sees
 *
 * A file calls what stands below it only; scripts/modules.sh checks it. In core/:
 *
 *   common.c     the common pieces, compiled here
 *   host.c       what they need of Ruby
 *   original.c   what is asked of Ruby's own methods, kept from the start
 *   errors.c     exceptions
 *   context.c    warm contexts, and what the collector marks
 *   seen.c       which objects were seen
 *   slots.c      where objects have their instance variables
 *   record.c     Icecore::Record
 *   policy*.c    which classes may be built: policy.h
 *   nested.c     the same of data of Marshal that a hook gets: nested.h
 *   dates.c      what Date._load would read
 *   classes.c    classes by the engine's ids
 *   build*.c     the engine's tape to Ruby's values: build.h
 *   walk*.c      Ruby's values to the engine's tape: walk.h
 *   stages.c     stages of Marshal
 *   documents.c  one document, read or written by a stage
 *
 * The collector: values on the machine's stack are found by it; those in the memory of a
 * context are marked by context.c as long as a call goes on. Nothing that it marks moves.
 * What a context knows from earlier calls it forgets when the collector runs.
 *
 * Exceptions leave C by a jump. A context is given back by rb_ensure, so whatever foreign
 * code does, nothing is lost. */
#ifndef ICECORE_RUBY_H
#define ICECORE_RUBY_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/re.h>
#include <ruby/version.h>
#include <stdbool.h>
#include "common/ice_keys.h"
#include "common/ice_map.h"
#include "common/ice_message.h"
#include "common/ice_pool.h"
#include "common/ice_stack.h"
#include "common/ice_tape.h"
#include "common/ice_view.h"
#include "core/seen.h"
#include "icecore.h"

/* Up to 3.1 an object has its instance variables in a row whose order is its class's. */
#if RUBY_API_VERSION_CODE < 30200
#  define ICE_HAS_ROWS 1
#else
#  define ICE_HAS_ROWS 0
#endif

/* How deep values may be nested that are read, if the caller says nothing. */
#define ICE_USUAL_DEPTH 100000

/* ---- what Ruby alone knows ------------------------------------------------ */

/* Methods of core classes as they were when the extension was loaded. */
typedef enum {
    ICE_TIME_LOAD,          /* Time._load */
    ICE_RANGE_INITIALIZE,   /* of Range */
    ICE_HASH_DEFAULT,       /* Hash#default */
    ICE_HASH_BY_IDENTITY,   /* Hash#compare_by_identity? */
    ICE_HASH_MAKE_IDENTITY, /* Hash#compare_by_identity */
    ICE_BACKTRACE,          /* Exception#backtrace */
    ICE_ANCESTORS,          /* Module#ancestors */
    ICE_INSTANCE_METHODS,   /* Module#instance_methods */
    ICE_PRIVATE_METHODS,    /* Module#private_instance_methods */
    ICE_IS_SINGLETON,       /* Module#singleton_class? */
    ICE_ORIGINALS
} ice_original;

/* Calls one of them on `self`. */
VALUE ice_call_original(ice_original which, VALUE self, int argc, const VALUE *argv);
/* The same for what stands in a library that is loaded at need: Date#marshal_load,
 * BigDecimal._load. */
VALUE ice_date_load(VALUE date, VALUE fields);
VALUE ice_decimal_load(VALUE text);
/* A class of a standard library, which is loaded if it is not there yet. */
VALUE ice_library_class(const char *library, const char *name);

/* Whether Marshal freezes a string again where a link names it. */
extern bool ice_freezes_links;
/* Bits of a hash: of one with a default procedure, of one marked by ruby2_keywords. */
extern VALUE ice_hash_has_proc, ice_hash_is_keywords;
bool ice_hash_by_identity(VALUE hash);
/* The entries of a small hash as they stand in it, deleted ones with an undefined key; NULL:
 * it is none, or this Ruby keeps them otherwise. Lent as long as nothing of Ruby's is called. */
const VALUE *ice_hash_pairs(VALUE hash, uint32_t *bound);
/* The default value; of a hash with a default procedure something that is not nil. */
VALUE ice_hash_default(VALUE hash);
/* What Marshal makes of a Thread::Backtrace: an Array. */
VALUE ice_backtrace(VALUE backtrace);
void ice_originals_init(void);

/* ---- where objects have their variables ------------------------------------ */

#define ICE_ROW 32    /* as many variables at most are looked at by their places */
#define ICE_PLACES 64 /* and so many places */

/* The variables of a class's objects: in the order in which Ruby tells them. */
typedef struct {
    ID id;
    uint16_t place; /* in the row */
    uint16_t key;   /* of the engine's, when it was asked for */
} ice_slot_of;

typedef struct {
    bool is_known;  /* otherwise the places are not known, or of no use */
    uint8_t count;
    uint8_t widest; /* the variable with the last place */
    uint16_t width; /* how many places the variables need */
    ice_slot_of slots[ICE_ROW];
    uint8_t at_place[ICE_PLACES]; /* which of these has this place, plus 1; 0: it is not known */
} ice_row;

/* Learns the row of a class from an object of it; `row` has what was learned before. */
void ice_row_learn(ice_row *row, VALUE object);

/* ---- classes ---------------------------------------------------------------- */

/* What an object's class is to the builder. */
enum {
    ICE_UNKNOWN,      /* not looked at yet */
    ICE_OBJECT_OF,    /* an object with variables */
    ICE_EXCEPTION_OF, /* the same, of which Marshal says where it was raised */
    ICE_RANGE_OF,     /* Range, or a class below it */
    ICE_SET_OF,
    ICE_TIME_OF,
    ICE_DATE_OF,
    ICE_RATIONAL_OF,
    ICE_COMPLEX_OF,
    ICE_DECIMAL_OF,
    ICE_OTHER_OF,     /* what has hooks, or can't be built */
    ICE_RECORD_OF     /* an Icecore::Record */
};

#define ICE_MOST_NAME 512 /* bytes of a new name of a class */
#define ICE_STEPS 4

/* A class by its id in a context. */
typedef struct {
    VALUE klass;               /* 0: not looked up */
    ID steps[ICE_STEPS];       /* the constants on the way to it, if these are all; 0: no more */
    uint32_t found;            /* in which call it was looked up */
    rb_alloc_func_t allocate;  /* of ICE_OBJECT_OF */
    uint32_t call;             /* of which call the verdict is */
    uint8_t verdict;
    uint64_t edition;          /* of the rules that allow it; 0: it is to be asked */
    bool is_own;               /* a class of Ruby's own, in Ruby's own form */
    uint8_t own;               /* which one, as `how` */
    uint8_t how;
    ice_row *row;              /* or NULL */
    uint16_t keys[ICE_ROW];    /* of the last object: the ids of its keys, and their places */
    uint8_t places[ICE_ROW];
} ice_class;

/* A class whose objects are written. */
typedef struct ice_written {
    VALUE klass;     /* of objects, a singleton class too */
    VALUE real;
    uint32_t id;     /* the engine's; 0: not asked for */
    uint32_t call;   /* of which call the rest is */
    bool has_marshal_dump, has_dump;
    bool is_asked;   /* an object of it decides itself whether it has these */
    bool is_plain;   /* none of that, and no singleton class */
    ID steps[ICE_STEPS]; /* the constants that lead to it, as in ice_class */
    bool is_checked; /* in this call: its name leads to it */
    bool was_seen;   /* an object of it was written */
    uint32_t row_call; /* in which call the order of the row was found right */
    ice_row *row;    /* the context's; or NULL. It is never changed: another takes its place */
    struct ice_written *base; /* of a singleton class, which is not kept: what it is below */
} ice_written;

/* ---- contexts ---------------------------------------------------------------- */

/* A container that is being built: build.c has the kinds. */
typedef struct {
    uint8_t kind;
    bool is_shared;  /* a link names it: what is in it is put there at once */
    bool is_partial; /* something around it completes it */
    bool is_said;    /* of modules and classes around a string that says its encoding: this
                      * stands outside of them, and completes them */
    uint32_t node;
    uint32_t end;
    uint32_t base;   /* where its values begin */
    VALUE object;    /* or 0 */
    VALUE klass;     /* the class or the module that it is about; or 0 */
    ice_class *class;
} ice_build_frame;

/* A container that is being walked: walk.c has the kinds. */
typedef struct {
    uint8_t kind;
    uint16_t key;    /* of the value that is put next */
    uint32_t wraps;  /* how many nodes before `node` end where it ends */
    uint32_t node;
    uint32_t at;     /* the next child */
    uint32_t count;
    uint32_t base;   /* where its values begin */
    long limit;      /* how many levels there may be in it; below zero: any */
    VALUE object;
    VALUE extra;     /* what its kind needs */
    ice_row *row;
} ice_walk_frame;

#define ICE_NEAR_WRITTEN 64 /* a power of two */

typedef struct ice_context ice_context;
struct ice_context {
    ice_warm warm;
    ice_context *next;        /* of all contexts there are: none is freed as a whole, as a
                               * continuation may come back to it */
    bool is_busy;
    bool knows;               /* something is to be forgotten when the collector runs */
    ice_keys keys;            /* symbols and interned strings by id */
    uint32_t call;
    VALUE *values;            /* marked, as long as the context is busy */
    uint32_t value_count, value_room;
    /* reading */
    icecore_view view;
    ice_class *classes;
    uint32_t class_room, class_generation;
    ice_build_frame *building;
    uint32_t build_depth, build_room;
    ice_map target_places;    /* nodes to places in `targets` */
    VALUE *targets;
    uint32_t target_count, target_room;
    /* writing */
    icecore_tape tape;
    ice_walk_frame *walking;
    uint32_t walk_depth, walk_room;
    bool ran_foreign;         /* hooks ran */
    ice_seen seen;
    ice_map written_places;   /* classes to places in `written` */
    ice_written **written;
    uint32_t written_count, written_room;
    ice_written singleton;    /* the last one: each is of one object */
    ice_row **rows;           /* of objects that are written, until the call ends */
    uint32_t row_count, row_room;
    ice_written *near_written[ICE_NEAR_WRITTEN]; /* by the address of the class */
};

ice_context *ice_checkout(void);
/* Gives back the context of a call, unless a continuation did that before. */
void ice_checkin(ice_context *ctx, uint32_t call);
/* Raises, if a continuation came back to a call that has ended: behind foreign code. */
static inline void ice_check_call(const ice_context *ctx, uint32_t call);
NORETURN(void ice_reentered(void));
/* Puts a value where the collector finds it. */
static inline void ice_push_value(ice_context *ctx, VALUE value);
void ice_more_values(ice_context *ctx, uint32_t more);
/* Forgets keys and classes, if the engine did. */
void ice_keys_renew(ice_context *ctx, uint32_t generation);
void ice_classes_renew(ice_context *ctx, uint32_t generation);
void ice_context_init(void);

static inline void
ice_check_call(const ice_context *ctx, uint32_t call)
{
    if (ICE_UNLIKELY(ctx->call != call || !ctx->is_busy))
        ice_reentered();
}

static inline void
ice_push_value(ice_context *ctx, VALUE value)
{
    if (ICE_UNLIKELY(ctx->value_count == ctx->value_room))
        ice_more_values(ctx, 1);
    ctx->values[ctx->value_count++] = value;
}

static inline void
ice_keys_of(ice_context *ctx, uint32_t generation)
{
    if (ICE_UNLIKELY(ctx->keys.generation != generation))
        ice_keys_renew(ctx, generation);
}

/* ---- settings ------------------------------------------------------------------ */

/* What a call says of classes. */
typedef struct {
    VALUE list;      /* an Array of names and patterns; Qnil: nothing was said */
    VALUE exact;     /* a Hash of names that have a `*`; or Qnil */
    VALUE classes;   /* an Array of classes whose names are not in `list` yet; or Qnil */
    icecore_class_map *rename; /* or NULL; freed by ice_allowed_end */
    uint32_t word;   /* one of icecore_otherwise */
    bool has_rails;
    uint64_t edition; /* of these rules, if they are kept; or 0 */
    bool is_foreign; /* names of another language's data are asked for: `App\\User` is `App::User` */
} ice_allowed;

typedef struct {
    ice_allowed classes;
    VALUE proc;      /* or Qnil */
    bool freeze;
    VALUE source;    /* the bytes: held, and not changed while they are read */
} ice_read_settings;

/* ---- policy ---------------------------------------------------------------------- */

/* Reads the keywords `classes` and `rename`. */
void ice_allowed_begin(ice_allowed *allowed, VALUE classes, VALUE rename);
void ice_allowed_end(ice_allowed *allowed);
/* Asks for each class of the document; raises, if one is refused. What was allowed stands
 * in the context. Returns whether foreign code may run when the document is built. `said`
 * gets what is to be warned of, or nil. */
bool ice_policy_check(ice_context *ctx, const ice_allowed *allowed, VALUE *said);
/* Warns: a program may have put code of its own there. */
void ice_policy_say(VALUE said);
/* The same for names that data of another language has, a Hash of names and paths. */
void ice_policy_check_names(const ice_allowed *allowed, VALUE names);
/* Names of the classes of a document that are not allowed, with their paths. */
VALUE ice_policy_refused(ice_context *ctx, const ice_allowed *allowed);
/* Those of names and paths. */
VALUE ice_policy_refused_names(const ice_allowed *allowed, VALUE names);
/* Whether a record stands for a class or module of this name. */
bool ice_policy_is_record(const ice_allowed *allowed, const char *name, size_t len);
/* Allows a class, a name, a pattern or a word for the whole process. */
void ice_policy_allow(VALUE class);
void ice_policy_init(void);
/* The collector runs: another class may come to the address of one that is known. */
void ice_policy_forget(void);

/* ---- classes ------------------------------------------------------------------------ */

/* Where a context keeps the class with this id of the engine. */
ice_class *ice_class_slot(ice_context *ctx, uint32_t id);
/* The class with this id of the engine, looked up as Ruby does it; raises as Ruby does. */
ice_class *ice_class_of(ice_context *ctx, const ice_allowed *allowed, uint32_t id);
/* A class or module by its name; `steps`, if it is not NULL, gets the constants. */
VALUE ice_class_at(const char *name, size_t len, bool is_text, ID *steps);
/* Whether constants still lead to it. */
bool ice_class_is_at(VALUE klass, const ID *steps);
/* The same by its name in the data. */
VALUE ice_class_named(const ice_allowed *allowed, const char *name, size_t len, bool is_text);

/* ---- records -------------------------------------------------------------------------- */

extern VALUE ice_record;
VALUE ice_record_new(const char *kind, VALUE name, VALUE value);
VALUE ice_record_kind(VALUE record);
VALUE ice_record_name(VALUE record);
VALUE ice_record_value(VALUE record);
void ice_record_set(VALUE record, VALUE value);
void ice_record_init(void);

/* ---- the two ways ----------------------------------------------------------------------- */

/* Builds the root of the view. */
VALUE ice_build(ice_context *ctx, const ice_read_settings *settings);
/* Fills the tape with a value; at `limit` levels it raises, below zero never. */
void ice_walk(ice_context *ctx, VALUE value, long limit);

/* ---- errors -------------------------------------------------------------------------------- */

extern VALUE ice_module, ice_error, ice_argument_error, ice_type_error, ice_eof_error, ice_runtime_error, ice_zero_division_error,
    ice_class_error;

/* Raises with what the engine says; `bytes` are the data, of which `is_stream` says that
 * they come from an IO. */
NORETURN(void ice_raise_error(const icecore_error *error, const char *bytes, size_t len, bool is_stream));
/* Raises with words of our own, as rb_raise. */
NORETURN(void ice_raise(VALUE class, const char *kind, const char *path, const char *format, ...));
NORETURN(void ice_raise_message(VALUE class, const char *kind, int64_t offset, const char *path, VALUE message));
void ice_errors_init(void);

#endif
