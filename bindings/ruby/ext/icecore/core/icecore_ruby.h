/* Declarations that all files of the extension share.
 *
 *   common/    pieces that the modules of all languages share: ../../../common
 *   core/      code that knows no Ruby method: contexts, classes, the walk, the build
 *   formats/   the Ruby methods, a file for each group of them
 *   icecore.c  the methods that Ruby sees
 *
 * A file calls only files below it in this list; scripts/modules.sh checks it. In core/:
 *
 *   common.c     the common pieces, compiled here
 *   host.c       what the common pieces need from Ruby
 *   original.c   Ruby's own methods, kept from the start
 *   errors.c     exceptions
 *   context.c    warm contexts, and the values that the collector marks
 *   seen.c       the objects that were met in a walk
 *   slots.c      the places of instance variables in objects
 *   record.c     Icecore::Record
 *   policy*.c    which classes may be built: policy.h
 *   nested.c     checks Marshal data in the payloads of hooks: nested.h
 *   dates.c      the data that Date._load would read
 *   classes.c    classes by the engine's ids
 *   build*.c     the engine's tape to Ruby's values: build.h
 *   walk*.c      Ruby's values to the engine's tape: walk.h
 *   stages.c     stages of Marshal
 *   documents.c  one document, read or written by a stage
 *
 * The collector: it finds values on the machine's stack itself. Values in the memory of
 * a context are marked by context.c during a call, and marked values are never moved.
 * Everything that a context knows from earlier calls is forgotten when the collector
 * runs.
 *
 * Exceptions leave C by a jump. A context is given back by rb_ensure, so nothing leaks,
 * whatever foreign code does. */
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

/* Up to 3.1 an object has its instance variables in a row whose order belongs to its
 * class. */
#if RUBY_API_VERSION_CODE < 30200
#  define ICE_HAS_ROWS 1
#else
#  define ICE_HAS_ROWS 0
#endif

/* Default depth limit for reading. */
#define ICE_USUAL_DEPTH 100000

/* ---- Ruby's own functions ------------------------------------------------- */

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
/* The same for methods of libraries that are loaded on demand: Date#marshal_load,
 * BigDecimal._load. */
VALUE ice_date_load(VALUE date, VALUE fields);
VALUE ice_decimal_load(VALUE text);
/* Returns a class of a standard library, which is loaded first if necessary. */
VALUE ice_library_class(const char *library, const char *name);

/* Whether Marshal freezes a string again when a link refers to it. */
extern bool ice_freezes_links;
/* Flags of a hash: with a default procedure, or marked by ruby2_keywords. */
extern VALUE ice_hash_has_proc, ice_hash_is_keywords;
bool ice_hash_by_identity(VALUE hash);
/* Returns the entries of a small hash in its own memory; deleted ones have an undefined
 * key. NULL: it is not small, or this Ruby has another layout. Valid until a Ruby
 * function is called. */
const VALUE *ice_hash_pairs(VALUE hash, uint32_t *bound);
/* Returns the default value; for a hash with a default procedure, something that is not
 * nil. */
VALUE ice_hash_default(VALUE hash);
/* Returns the Array that Marshal makes of a Thread::Backtrace. */
VALUE ice_backtrace(VALUE backtrace);
void ice_originals_init(void);

/* ---- places of instance variables ------------------------------------------ */

#define ICE_ROW 32    /* at most this many variables are found by their places */
#define ICE_PLACES 64 /* and at most this many places */

/* A variable of a class's objects, in Ruby's order. */
typedef struct {
    ID id;
    uint16_t place; /* in the row */
    uint16_t key;   /* the engine's key id, if it was requested */
} ice_slot_of;

typedef struct {
    bool is_known;  /* otherwise the places are unknown, or useless */
    uint8_t count;
    uint8_t widest; /* the variable with the last place */
    uint16_t width; /* number of places that the variables need */
    ice_slot_of slots[ICE_ROW];
    uint8_t at_place[ICE_PLACES]; /* index of the variable at each place, plus 1; 0: unknown */
} ice_row;

/* Learns the row of a class from an object of it; `row` contains what was learned
 * before. */
void ice_row_learn(ice_row *row, VALUE object);

/* ---- classes ---------------------------------------------------------------- */

/* How objects of a class are built. */
enum {
    ICE_UNKNOWN,      /* not checked yet */
    ICE_OBJECT_OF,    /* an object with variables */
    ICE_EXCEPTION_OF, /* the same, and Marshal stores where it was raised */
    ICE_RANGE_OF,     /* Range, or a subclass */
    ICE_SET_OF,
    ICE_TIME_OF,
    ICE_DATE_OF,
    ICE_RATIONAL_OF,
    ICE_COMPLEX_OF,
    ICE_DECIMAL_OF,
    ICE_OTHER_OF,     /* has hooks, or can't be built */
    ICE_RECORD_OF     /* an Icecore::Record */
};

#define ICE_MOST_NAME 512 /* bytes of a new name of a class */
#define ICE_STEPS 4

/* A class by its id in a context. */
typedef struct {
    VALUE klass;               /* 0: not looked up */
    ID steps[ICE_STEPS];       /* the constants that lead to it, if they all fit; 0: end */
    uint32_t found;            /* the call in which it was looked up */
    rb_alloc_func_t allocate;  /* of ICE_OBJECT_OF */
    uint32_t call;             /* the call that the verdict belongs to */
    uint8_t verdict;
    uint64_t edition;          /* of the rules that allow it; 0: ask */
    bool is_own;               /* one of Ruby's own classes, in Ruby's own form */
    uint8_t own;               /* which one, a value of `how` */
    uint8_t how;
    ice_row *row;              /* or NULL */
    uint16_t keys[ICE_ROW];    /* of the last object: ids of its keys, and their places */
    uint8_t places[ICE_ROW];
} ice_class;

/* A class whose objects are written. */
typedef struct ice_written {
    VALUE klass;     /* the class of objects, may be a singleton class */
    VALUE real;
    uint32_t id;     /* the engine's id; 0: not requested */
    uint32_t call;   /* the call that the rest belongs to */
    bool has_marshal_dump, has_dump;
    bool is_asked;   /* its objects decide themselves whether they have these */
    bool is_plain;   /* none of these, and not a singleton class */
    ID steps[ICE_STEPS]; /* the constants that lead to it, as in ice_class */
    bool is_checked; /* in this call: its name leads to it */
    bool was_seen;   /* an object of it was written before */
    uint32_t row_call; /* the call in which the order of the row was verified */
    ice_row *row;    /* owned by the context; or NULL. Never changed, only replaced */
    struct ice_written *base; /* of a singleton class, which is not kept: its base class */
} ice_written;

/* ---- contexts ---------------------------------------------------------------- */

/* A container that is being built: build.c has the kinds. */
typedef struct {
    uint8_t kind;
    bool is_shared;  /* a link refers to it, so its contents are added at once */
    bool is_partial; /* something around it completes it */
    bool is_said;    /* of modules and classes around a string with an encoding: the encoding is
                      * outside of them, and completes them */
    uint32_t node;
    uint32_t end;
    uint32_t base;   /* where its values begin */
    VALUE object;    /* or 0 */
    VALUE klass;     /* the class or the module of the frame; or 0 */
    ice_class *class;
} ice_build_frame;

/* A container that is being walked: walk.c has the kinds. */
typedef struct {
    uint8_t kind;
    uint16_t key;    /* of the next value */
    uint32_t wraps;  /* number of nodes before `node` that end where it ends */
    uint32_t node;
    uint32_t at;     /* the next child */
    uint32_t count;
    uint32_t base;   /* where its values begin */
    long limit;      /* number of levels that may still follow; negative: no limit */
    VALUE object;
    VALUE extra;     /* what its kind needs */
    ice_row *row;
} ice_walk_frame;

#define ICE_NEAR_WRITTEN 64 /* a power of two */

typedef struct ice_context ice_context;
struct ice_context {
    ice_warm warm;
    ice_context *next;        /* list of all contexts: the struct is never freed, because a
                               * continuation may return to it */
    bool is_busy;
    bool knows;               /* something must be forgotten when the collector runs */
    ice_keys keys;            /* symbols and interned strings by id */
    uint32_t call;
    VALUE *values;            /* marked while the context is busy */
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
    ice_written singleton;    /* the last one: each belongs to one object */
    ice_row **rows;           /* of objects that are written, until the call ends */
    uint32_t row_count, row_room;
    ice_written *near_written[ICE_NEAR_WRITTEN]; /* by the address of the class */
};

ice_context *ice_checkout(void);
/* Gives back the context of a call, unless a continuation did that before. */
void ice_checkin(ice_context *ctx, uint32_t call);
/* Called after foreign code. Raises if a continuation returned to a call that has ended. */
static inline void ice_check_call(const ice_context *ctx, uint32_t call);
NORETURN(void ice_reentered(void));
/* Stores a value where the collector finds it. */
static inline void ice_push_value(ice_context *ctx, VALUE value);
void ice_more_values(ice_context *ctx, uint32_t more);
/* Forget keys and classes, if the engine has forgotten them. */
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

/* Rules for classes of one call. */
typedef struct {
    VALUE list;      /* an Array of names and patterns; Qnil: none given */
    VALUE exact;     /* a Hash of names that contain a `*`; or Qnil */
    VALUE classes;   /* an Array of classes whose names are not in `list` yet; or Qnil */
    icecore_class_map *rename; /* or NULL; freed by ice_allowed_end */
    uint32_t word;   /* one of icecore_otherwise */
    bool has_rails;
    uint64_t edition; /* of these rules, if they are cached; or 0 */
    bool is_foreign; /* names in another language's data are checked: `App\User` is `App::User` */
} ice_allowed;

typedef struct {
    ice_allowed classes;
    VALUE proc;      /* or Qnil */
    bool freeze;
    VALUE source;    /* the bytes: held, and unchanged while they are read */
} ice_read_settings;

/* ---- policy ---------------------------------------------------------------------- */

/* Reads the keywords `classes` and `rename`. */
void ice_allowed_begin(ice_allowed *allowed, VALUE classes, VALUE rename);
void ice_allowed_end(ice_allowed *allowed);
/* Checks each class of the document; raises if one is refused. The verdicts are in the
 * context. Returns whether foreign code may run when the document is built. `said`
 * receives the warnings, or nil. */
bool ice_policy_check(ice_context *ctx, const ice_allowed *allowed, VALUE *said);
/* Issues the warnings. This may run code of the program. */
void ice_policy_say(VALUE said);
/* Like ice_policy_check, for the names in data of another language, a Hash of names and
 * paths. */
void ice_policy_check_names(const ice_allowed *allowed, VALUE names);
/* Returns the names of the classes of a document that are not allowed, with their paths. */
VALUE ice_policy_refused(ice_context *ctx, const ice_allowed *allowed);
/* Returns those of `names` that are not allowed. */
VALUE ice_policy_refused_names(const ice_allowed *allowed, VALUE names);
/* Whether classes or modules of this name become records. */
bool ice_policy_is_record(const ice_allowed *allowed, const char *name, size_t len);
/* Allows a class, a name, a pattern or a word for the whole process. */
void ice_policy_allow(VALUE class);
void ice_policy_init(void);
/* Called when the collector runs: another class may get the address of a known one. */
void ice_policy_forget(void);

/* ---- classes ------------------------------------------------------------------------ */

/* Returns the place for the class with this id of the engine in a context. */
ice_class *ice_class_slot(ice_context *ctx, uint32_t id);
/* Returns the class with this id of the engine, looked up as Ruby does; raises as Ruby
 * does. */
ice_class *ice_class_of(ice_context *ctx, const ice_allowed *allowed, uint32_t id);
/* Returns a class or module by its name; `steps` receives the constants, unless it is
 * NULL. */
VALUE ice_class_at(const char *name, size_t len, bool is_text, ID *steps);
/* Whether constants still lead to the class. */
bool ice_class_is_at(VALUE klass, const ID *steps);
/* Returns a class or module by its name in the data. */
VALUE ice_class_named(const ice_allowed *allowed, const char *name, size_t len, bool is_text);

/* ---- records -------------------------------------------------------------------------- */

extern VALUE ice_record;
VALUE ice_record_new(const char *kind, VALUE name, VALUE value);
VALUE ice_record_kind(VALUE record);
VALUE ice_record_name(VALUE record);
VALUE ice_record_value(VALUE record);
void ice_record_set(VALUE record, VALUE value);
void ice_record_init(void);

/* ---- reading and writing values -------------------------------------------------- */

/* Builds the root of the view. */
VALUE ice_build(ice_context *ctx, const ice_read_settings *settings);
/* Fills the tape with a value; raises if it has more than `limit` levels (negative: no
 * limit). */
void ice_walk(ice_context *ctx, VALUE value, long limit);

/* ---- errors -------------------------------------------------------------------------------- */

extern VALUE ice_module, ice_error, ice_argument_error, ice_type_error, ice_eof_error, ice_runtime_error, ice_zero_division_error,
    ice_class_error;

/* Raises an error of the engine; `bytes` are the data, and `is_stream` tells that they
 * come from an IO. */
NORETURN(void ice_raise_error(const icecore_error *error, const char *bytes, size_t len, bool is_stream));
/* Raises with a message of our own, like rb_raise. */
NORETURN(void ice_raise(VALUE class, const char *kind, const char *path, const char *format, ...));
NORETURN(void ice_raise_message(VALUE class, const char *kind, int64_t offset, const char *path, VALUE message));
void ice_errors_init(void);

#endif
