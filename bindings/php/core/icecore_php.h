/* What all files of the module share.
 *
 *   common/    what every language's module has: ../common
 *   core/      what knows no function of PHP's: contexts, classes, the walk, the build
 *   formats/   the functions, a file for each group of them
 *   plugs/     where PHP programs plug serializers in: sessions, APCu, the global names
 *   icecore.c  what PHP sees
 *
 * A file calls what stands below it only; scripts/modules.sh checks it. In core/:
 *
 *   common.c     the common pieces, compiled here
 *   host.c       what they need of PHP
 *   memory.c     the engine's memory in memory_limit
 *   errors.c     exceptions, and what PHP itself would warn of
 *   context.c    warm contexts: memory and caches; what ends with the request
 *   policy.c     which classes may be built
 *   classes.c    classes by the engine's ids: how each is built and walked
 *   scan.c       names of classes in a text that only a class can read; pieces of PHP's text
 *   hooks.c      calls of methods that a class has for this
 *   build*.c     the engine's tape to PHP's values: build.h
 *   walk*.c      PHP's values to the engine's tape: walk.h
 *   stages.c     the stages that the module needs
 *   payloads.c   what classes froze themselves, checked before they get it
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

/* A type as PHP's errors say it. */
#if PHP_VERSION_ID >= 80300
#  define ice_type_of zend_zval_value_name
#else
#  define ice_type_of zend_zval_type_name
#endif

/* Whether PHP's heap went beyond memory_limit in this call, in a PHP that raises its error when a function returns: then
 * the call ends as if there was an exception. */
#ifdef ZEND_HAS_OOM
#  define ICE_IS_OUT_OF_MEMORY ZEND_HAS_OOM()
#else
#  define ICE_IS_OUT_OF_MEMORY 0
#endif

/* ---- what a class is --------------------------------------------------- */

/* How an object is built. */
enum {
    ICE_UNKNOWN,  /* not looked up yet */
    ICE_SLOTS,    /* declared properties are written to their slots */
    ICE_TABLE,    /* as PHP does it: by its table of properties */
    ICE_ARRAY,    /* an array is built for __unserialize */
    ICE_RECORD_OF /* an Icecore\Record */
};

/* A declared property of a class, by the id of its key. */
typedef struct {
    uint16_t key;
    uint32_t offset;          /* in the object */
    zend_property_info *type; /* NULL: it has none */
} ice_property;

/* A class by its id in a context. What it says is true until the request ends or the
 * engine forgets its ids. */
typedef struct {
    zend_class_entry *ce;     /* NULL: not looked up, or not there */
    zend_string *name;        /* as the data has it; held */
    ice_property *properties; /* in the order in which the last object had them */
    uint32_t property_count, property_room;
    uint32_t call;            /* of which call the verdict is */
    uint32_t rules;           /* by which rules it is allowed: see policy.c; 0: it is to be asked */
    uint8_t verdict;          /* ICECORE_ALLOWED, ICECORE_AS_RECORD; ICECORE_REFUSED: incomplete */
    uint8_t how;
    bool has_wakeup;
    bool is_ready;            /* its constants are evaluated, and objects can be made */
} ice_class;

/* A class whose objects were written: the engine's id, and of one that has nothing but its
 * declared properties their places in an object, and the ids of their keys; 0: it needs a
 * node. What it says is true until the request ends or the engine forgets its ids. */
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
    uint32_t end;             /* the node behind it */
    uint32_t at;              /* the next node in it */
    uint32_t index;           /* how many are done; of a map: whether a key was a node */
    HashTable *table;
    zend_object *object;
    ice_class *class;
    zval *place;              /* where the value stands */
    zend_property_info *type; /* of the property that it is the value of; or NULL */
} ice_build_frame;

/* A small array with keys that was built: the ids of its keys, and its table without the
 * values. What it says is true until the engine forgets its ids. */
#define ICE_ROW 16  /* entries */
#define ICE_ROWS 32 /* a power of two */

typedef struct {
    HashTable table; /* as a new one is, but for its entries */
    uint32_t count;
    uint16_t keys[ICE_ROW];
    uint32_t next[ICE_ROW];
    uint32_t hash[2 * ICE_ROW];
} ice_row;

/* A value that something else names: its node, and where it stands. */
typedef struct {
    uint32_t node;
    zval *place;
    zend_property_info *type; /* of the property that has no reference yet; or NULL */
} ice_target;

/* What is done with an object when all is built. */
enum {
    ICE_FREE,        /* what was replaced is freed */
    ICE_WAKE,        /* __wakeup */
    ICE_UNSERIALIZE, /* __unserialize, with an array */
    ICE_SET_STATE    /* __set_state, with an array; what it returns goes to a place */
};

typedef struct {
    uint8_t what;
    zval object;
    zval data;
    zval *place;
    zend_class_entry *ce;
} ice_delayed;

/* A container that is being walked: walk.h has the kinds. */
typedef struct {
    uint8_t kind;
    bool is_shared;           /* an array that may be seen twice, and what is in it */
    bool is_protected;        /* PHP's mark against arrays in themselves is set */
    bool has_member;          /* an incomplete object, whose class name is a member */
    bool is_done;             /* nothing is left in it */
    uint32_t wraps;           /* how many nodes before `node` end where it ends */
    uint32_t node;
    uint32_t at, count;
    uint32_t total;           /* how many entries were announced */
    HashTable *table;         /* held */
    zend_object *object;      /* held; or NULL */
} ice_walk_frame;

struct ice_context {
    ice_warm warm;            /* the engine's context, and the next in the pool */
    ice_context *next_busy, *previous_busy;
    ice_keys keys;            /* zend_strings by id, held; ICE_INTEGER for integers */
    uint32_t call;
    /* what this call takes of memory: see memory.h */
    void *ballast;            /* a block of PHP's heap that counts it; or NULL */
    size_t engine_bytes, stack_bytes;
    uint32_t uncounted;       /* or so much, in ICE_G(uncounted) */
    bool expands;             /* what is read may be compressed */
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
    bool failed_behind;       /* PHP notices behind it */
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
    const ice_written *near_written[16]; /* those without hooks, by address; lent until one is added */
    smart_str text;           /* what was written so far, if it is taken part by part */
    zval *held;               /* what must live as long as the call */
    uint32_t held_count, held_room;
};

/* In the place of the string of a key that is an integer. */
#define ICE_INTEGER ((void *)1)

/* Takes a context for the call that goes on. */
ice_context *ice_checkout(void);
/* Gives it back; what is still open in it is released. */
void ice_checkin(ice_context *ctx);
/* What the request made is dropped, in contexts that were never given back too. */
void ice_contexts_end_request(bool is_unclean);
void ice_context_free(ice_context *ctx);
/* The string of a key with this id, or ICE_INTEGER. */
void *ice_key_of(ice_context *ctx, uint16_t id);
/* The number of a key that is an integer. */
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

/* The string of a key that a node names. */
static inline void *
ice_key(ice_context *ctx, uint16_t id)
{
    void *held = ice_keys_held(&ctx->keys, id);
    return EXPECTED(held != NULL) ? held : ice_key_of(ctx, id);
}

/* ---- settings ---------------------------------------------------------- */

/* What a call says of classes. */
typedef struct {
    zval *own;                /* the option `classes`: a list or a word; or NULL */
    bool has_list;            /* `allowed_classes` was given, and PHP's meaning holds */
    bool all;                 /* all of them */
    HashTable *list;          /* the names in small letters; or NULL: none */
    bool as_php;              /* without any list, PHP's meaning holds: all classes */
    bool is_foreign;          /* another language froze it: `A::B` is `A\B`, and the other way round */
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

/* Reads the options `classes` and `allowed_classes`; throws and says false if they are
 * wrong. */
bool ice_allowed_begin(ice_allowed *allowed, HashTable *options, const char *function);
void ice_allowed_end(ice_allowed *allowed);
/* Whether a record is made of this class. */
bool ice_policy_is_record(const ice_allowed *allowed, const char *class, size_t len);
/* Asks for each class of the document; throws and says false, if one is refused. Verdicts
 * are in the context. `opaque` gets whether there are objects that their class froze. */
bool ice_policy_check(ice_context *ctx, const ice_allowed *allowed, bool *opaque);
/* The same for names, each with the path of its first place or null: those that are allowed
 * stay. One with true must be allowed, also where PHP leaves out what is not (an enum case). */
bool ice_policy_check_names(const ice_allowed *allowed, HashTable *names);
/* The rules of the request and of the process. */
bool ice_policy_allow(zend_string *class);
icecore_rules *ice_policy_rules(const char *text, size_t len);
void ice_policy_end_request(void);

/* ---- classes ----------------------------------------------------------- */

/* The class with this id of the engine. */
ice_class *ice_class_of(ice_context *ctx, uint32_t id);
/* Looks it up as PHP would, by autoloaders too. Says false if an exception was thrown or
 * PHP refuses the object, which it said then. */
bool ice_class_find(ice_class *class);
/* A new object. NULL: an exception was thrown. `is_php`: PHP's own text, in which an object
 * of a class that freezes itself stands otherwise. */
zend_object *ice_class_object(ice_class *class, bool is_php);
void ice_classes_drop(ice_context *ctx);
/* Forgets which classes were written. */
void ice_written_drop(ice_context *ctx);

/* ---- the two ways ------------------------------------------------------ */

/* Builds the root of the view. False: an exception was thrown, or PHP would fail here,
 * and said why; ice_build_free takes what is left. */
bool ice_build(ice_context *ctx, const ice_read_settings *settings, zval *root);
/* Frees what was built up to a failure, as PHP does it: destructors may run. */
void ice_build_free(ice_context *ctx, zval *root);

typedef enum {
    ICE_WALKED,
    ICE_LEFT_TO_PHP, /* a class freezes itself as text, which only PHP's own serializer can do */
    ICE_LEFT_OFF,    /* a part could not be written */
    ICE_THREW        /* an exception */
} ice_walked;

/* Fills the tape with a value. What it will be written with may already write parts of it. */
ice_walked ice_walk(ice_context *ctx, zval *value, uint8_t purpose, const icecore_stage *stage);

/* ---- errors ------------------------------------------------------------ */

extern zend_class_entry *ice_exception, *ice_decode_exception, *ice_encode_exception, *ice_class_exception, *ice_record;

/* Throws what the engine says. */
void ice_throw_error(zend_class_entry *ce, const icecore_error *error);
void ice_throw(zend_class_entry *ce, const char *kind, int64_t offset, const char *path, zend_string *message);
/* Where PHP would say that the text is wrong. */
zend_long ice_php_offset(const icecore_error *error);

/* ---- globals ----------------------------------------------------------- */

enum { ICE_STAGES = 12 };

ZEND_BEGIN_MODULE_GLOBALS(icecore)
    ice_pool pool;
    ice_context *busy;
    uint32_t uncounted;       /* bytes of the engine that no block of PHP's heap counts */
    icecore_rules *process;   /* ini icecore.classes; NULL: it is empty */
    icecore_rules *request;   /* Icecore\allow; or NULL */
    uint32_t rules;           /* how often one of the two was changed */
    zend_string *classes;     /* the ini value */
    bool replace;
    HashTable *reported;      /* classes that this request reported; or NULL */
    icecore_stage *stages[ICE_STAGES]; /* those that functions of this module need */
    icecore_replacer *replacer; /* the request's last pairs; or NULL */
    icecore_buffer replaced;  /* what is still to be copied */
    icecore_buffer taken;     /* the same of a conversion */
    zend_long depths[ICE_STAGES];
    uint32_t classes_seen;    /* how many of the request's classes were looked at, and whether */
    bool has_serializable;    /* one of them freezes itself as text */
    HashTable *payloads;      /* of the text that PHP's own reader has now: they were checked; or NULL */
    uint32_t call;
ZEND_END_MODULE_GLOBALS(icecore)

ZEND_EXTERN_MODULE_GLOBALS(icecore)
#define ICE_G(field) ZEND_MODULE_GLOBALS_ACCESSOR(icecore, field)

#if defined(ZTS) && defined(COMPILE_DL_ICECORE)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif
