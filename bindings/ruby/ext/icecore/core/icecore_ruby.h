/* Declarations that all files of the extension share.
 *
 *   common/    code that the modules of all languages share: ../../../common
 *   core/      code that knows no Ruby method: contexts, classes, the walk, the build
 *   formats/   the Ruby methods, a file for each group of them
 *   icecore.c  the methods that Ruby sees
 *
 * Files never call each other in a circle; scripts/modules.sh checks this. In core/:
 *
 *   common.c     includes the shared code, which is compiled here
 *   host.c       functions of Ruby that the shared code needs
 *   original.c   Ruby's own methods, kept from the start
 *   core_set.c   Set where it is a class of Ruby's core
 *   errors.c     exceptions
 *   context.c    contexts that are reused from call to call, and the values that the collector marks
 *   seen.c       the objects that a walk has met, and their nodes
 *   ivar_layout.c  the positions of instance variables inside of objects
 *   record.c     Icecore::Record
 *   policy*.c    which classes may be built: policy.h
 *   nested.c     checks Marshal data in the payloads of hooks: nested.h
 *   dates.c      reads the bytes that Date._load gets
 *   encodings.c  finds the encodings that a document names
 *   classes.c    finds classes by the engine's ids
 *   build*.c     the engine's tape to Ruby's values: build.h
 *   walk*.c      Ruby's values to the engine's tape: walk.h
 *   stages.c     stages of Marshal
 *   documents.c  one document, read or written by a stage
 *
 * Garbage collection: the collector itself finds values on the C stack. context.c marks the values
 * in the memory of a context during a call. It uses rb_gc_mark, which also pins them, so their
 * addresses stay valid. When the collector runs, each idle context drops its cached objects.
 *
 * Exceptions leave C by a jump. Each call runs inside of rb_ensure, which releases the context, so
 * nothing leaks even if foreign code raises. */
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

/* Up to Ruby 3.1 an object has its instance variables in an array (ROBJECT_IVPTR), and its
 * class determines which variable is at which index. */
#if RUBY_API_VERSION_CODE < 30200
#  define ICE_HAS_IVAR_LAYOUTS 1
#else
#  define ICE_HAS_IVAR_LAYOUTS 0
#endif

/* Returns true if a value that is not a plain object may have instance variables. In Ruby 4.0 no flag tells this, and
 * RUBY_FL_EXIVAR is 0. */
#define ICE_MAY_HAVE_VARIABLES(value) \
    (RUBY_FL_EXIVAR ? RB_FL_ANY_RAW(value, RUBY_FL_EXIVAR) != 0 : rb_ivar_count(value) > 0)

/* Limit of the depth of data that is read, unless `max_depth` is given. */
#define ICE_DEFAULT_MAX_DEPTH 100000

/* ---- Ruby's own functions ------------------------------------------------- */

/* Methods of core classes as they were when the extension was loaded. */
typedef enum {
    ICE_TIME_LOAD,          /* Time._load */
    ICE_RANGE_INITIALIZE,   /* Range#initialize */
    ICE_HASH_DEFAULT,       /* Hash#default */
    ICE_HASH_BY_IDENTITY,   /* Hash#compare_by_identity? */
    ICE_HASH_MAKE_IDENTITY, /* Hash#compare_by_identity */
    ICE_BACKTRACE,          /* Exception#backtrace */
    ICE_ANCESTORS,          /* Module#ancestors */
    ICE_INSTANCE_METHODS,   /* Module#instance_methods */
    ICE_PRIVATE_METHODS,    /* Module#private_instance_methods */
    ICE_IS_SINGLETON,       /* Module#singleton_class? */
    ICE_SET_ITEMS,          /* Set#to_a; this one and the next three only if Set is a core class */
    ICE_SET_MERGE,          /* Set#merge */
    ICE_SET_BY_IDENTITY,    /* Set#compare_by_identity? */
    ICE_SET_MAKE_IDENTITY,  /* Set#compare_by_identity */
    ICE_ORIGINAL_COUNT      /* number of methods in this list */
} ice_original;

/* Calls one of these methods on `self`. */
VALUE ice_call_original(ice_original which, VALUE self, int argc, const VALUE *argv);
/* Adds an instance method of a class to the list. */
void ice_originals_add(ice_original which, VALUE class, const char *name);
/* Returns the bytes that Ruby's own Marshal.dump returns. */
VALUE ice_original_dump(VALUE value);
/* Calls Date#marshal_load or BigDecimal._load; loads the library first if necessary. */
VALUE ice_date_load(VALUE date, VALUE fields);
VALUE ice_decimal_load(VALUE text);
/* Returns a class of a standard library. Loads the library first if necessary. */
VALUE ice_library_class(const char *library, const char *name);

/* True if Marshal freezes a string again at each link to it, as some versions do. */
extern bool ice_freezes_linked_strings;
/* True if Marshal freezes what _load returns for a string without variables, as later versions do. */
extern bool ice_freezes_bare_dumps;
/* True if Marshal writes the encoding of the name of a class that is a value, as later versions do. */
extern bool ice_names_have_encodings;
/* Flags of an RHash: it has a default procedure; it is marked by ruby2_keywords. Both are
 * found at run time, because no header has them. */
extern VALUE ice_hash_has_proc, ice_hash_is_keywords;
bool ice_hash_compares_by_identity(VALUE hash);
/* Returns the keys and values of a small hash in its own memory: a key, its value, the next
 * key, and so on. `bound` receives the number of entries, including deleted ones, whose key
 * is Qundef. Returns NULL if the hash is not small, or if this Ruby stores hashes
 * differently. The result is valid until a Ruby function is called. */
const VALUE *ice_small_hash_entries(VALUE hash, uint32_t *bound);
/* Returns the default value of a hash. If the hash has a default procedure, the result is
 * unspecified, but not nil. */
VALUE ice_hash_default(VALUE hash);
/* Returns the Array that Marshal makes of a Thread::Backtrace. */
VALUE ice_backtrace(VALUE backtrace);
void ice_originals_init(void);

/* ---- core_set.c ------------------------------------------------------------- */

/* Finds out if Set is a core class, as in Ruby 4.0. Its objects then have no variable @hash, but in a dump
 * they have one, as all sets of earlier versions. */
void ice_core_set_init(void);
/* Returns true for Set and its subclasses if Set is a core class. */
bool ice_is_core_set_class(VALUE klass);
/* Returns a new Hash with the items of a set as its keys, as in a dump. */
VALUE ice_core_set_hash(VALUE set);
/* Adds the items of a Hash from a dump to a set. Raises if `hash` is not such a Hash. */
void ice_core_set_fill(VALUE set, VALUE hash);

/* ---- indexes of instance variables ----------------------------------------- */

#define ICE_MAX_LAYOUT_IVARS 32 /* a class with more variables has no layout */
#define ICE_MAX_LAYOUT_WIDTH 64 /* nor has a class with a variable at this index or a higher one */

/* A variable in the objects of a class. */
typedef struct {
    ID id;
    uint16_t index; /* in ROBJECT_IVPTR */
    uint16_t key;   /* the engine's key id; 0 until it is requested */
} ice_layout_ivar;

/* Where the objects of a class have their variables. */
typedef struct {
    bool is_known;     /* false: the indexes are unknown, or can't be used */
    uint8_t count;     /* number of variables */
    uint8_t last_ivar; /* position in `ivars` of the variable with the highest index */
    uint16_t width;    /* the highest index plus 1 */
    ice_layout_ivar ivars[ICE_MAX_LAYOUT_IVARS]; /* in the order in which Ruby lists them */
    uint8_t ivar_at_index[ICE_MAX_LAYOUT_WIDTH]; /* for each index: a position in `ivars` plus 1; 0: unknown */
} ice_ivar_layout;

/* Learns the layout of a class from one of its objects, and keeps the variables that
 * `layout` already contains. */
void ice_ivar_layout_learn(ice_ivar_layout *layout, VALUE object);

/* ---- classes ---------------------------------------------------------------- */

/* Kinds of classes: how their objects are built. */
enum {
    ICE_CLASS_UNKNOWN,   /* not determined yet; as `builtin_kind`: not one of Ruby's own classes */
    ICE_CLASS_OBJECT,    /* an object with instance variables */
    ICE_CLASS_EXCEPTION, /* like ICE_CLASS_OBJECT, but Marshal also stores the backtrace */
    ICE_CLASS_RANGE,     /* Range, or a subclass */
    ICE_CLASS_SET,
    ICE_CLASS_TIME,
    ICE_CLASS_DATE,      /* Date or DateTime */
    ICE_CLASS_RATIONAL,
    ICE_CLASS_COMPLEX,
    ICE_CLASS_DECIMAL,   /* BigDecimal */
    ICE_CLASS_OTHER      /* has hooks, or can't be built */
};

#define ICE_MAX_CLASS_NAME 512 /* maximum length in bytes of a new name in `rename` */
#define ICE_MAX_CONSTANTS 4    /* maximum depth of a class path that is cached: A::B::C::D */

/* A class that a document names. A context finds it by the engine's id of the class. */
typedef struct {
    VALUE klass;             /* 0 until it is looked up */
    ID constants[ICE_MAX_CONSTANTS]; /* the path to the class, 0 after its end; empty if it is too long */
    uint32_t looked_up_call; /* the call in which it was looked up */
    rb_alloc_func_t allocate; /* set for ICE_CLASS_OBJECT */
    uint32_t verdict_call;   /* the call that the verdict belongs to */
    uint8_t verdict;         /* one of icecore_verdict */
    uint64_t rules_edition;  /* edition of the rules that allow it; 0: they must be checked again */
    bool is_builtin;         /* one of Ruby's own classes, in the form in which Ruby writes it */
    uint8_t builtin_kind;    /* its kind if `is_builtin` */
    uint8_t kind;            /* one of ICE_CLASS_... */
    ice_ivar_layout *layout; /* or NULL */
    uint16_t last_keys[ICE_MAX_LAYOUT_IVARS];   /* the key ids of the last object that was built */
    uint8_t last_indexes[ICE_MAX_LAYOUT_IVARS]; /* for each of these keys: the variable's index */
} ice_class;

/* A class whose objects are written. */
typedef struct ice_written_class {
    VALUE klass;        /* the class of the objects; may be a singleton class */
    VALUE real_class;   /* `klass` without singleton classes */
    uint32_t id;        /* the engine's id; 0 until it is requested */
    uint32_t call;      /* the call in which the following fields were determined */
    bool has_marshal_dump, has_dump;
    bool is_decided_by_object; /* the class overrides respond_to?, so each object is asked for its hooks */
    bool is_plain;      /* no hooks, and not a singleton class */
    ID constants[ICE_MAX_CONSTANTS]; /* the path to the class, as in ice_class */
    bool is_checked;    /* in this call it was verified that the class's name leads to it */
    bool was_written_before; /* an object of the class was written before */
    uint32_t layout_call;    /* the call in which the order of the layout was verified */
    ice_ivar_layout *layout; /* owned by the context, or NULL; never changed, only replaced */
    struct ice_written_class *base_class; /* the entry of `real_class` if `klass` is a singleton class, or NULL */
} ice_written_class;

/* ---- contexts ---------------------------------------------------------------- */

/* A container that is being built. */
typedef struct {
    uint8_t kind;       /* one of ICE_BUILD_...: build.h */
    bool is_shared;     /* a link refers to it, so its contents are added at once */
    bool is_partial;    /* a container around it completes the value; Marshal finishes it there */
    bool declares_encoding; /* for modules and classes around a string that declares an encoding: the
                             * declaration is outside of them, and completes them */
    uint32_t node;
    uint32_t end;       /* the node after its contents */
    uint32_t base;      /* where its contents begin in the context's `values` */
    VALUE object;       /* the value if it exists already, or 0 */
    VALUE klass;        /* for ICE_BUILD_MODULE and ICE_BUILD_SUBCLASS: the module or the class, or 0 */
    ice_class *class;
} ice_build_frame;

/* A container that is being walked. */
typedef struct {
    uint8_t kind;           /* one of ICE_WALK_...: walk_frames.h */
    uint16_t key;           /* key id of the next value */
    uint32_t wrapper_count; /* number of wrappers directly before `node`, which end where it ends */
    uint32_t node;
    uint32_t next_child;    /* number of the next child; keys and values of a hash count separately; for
                             * ICE_WALK_LAYOUT the position of the next variable in the layout */
    uint32_t count;         /* number of children or entries */
    uint32_t put_count;     /* for ICE_WALK_LAYOUT: number of variables that were put */
    uint32_t base;          /* where its contents begin in the context's `values` */
    long limit;             /* number of levels that may still follow; negative: no limit */
    VALUE object;
    VALUE extra_value;      /* the default value of a hash; the names of a Struct's members; the result of a
                             * hook; the value in a record */
    ice_ivar_layout *layout; /* for ICE_WALK_LAYOUT */
} ice_walk_frame;

#define ICE_WRITTEN_CACHE_SIZE 64 /* must be a power of two */

typedef struct ice_context ice_context;
struct ice_context {
    ice_pooled_context pooled;
    ice_context *next;        /* the list of all contexts. The struct is never freed, because a
                               * continuation may return to it */
    bool is_busy;             /* in use by a call */
    bool has_cached_objects;  /* the context must drop objects when the collector runs */
    ice_keys keys;            /* symbols and interned strings by id */
    uint32_t call;            /* number of the call that uses it, unique in the process */
    VALUE *values;            /* a stack; the collector marks it while the context is busy */
    uint32_t value_count, value_capacity;
    /* reading */
    icecore_view view;
    ice_class *classes;       /* by the engine's id */
    uint32_t class_capacity, class_generation;
    ice_build_frame *build_frames;
    uint32_t build_depth, build_capacity;
    ice_map target_indexes;   /* from targets of links to indexes in `targets` */
    VALUE *targets;
    uint32_t target_count, target_capacity;
    /* writing */
    icecore_tape tape;
    ice_walk_frame *walk_frames;
    uint32_t walk_depth, walk_capacity;
    bool ran_hooks;           /* a hook ran in this call */
    ice_seen seen;
    ice_map written_class_indexes;      /* from classes to indexes in `written_classes` */
    ice_written_class **written_classes;
    uint32_t written_count, written_capacity;
    ice_written_class singleton_class;  /* only the last one is kept, because each belongs to one object */
    ice_ivar_layout **layouts;          /* layouts of classes whose objects are written; owned */
    uint32_t layout_count, layout_capacity;
    ice_written_class *written_class_cache[ICE_WRITTEN_CACHE_SIZE]; /* by the address of the class */
};

/* Returns a context for a new call. */
ice_context *ice_context_acquire(void);
/* Returns the context of a call to the pool. Does nothing if that was done before, as after
 * a continuation. */
void ice_context_release(ice_context *ctx, uint32_t call);
/* Must be called after foreign code. Raises if a continuation returned to a call that has
 * ended, because its context then belongs to another call. */
static inline void ice_check_call(const ice_context *ctx, uint32_t call);
NORETURN(void ice_raise_reentered(void));
/* Pushes a value to the stack of values, which the collector marks. */
static inline void ice_push_value(ice_context *ctx, VALUE value);
/* Makes room for `more` additional values. */
void ice_reserve_values(ice_context *ctx, uint32_t more);
/* Drop all cached keys or classes if the engine has reused its ids since. */
void ice_renew_keys(ice_context *ctx, uint32_t generation);
void ice_renew_classes(ice_context *ctx, uint32_t generation);
void ice_context_init(void);

static inline void
ice_check_call(const ice_context *ctx, uint32_t call)
{
    if (ICE_UNLIKELY(ctx->call != call || !ctx->is_busy))
        ice_raise_reentered();
}

static inline void
ice_push_value(ice_context *ctx, VALUE value)
{
    if (ICE_UNLIKELY(ctx->value_count == ctx->value_capacity))
        ice_reserve_values(ctx, 1);
    ctx->values[ctx->value_count++] = value;
}

/* Like ice_renew_keys, but quick if nothing changed. */
static inline void
ice_check_key_generation(ice_context *ctx, uint32_t generation)
{
    if (ICE_UNLIKELY(ctx->keys.generation != generation))
        ice_renew_keys(ctx, generation);
}

/* ---- settings ------------------------------------------------------------------ */

/* Which classes one call may build. */
typedef struct {
    VALUE names;          /* an Array of names and patterns, or Qnil */
    VALUE exact_names;    /* a Hash whose keys are names that contain a `*`, or Qnil */
    VALUE cached_classes; /* an Array of classes whose names are not in `names` yet, or Qnil */
    icecore_class_map *rename; /* owned, or NULL */
    uint32_t otherwise;   /* one of icecore_otherwise: what happens to all other classes */
    bool has_rails;       /* the classes that Rails needs are allowed */
    uint64_t edition;     /* number of these rules if they are cached, otherwise 0 */
    bool is_foreign;      /* the names are those of another language: `App\User` is `App::User` */
} ice_class_rules;

typedef struct {
    ice_class_rules rules;
    VALUE proc;      /* or Qnil */
    bool freeze;
    VALUE source;    /* a String with the bytes. It must not change while they are read */
} ice_read_settings;

/* ---- policy ---------------------------------------------------------------------- */

/* Sets the rules from the keywords `classes` and `rename`. */
void ice_class_rules_init(ice_class_rules *rules, VALUE classes, VALUE rename);
void ice_class_rules_free(ice_class_rules *rules);
/* Checks each class of the document; raises if one is refused. The context receives the
 * verdicts, `warnings` an Array of messages or nil. Returns true if foreign code may run
 * when the document is built. */
bool ice_policy_check(ice_context *ctx, const ice_class_rules *rules, VALUE *warnings);
/* Issues the warnings. This may run code of the program. */
void ice_policy_issue_warnings(VALUE warnings);
/* Like ice_policy_check, for data of another language: `names` is a Hash from names to
 * paths. */
void ice_policy_check_names(const ice_class_rules *rules, VALUE names);
/* Returns a Hash from the names of refused classes to their first paths. */
VALUE ice_policy_refused(ice_context *ctx, const ice_class_rules *rules);
/* Returns the entries of `names` whose class is refused. */
VALUE ice_policy_refused_names(const ice_class_rules *rules, VALUE names);
/* Returns true if objects of this class or module become records. */
bool ice_policy_is_record(const ice_class_rules *rules, const char *name, size_t len);
/* Allows a class, a name, a pattern or a word (:any, :rails …) for the whole process. */
void ice_policy_allow(VALUE class);
void ice_policy_init(void);
/* Must be called when the collector runs, because another class may get the address of a
 * cached one. */
void ice_policy_forget_classes(void);

/* ---- encodings ------------------------------------------------------------------------ */

/* Returns the encoding of a string. If Ruby has no encoding of that name, returns NULL, and
 * `name` receives the name. */
rb_encoding *ice_encoding_of(const icecore_view *view, const icecore_node *node, VALUE *name);
/* Returns the encoding of the name of a class; `name` is its node in the table of classes. */
rb_encoding *ice_class_name_encoding(const icecore_view *view, const icecore_node *name);

/* ---- classes ------------------------------------------------------------------------ */

/* Returns the entry of the class with this id of the engine; the entry may be empty. */
ice_class *ice_class_entry(ice_context *ctx, uint32_t id);
/* Returns the entry of the class with this id of the engine, after looking the class up as
 * Marshal does. Raises what Marshal raises. */
ice_class *ice_class_by_id(ice_context *ctx, const ice_class_rules *rules, uint32_t id);
/* Returns a class or module by its name. `constants` receives the path to it, unless it is
 * NULL. */
VALUE ice_look_up_class(const char *name, size_t len, rb_encoding *encoding, ID *constants);
/* Returns true if the path still leads to the class. */
bool ice_constants_lead_to(VALUE klass, const ID *constants);
/* Returns a class or module by its name in the data, which `rename` may change. */
VALUE ice_look_up_renamed_class(const ice_class_rules *rules, const char *name, size_t len, rb_encoding *encoding);

/* ---- records -------------------------------------------------------------------------- */

extern VALUE ice_record;
VALUE ice_record_new(const char *kind, VALUE name, VALUE value);
VALUE ice_record_kind(VALUE record);
VALUE ice_record_name(VALUE record);
VALUE ice_record_value(VALUE record);
void ice_record_set(VALUE record, VALUE value);
void ice_record_init(void);

/* ---- reading and writing values -------------------------------------------------- */

/* Builds the value of the document in the context's view. */
VALUE ice_build(ice_context *ctx, const ice_read_settings *settings);
/* Writes a value to the context's tape. Raises if it has more than `limit` levels. If `limit` is
 * negative, any number of levels is allowed. */
void ice_walk(ice_context *ctx, VALUE value, long limit);

/* ---- errors -------------------------------------------------------------------------------- */

extern VALUE ice_module, ice_error, ice_argument_error, ice_type_error, ice_eof_error, ice_runtime_error,
    ice_zero_division_error, ice_class_error;

/* Raises an error of the engine. `bytes` is the data, or NULL; `is_stream` is true if it comes
 * from an IO. */
NORETURN(void ice_raise_error(const icecore_error *error, const char *bytes, size_t len, bool is_stream));
/* Raises an exception with a formatted message, like rb_raise. `kind` and `path` are the
 * attributes of the exception. */
NORETURN(void ice_raise(VALUE class, const char *kind, const char *path, const char *format, ...));
NORETURN(void ice_raise_message(VALUE class, const char *kind, int64_t offset, const char *path, VALUE message));
void ice_errors_init(void);

#endif
