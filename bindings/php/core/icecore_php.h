/* Declarations that all files of the module share.
 *
 *   common/    pieces that the modules of all languages share: ../common
 *   core/      code that knows no PHP function: contexts, classes, the walk, the build
 *   formats/   the PHP functions, a file for each group of them
 *   plugs/     plugs for serializers in PHP: sessions, APCu, the global names
 *   icecore.c  the functions that PHP sees
 *
 * A file calls only files below it in this list; scripts/modules.sh checks it. In core/:
 *
 *   common.c     the common pieces, compiled here
 *   host.c       what the common pieces need from PHP
 *   memory.c     counts the engine's memory in memory_limit
 *   errors.c     exceptions, and PHP's own warnings
 *   context.c    warm contexts: memory and caches; the end of the request
 *   policy.c     which classes may be built
 *   classes.c    classes by the engine's ids: how each is built and walked
 *   scan.c       names of classes in a text that only a class can read; pieces of PHP text
 *   hooks.c      calls of methods of a class that freeze and thaw
 *   build*.c     the engine's tape to PHP's values: build.h
 *   walk*.c      PHP's values to the engine's tape: walk.h
 *   stages.c     the stages that the module needs
 *   payloads.c   data that classes froze themselves, checked before they receive it
 *   documents.c  one document, read or written by a stage
 */
#ifndef ICECORE_PHP_H
#define ICECORE_PHP_H

#ifdef HAVE_CONFIG_H
#  include "config.h"
#endif
#include "php.h"
#include "common/ice_keys.h"
#include "common/ice_map.h"
#include "common/ice_message.h"
#include "common/ice_pool.h"
#include "common/ice_stack.h"
#include "common/ice_tape.h"
#include "common/ice_view.h"
#include "icecore.h"
#include "zend_exceptions.h"
#include "zend_smart_str.h"

/* Name of a type in PHP's errors. */
#if PHP_VERSION_ID >= 80300
#  define ice_type_of zend_zval_value_name
#else
#  define ice_type_of zend_zval_type_name
#endif

/* Whether PHP's heap exceeded memory_limit in this call, in a PHP that raises its error
 * when a function returns. Then the call ends as if there were an exception. */
#ifdef ZEND_HAS_OOM
#  define ICE_IS_OUT_OF_MEMORY ZEND_HAS_OOM()
#else
#  define ICE_IS_OUT_OF_MEMORY 0
#endif

/* ---- classes ----------------------------------------------------------- */

/* How an object is built. */
enum {
    ICE_UNKNOWN,  /* not looked up yet */
    ICE_SLOTS,    /* declared properties are written to their slots */
    ICE_TABLE,    /* as PHP does it: through its table of properties */
    ICE_ARRAY,    /* an array is built for __unserialize */
    ICE_RECORD_OF /* an Icecore\Record */
};

/* A declared property of a class, by the id of its key. */
typedef struct {
    uint16_t key;
    uint32_t offset;          /* in the object */
    zend_property_info *type; /* NULL: untyped */
} ice_property;

/* A class by its id in a context. Valid until the request ends or the engine forgets its
 * ids. */
typedef struct {
    zend_class_entry *ce;     /* NULL: not looked up, or not found */
    zend_string *name;        /* as in the data; held */
    ice_property *properties; /* in the order of the last object */
    uint32_t property_count, property_room;
    uint32_t call;            /* the call that the verdict belongs to */
    uint32_t rules;           /* version of the rules of the verdict, see policy.c; 0: ask */
    uint8_t verdict;          /* ICECORE_ALLOWED, ICECORE_AS_RECORD; ICECORE_REFUSED: incomplete */
    uint8_t how;
    bool has_wakeup;
    bool is_ready;            /* its constants are evaluated, and objects can be made */
} ice_class;

/* A class whose objects were written: the engine's id, and, if it has only its declared
 * properties, their offsets in an object and the ids of their keys; 0: the key needs a
 * node. Valid until the request ends or the engine forgets its ids. */
typedef struct {
    uint32_t offset;
    uint16_t key;
    zend_string *name;
} ice_written_slot;

typedef struct {
    zend_class_entry *ce;
    uint32_t id;
    uint32_t count;
    ice_written_slot *slots; /* or NULL */
} ice_written;

/* ---- contexts ---------------------------------------------------------- */

typedef struct ice_context ice_context;

/* A container that is being built: build.h has the kinds. */
typedef struct {
    uint8_t kind;
    uint32_t node;
    uint32_t end;             /* the node after it */
    uint32_t at;              /* the next node in it */
    uint32_t index;           /* how many are done; of a map: whether a key was a node */
    HashTable *table;
    zend_object *object;
    ice_class *class;
    zval *place;              /* where the value is stored */
    zend_property_info *type; /* the property whose value it is; or NULL */
} ice_build_frame;

/* A small array with keys that was built: the ids of its keys, and its table without the
 * values. Valid until the engine forgets its ids. */
#define ICE_ROW 16  /* entries */
#define ICE_ROWS 32 /* a power of two */

typedef struct {
    HashTable table; /* as a new one is, but for its entries */
    uint32_t count;
    uint16_t keys[ICE_ROW];
    uint32_t next[ICE_ROW];
    uint32_t hash[2 * ICE_ROW];
} ice_row;

/* A value that something else refers to: its node and its place. */
typedef struct {
    uint32_t node;
    zval *place;
    zend_property_info *type; /* the property, while it has no reference; or NULL */
} ice_target;

/* What is done with an object when everything is built. */
enum {
    ICE_FREE,        /* a replaced value is freed */
    ICE_WAKE,        /* __wakeup */
    ICE_UNSERIALIZE, /* __unserialize, with an array */
    ICE_SET_STATE    /* __set_state, with an array; the result goes to a place */
};

typedef struct {
    uint8_t what;
    zval object;
    zval data;
    zval *place;
    zend_class_entry *ce;
} ice_delayed;

/* A container that is being walked; walk.h has the kinds. */
typedef struct {
    uint8_t kind;
    bool is_shared;           /* an array that may be met twice, and its contents */
    bool is_protected;        /* PHP's mark against recursive arrays is set */
    bool has_member;          /* an incomplete object, whose class name is a member */
    bool is_done;             /* no entries are left */
    uint32_t wraps;           /* number of nodes before `node` that end where it ends */
    uint32_t node;
    uint32_t at, count;
    uint32_t total;           /* number of entries that were announced */
    HashTable *table;         /* held */
    zend_object *object;      /* held; or NULL */
} ice_walk_frame;

struct ice_context {
    ice_pooled_context warm;            /* the engine's context, and the next in the pool */
    ice_context *next_busy, *previous_busy;
    ice_keys keys;            /* zend_strings by id, held; ICE_INTEGER for integers */
    uint32_t call;
    /* memory of this call: see memory.h */
    void *ballast;            /* a block of PHP's heap that counts it; or NULL */
    size_t engine_bytes, stack_bytes;
    uint32_t uncounted;       /* or this many bytes, counted in ICE_G(uncounted) */
    bool expands;             /* the input may be compressed */
    /* reading */
    icecore_view view;
    ice_class *classes;
    uint32_t class_room, class_generation;
    ice_build_frame *building;
    uint32_t build_depth, build_room;
    ice_row rows[ICE_ROWS];
    uint32_t row_generation;
    ice_target *targets;
    uint32_t target_count, target_room;
    uint32_t failed;          /* the node that PHP refuses */
    bool failed_behind;       /* PHP notices it after the node */
    ice_delayed *delayed;
    uint32_t delayed_count, delayed_room;
    /* writing */
    icecore_tape tape;
    ice_walk_frame *walking;
    uint32_t walk_depth, walk_room;
    ice_map seen;
    ice_map written_places;   /* class entries to places in `written` */
    ice_written *written;
    uint32_t written_count, written_room;
    uint32_t written_generation;
    const ice_written *near_written[16]; /* without hooks, by address; valid until one is added */
    smart_str text;           /* the text so far, if it is taken in parts */
    zval *held;               /* what must live as long as the call */
    uint32_t held_count, held_room;
};

/* Replaces the string of a key that is an integer. */
#define ICE_INTEGER ((void *)1)

/* Takes a context for the current call. */
ice_context *ice_checkout(void);
/* Gives it back; everything still open in it is released. */
void ice_checkin(ice_context *ctx);
/* Drops everything that the request made, also in contexts that were never given back. */
void ice_contexts_end_request(bool is_unclean);
void ice_context_free(ice_context *ctx);
/* Returns the string of the key with this id, or ICE_INTEGER. */
void *ice_key_of(ice_context *ctx, uint16_t id);
/* Returns the number of a key that is an integer. */
zend_long ice_integer_key(ice_context *ctx, uint16_t id);
void ice_keys_renew(ice_context *ctx, uint32_t generation);
uint16_t ice_new_key_id(ice_context *ctx, zend_string *key);
/* Holds a value until the call ends. */
void ice_hold(ice_context *ctx, zval *value);

static inline void
ice_keys_of(ice_context *ctx, uint32_t generation)
{
    if (UNEXPECTED(ctx->keys.generation != generation))
        ice_keys_renew(ctx, generation);
}

/* Returns the string of a key, or ICE_INTEGER. */
static inline void *
ice_key(ice_context *ctx, uint16_t id)
{
    void *held = ice_keys_get(&ctx->keys, id);
    return EXPECTED(held != NULL) ? held : ice_key_of(ctx, id);
}

/* ---- settings ---------------------------------------------------------- */

/* Rules for classes of one call. */
typedef struct {
    zval *own;                /* the option `classes`: a list or a word; or NULL */
    bool has_list;            /* `allowed_classes` was given, with PHP's meaning */
    bool all;                 /* all classes */
    HashTable *list;          /* the names in lower case; or NULL: none */
    bool as_php;              /* without any list, PHP's default holds: all classes */
    bool is_foreign;          /* another language froze it: `A::B` is `A\B`, and vice versa */
} ice_allowed;

typedef struct {
    ice_allowed classes;
    bool is_igbinary;
    bool by_state;            /* objects are made by __set_state, if their class has it */
    struct ice_scan *wide;    /* the text, if integers in it were cut to 64 bits; or NULL */
} ice_read_settings;

enum {
    ICE_FOR_SERIALIZE,
    ICE_FOR_SESSION,
    ICE_FOR_IGBINARY,
    ICE_FOR_EXPORT
};

/* ---- policy ------------------------------------------------------------ */

/* Reads the options `classes` and `allowed_classes`; if they are invalid, throws and
 * returns false. */
bool ice_allowed_begin(ice_allowed *allowed, HashTable *options, const char *function);
void ice_allowed_end(ice_allowed *allowed);
/* Whether objects of this class become records. */
bool ice_policy_is_record(const ice_allowed *allowed, const char *class, size_t len);
/* Checks each class of the document; if one is refused, throws and returns false. The
 * verdicts are in the context. `opaque` receives whether there are objects that their
 * class froze itself. */
bool ice_policy_check(ice_context *ctx, const ice_allowed *allowed, bool *opaque);
/* The same for names; the value of each is the path of its first place, or null. Allowed
 * names stay. A name with true must be allowed, even where PHP skips disallowed ones (an
 * enum case). */
bool ice_policy_check_names(const ice_allowed *allowed, HashTable *names);
/* The rules of the request and of the process. */
bool ice_policy_allow(zend_string *class);
icecore_rules *ice_policy_rules(const char *text, size_t len);
void ice_policy_end_request(void);

/* ---- classes ----------------------------------------------------------- */

/* Returns the class with this id of the engine. */
ice_class *ice_class_of(ice_context *ctx, uint32_t id);
/* Looks up a class as PHP does, autoloaders included. Returns false if an exception was
 * thrown or PHP refuses the object, with its message. */
bool ice_class_find(ice_class *class);
/* Makes a new object. NULL: an exception was thrown. `is_php`: the data is PHP's own
 * text, which writes an object of a class that freezes itself differently. */
zend_object *ice_class_object(ice_class *class, bool is_php);
void ice_classes_drop(ice_context *ctx);
/* Forgets the classes that were written. */
void ice_written_drop(ice_context *ctx);

/* ---- reading and writing values ---------------------------------------- */

/* Builds the root of the view. False: an exception was thrown, or PHP would fail here,
 * and its message was issued; ice_build_free then frees the rest. */
bool ice_build(ice_context *ctx, const ice_read_settings *settings, zval *root);
/* Frees what was built before a failure, as PHP does it: destructors may run. */
void ice_build_free(ice_context *ctx, zval *root);

typedef enum {
    ICE_WALKED,
    ICE_LEFT_TO_PHP, /* a class freezes itself as text, which only PHP's own serializer can do */
    ICE_LEFT_OFF,    /* a part could not be written */
    ICE_THREW        /* an exception was thrown */
} ice_walked;

/* Fills the tape with a value. `stage`: the writer, which may write parts of it already. */
ice_walked ice_walk(ice_context *ctx, zval *value, uint8_t purpose, const icecore_stage *stage);

/* ---- errors ------------------------------------------------------------ */

extern zend_class_entry *ice_exception, *ice_decode_exception, *ice_encode_exception, *ice_class_exception, *ice_record;

/* Throws an error of the engine. */
void ice_throw_error(zend_class_entry *ce, const icecore_error *error);
void ice_throw(zend_class_entry *ce, const char *kind, int64_t offset, const char *path, zend_string *message);
/* Returns the offset that PHP would report for the error. */
zend_long ice_php_offset(const icecore_error *error);

/* ---- globals ----------------------------------------------------------- */

enum { ICE_STAGES = 12 };

ZEND_BEGIN_MODULE_GLOBALS(icecore)
    ice_pool pool;
    ice_context *busy;
    uint32_t uncounted;       /* bytes of the engine that no block of PHP's heap counts */
    icecore_rules *process;   /* ini icecore.classes; NULL: it is empty */
    icecore_rules *request;   /* Icecore\allow; or NULL */
    uint32_t rules;           /* number of changes of the two */
    zend_string *classes;     /* the ini value */
    bool replace;
    HashTable *reported;      /* classes that this request reported; or NULL */
    icecore_stage *stages[ICE_STAGES]; /* those that functions of this module need */
    icecore_replacer *replacer; /* the last pairs of the request; or NULL */
    icecore_buffer replaced;  /* bytes still to be copied */
    icecore_buffer taken;     /* the same for a conversion */
    zend_long depths[ICE_STAGES];
    uint32_t classes_seen;    /* number of the request's classes that were checked */
    bool has_serializable;    /* one of them freezes itself as text */
    HashTable *payloads;      /* checked payloads of the text that PHP's own reader reads; or NULL */
    uint32_t call;
ZEND_END_MODULE_GLOBALS(icecore)

ZEND_EXTERN_MODULE_GLOBALS(icecore)
#define ICE_G(field) ZEND_MODULE_GLOBALS_ACCESSOR(icecore, field)

#if defined(ZTS) && defined(COMPILE_DL_ICECORE)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif
