/* Declarations that all files of the module share.
 *
 *   common/        code that the modules of all languages share: ../common
 *   core/          code below the PHP functions: contexts, classes, the walk, the build
 *   formats/       the PHP functions, a file for each group of them
 *   registration/  serializers that PHP's sessions and APCu can select; the global names
 *   icecore.c      the functions that PHP sees
 *
 * A file calls only files below it in this list; scripts/modules.sh checks it. In core/:
 *
 *   common.c     compiles the common code as part of this module
 *   host.c       functions that the common code needs from PHP
 *   memory.c     counts the engine's memory in memory_limit
 *   errors.c     exceptions, and PHP's own warnings
 *   losses.c     what a format could not express
 *   context.c    contexts that are reused from call to call; the end of the request
 *   policy.c     which classes may be built
 *   classes.c    classes by the engine's ids: how an object of each is built
 *   scan.c       searches PHP's serialized text without parsing it: class names, payloads
 *   hooks.c      calls of __serialize, __unserialize, __sleep, __wakeup and __set_state
 *   build*.c     the engine's tape to PHP's values: build.h
 *   walk*.c      PHP's values to the engine's tape: walk.h
 *   stages.c     the stages that the module needs
 *   payloads.c   payloads of `C:` objects, checked before their class receives them
 *   checked_text.c  texts for PHP's reader while it reads the document around them
 *   spl_payloads.c  payloads that PHP's own classes read
 *   php_messages.c  PHP's messages about malformed text
 *   read_by_php.c   texts with `C:` objects, read by PHP's own reader
 *   documents.c  one document, read or written by a stage
 *
 * A `C:` object is one whose class serializes it itself, as a payload of any bytes: by the
 * interface Serializable, or by the `serialize` handler of an internal class.
 *
 * In all files, `ctx` is the context of the call, `b` the builder and `w` the walker.
 */
#ifndef ICECORE_PHP_H
#define ICECORE_PHP_H

#ifdef HAVE_CONFIG_H
#  include "config.h"
#endif
#include "php.h"
#include "common/ice_found_classes.h"
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

/* True if PHP's heap exceeded memory_limit in this call. Some PHP versions raise this error
 * only when a function returns. Until then the call ends as if there were an exception. */
#ifdef ZEND_HAS_OOM
#  define ICE_IS_OUT_OF_MEMORY ZEND_HAS_OOM()
#else
#  define ICE_IS_OUT_OF_MEMORY 0
#endif

/* ---- classes ----------------------------------------------------------- */

/* How an object of a class is built. */
enum {
    ICE_CLASS_UNKNOWN,        /* the class is not looked up yet */
    ICE_CLASS_BY_SLOTS,       /* declared properties are written to their slots */
    ICE_CLASS_BY_TABLE,       /* properties are set in the object's hash table, as PHP does it */
    ICE_CLASS_BY_UNSERIALIZE, /* an array is built and passed to __unserialize */
    ICE_CLASS_AS_RECORD       /* an Icecore\Record takes the object's place */
};

/* A declared property of a class. */
typedef struct {
    uint16_t key_id;
    uint32_t offset;          /* of its slot, from the start of the object */
    zend_property_info *type; /* NULL if the property is untyped */
} ice_property;

/* A class that documents name, by its id in a context. Valid until the request ends or the
 * engine's class ids change. */
typedef struct {
    zend_class_entry *ce;     /* NULL if the class was not looked up or not found */
    zend_string *name;        /* as in the data; this struct owns a reference */
    ice_property *properties; /* in the order of the last object that was built */
    uint32_t property_count, property_capacity;
    uint32_t call_number;     /* the call in which `verdict` was computed */
    uint32_t rules_version;   /* the rules that allowed the class (policy.c); 0 if it must be checked again */
    uint8_t verdict;          /* ICECORE_ALLOWED, ICECORE_AS_RECORD, or ICECORE_REFUSED: an incomplete object */
    uint8_t build_method;     /* one of ICE_CLASS_ */
    bool has_wakeup;
    bool is_ready;            /* its constants are evaluated, so objects can be made at once */
} ice_class;

/* A declared property of a class whose objects were written. */
typedef struct {
    uint32_t offset;          /* of its slot, from the start of the object */
    uint16_t key_id;          /* 0 if the key needs a node of its own */
    zend_string *name;
} ice_written_property;

/* A class whose objects were written. Valid until the request ends or the engine's ids
 * change. */
typedef struct {
    zend_class_entry *ce;
    uint32_t id;              /* the engine's */
    uint32_t slot_count;
    ice_written_property *slots; /* the declared properties; NULL if there are none */
} ice_written_class;

/* ---- contexts ---------------------------------------------------------- */

typedef struct ice_context ice_context;

/* An open container of the build. build.h lists the kinds. */
typedef struct {
    uint8_t kind;
    bool has_keys_without_ids;      /* of a map: some key has no id, so equal keys may have different addresses */
    uint32_t node;
    uint32_t end;             /* the node after the container */
    uint32_t next_node;       /* the first node in it that is not built yet */
    uint32_t built_count;     /* number of entries that are built; maps don't count them */
    HashTable *table;
    zend_object *object;
    ice_class *class;
    zval *dest;               /* where the value of the container is stored */
    zend_property_info *type; /* the typed property that has this value, or NULL */
} ice_build_frame;

/* The shape of a small array: the ids of its keys, and its hash table without the values.
 * An array with the same keys is built by copying the table. Valid until the engine's key
 * ids change. */
#define ICE_SHAPE_MAX_KEYS 16
#define ICE_SHAPE_CACHE_SIZE 32

typedef struct {
    HashTable table;          /* as in a new array; arData is replaced in each copy */
    uint32_t count;           /* 0 if this entry of the cache is empty */
    uint16_t key_ids[ICE_SHAPE_MAX_KEYS];
    uint32_t next[ICE_SHAPE_MAX_KEYS];     /* of each bucket: the next one in its collision chain */
    uint32_t hash[2 * ICE_SHAPE_MAX_KEYS]; /* the hash part of the table */
} ice_shape;

/* A value that a link or an alias refers to: its node, and the place of its zval. In igbinary, a
 * link names the value and not the place: the place may have another value meanwhile. */
typedef struct {
    uint32_t node;
    zval *place;              /* NULL in igbinary */
    zval value;               /* of igbinary: an object, an array or a reference. A value that is replaced in its
                               * place is freed after the build, so no reference is counted here. */
    zend_property_info *type; /* the typed property at `place`, until it becomes a reference; or NULL */
} ice_target;

/* What is done after all values are built. */
enum {
    ICE_DELAYED_FREE,         /* a value that was replaced is freed */
    ICE_DELAYED_WAKEUP,       /* __wakeup is called */
    ICE_DELAYED_UNSERIALIZE,  /* __unserialize is called with an array */
    ICE_DELAYED_SET_STATE     /* __set_state is called with an array, and its result is stored at `dest` */
};

typedef struct {
    uint8_t action;
    zval object;
    zval data;                /* the array, or the value to be freed */
    zval *dest;
    zend_class_entry *ce;
} ice_delayed_action;

/* An open container of the walk. walk.h lists the kinds. */
typedef struct {
    uint8_t kind;
    bool is_shared;           /* an array that several values refer to, or part of one: its contents may come again */
    bool is_protected;        /* PHP's mark against recursion is set, and must be removed */
    bool skips_class_name;    /* of an incomplete object: the property with its class name is not written */
    bool is_at_end;           /* no entries are left */
    uint32_t wrapper_count;   /* number of nodes directly before `node` that end where it ends */
    uint32_t node;            /* its number among all nodes, including those of parts that are written */
    uint32_t position;        /* of the next entry: in the table, or among the slots */
    uint32_t pushed_count;
    uint32_t announced_count; /* number of entries that the node announced when the container was opened */
    HashTable *table;         /* the frame owns a reference */
    zend_object *object;      /* the frame owns a reference; NULL for an array */
} ice_walk_frame;

#define ICE_WRITTEN_CLASS_CACHE_SIZE 16

struct ice_context {
    ice_pooled_context pooled; /* the engine's context, and the next context in the pool */
    ice_context *next_busy, *previous_busy;
    ice_keys keys;            /* by id: a zend_string with a reference, or ICE_INTEGER_KEY */
    uint32_t call_number;
    /* memory of this call: see memory.h */
    void *accounting_block;   /* a block of PHP's heap as large as the engine's memory, or NULL */
    size_t engine_bytes, stack_bytes;
    uint32_t uncounted_bytes; /* used instead of a block, and included in ICE_G(uncounted_bytes) */
    bool may_be_compressed;   /* the input may be compressed */
    /* reading */
    icecore_view view;
    ice_class *classes;       /* by id */
    uint32_t class_capacity, class_generation;
    ice_build_frame *build_frames;
    uint32_t build_depth, build_capacity;
    ice_shape shapes[ICE_SHAPE_CACHE_SIZE];
    uint32_t shape_generation;
    ice_target *targets;
    uint32_t target_count, target_capacity;
    uint32_t failed_node;     /* the node whose value PHP does not accept */
    bool failed_after_node;   /* PHP would report the offset after this node, not the one before it */
    bool has_warned;          /* a warning said why this value is not accepted */
    ice_delayed_action *delayed_actions;
    uint32_t delayed_action_count, delayed_action_capacity;
    /* writing */
    icecore_tape tape;
    ice_walk_frame *walk_frames;
    uint32_t walk_depth, walk_capacity;
    ice_map node_by_address;  /* objects, references and arrays that were written */
    ice_map written_class_indices; /* from a class entry to its index in `written_classes` */
    ice_written_class *written_classes;
    uint32_t written_class_count, written_class_capacity;
    uint32_t written_class_generation;
    /* Classes without hooks, by a hash of the address of their class entry. The pointers
     * are valid until written_classes grows. */
    const ice_written_class *written_class_cache[ICE_WRITTEN_CLASS_CACHE_SIZE];
    smart_str written_text;   /* the parts of the output that the engine has returned so far */
    zval *kept_values;        /* kept alive until the call ends */
    uint32_t kept_value_count, kept_value_capacity;
};

/* The value in ice_context.keys of a key that is an integer, not a string. */
#define ICE_INTEGER_KEY ((void *)1)

/* Takes a context out of the pool for the current call. */
ice_context *ice_context_acquire(void);
/* Returns a context to the pool and releases everything that is still open in it. */
void ice_context_release(ice_context *ctx);
/* Drops everything that the request made, also in contexts that were never released. If
 * `is_heap_gone` is true, PHP drops its heap as a whole, and data in it may be incomplete. */
void ice_contexts_end_request(bool is_heap_gone);
void ice_context_free(ice_context *ctx);
/* Keeps a value alive until the end of the call, when the context is released. */
void ice_keep_for_call(ice_context *ctx, zval *value);

/* Makes and stores the string of a key that ice_key_by_id did not find. */
void *ice_key_create(ice_context *ctx, uint16_t id);
/* Returns the number of a key that is ICE_INTEGER_KEY. */
zend_long ice_key_number(ice_context *ctx, uint16_t id);
/* Returns the engine's id of a string key. The engine makes an id if the key is new. Returns 0 if
 * the engine has no id left. The key then needs a node of its own. */
uint16_t ice_key_register(ice_context *ctx, zend_string *key);
/* Forgets the keys of older generations. */
void ice_keys_reset(ice_context *ctx, uint32_t generation);

/* Forgets the keys if the engine has reused its ids since. */
static inline void
ice_keys_sync(ice_context *ctx, uint32_t generation)
{
    if (UNEXPECTED(ctx->keys.generation != generation))
        ice_keys_reset(ctx, generation);
}

/* Returns the string of a key, or ICE_INTEGER_KEY. */
static inline void *
ice_key_by_id(ice_context *ctx, uint16_t id)
{
    void *key = ice_keys_get(&ctx->keys, id);
    return EXPECTED(key != NULL) ? key : ice_key_create(ctx, id);
}

/* ---- settings ---------------------------------------------------------- */

/* The classes that one call may build. */
typedef struct {
    zval *classes_option;     /* the option `classes`: a list, a name or a word such as `any`; or NULL */
    bool has_allowed_classes; /* the option `allowed_classes` was given, with PHP's meaning */
    bool allows_all;          /* `allowed_classes` is true */
    HashTable *allowed_names; /* the names in `allowed_classes`, in lower case; NULL if it is not a list */
    bool allows_all_by_default; /* PHP's default: without any rule, all classes are allowed */
    bool is_other_language;   /* the data is not PHP's: a rule for `A\B` also holds for `A::B`, and vice versa */
} ice_class_options;

typedef struct {
    ice_class_options classes;
    bool is_igbinary;
    bool has_max_depth;       /* the call has the option max_depth */
    bool uses_set_state;      /* an object is made by __set_state if its class has this method */
    struct ice_scan *wide_scan; /* finds the integers that were cut to 64 bits; NULL if there are none */
} ice_read_settings;

/* Values of the parameter `purpose`: what a value is written for. */
enum {
    ICE_FOR_SERIALIZE,
    ICE_FOR_SESSION,          /* this purpose and those before it write PHP's own serialized text */
    ICE_FOR_IGBINARY,
    ICE_FOR_EXPORT            /* var_export */
};

/* ---- policy ------------------------------------------------------------ */

/* Reads the options `classes` and `allowed_classes`. Throws and returns false if they are
 * invalid. */
bool ice_class_options_read(ice_class_options *class_options, HashTable *options, const char *function);
void ice_class_options_free(ice_class_options *class_options);
/* Returns true if a record takes the place of objects of this class. */
bool ice_policy_makes_record(const ice_class_options *class_options, const char *class, size_t len);
/* Returns true if all classes are allowed, whatever their names are. */
bool ice_policy_allows_any(const ice_class_options *class_options);
/* Checks each class of the document, and stores the verdicts in the context. Throws and
 * returns false if a class is refused. `has_opaque` receives true if the document has `C:`
 * objects. */
bool ice_policy_check(ice_context *ctx, const ice_class_options *class_options, bool *has_opaque);
/* Checks class names. The value of each name is one of these:
 *
 *   a string  the path of the first object of the class
 *   null      the path is unknown
 *   true      the class is required, so it is refused even if PHP would only skip it
 *
 * Throws and returns false if a class is refused. Removes the names that are not allowed. */
bool ice_policy_check_names(const ice_class_options *class_options, HashTable *names);
/* Adds a class or a pattern to the rules of the request. Throws and returns false if it is
 * invalid. */
bool ice_policy_allow(zend_string *class);
/* Parses the ini value icecore.classes. Returns NULL if it is empty. */
icecore_rules *ice_policy_parse_rules(const char *text, size_t len);
void ice_policy_end_request(void);

/* ---- classes ----------------------------------------------------------- */

/* Returns the class with this id of the engine. */
ice_class *ice_class_of(ice_context *ctx, uint32_t id);
/* Looks up a class as PHP does, which may run autoloaders. Returns false if an exception
 * was thrown, or if PHP refuses the name. igbinary refuses no name: `allows_invalid_name` is true for
 * its data, and a class with such a name does not exist. */
bool ice_class_find(ice_class *class, bool allows_invalid_name);
/* Makes a new object. Returns NULL if an exception was thrown, or if PHP refuses the object
 * with a warning. `is_php_text` is true if the format is PHP's own text. In this text, an object
 * with a custom serializer must be a `C:` object. */
zend_object *ice_class_object(ice_class *class, bool is_php_text);
void ice_classes_drop(ice_context *ctx);
/* Forgets the classes whose objects were written. */
void ice_written_classes_drop(ice_context *ctx);

/* ---- reading and writing values ---------------------------------------- */

/* Builds the root of the view. Returns false if an exception was thrown, or if PHP refuses a
 * value. PHP's warning about this value was then issued, and the caller must call
 * ice_build_free. */
bool ice_build(ice_context *ctx, const ice_read_settings *settings, zval *root);
/* Frees what was built before a failure. As in PHP, destructors may run. */
void ice_build_free(ice_context *ctx, zval *root);

typedef enum {
    ICE_DONE,
    ICE_NEEDS_PHP,            /* only PHP's own function can write the value, for example a `C:` object */
    ICE_NEEDS_WHOLE,          /* a part was refused, so the output must be written as a whole */
    ICE_THROWN                /* an exception was thrown */
} ice_walk_result;

/* Fills the tape with a value. `purpose` is one of ICE_FOR_. `stage` is the writer; a large
 * value is written in parts during the walk. */
ice_walk_result ice_walk(ice_context *ctx, zval *value, uint8_t purpose, const icecore_stage *stage);

/* ---- errors ------------------------------------------------------------ */

extern zend_class_entry *ice_exception, *ice_decode_exception, *ice_encode_exception, *ice_class_exception;
extern zend_class_entry *ice_record;

/* Throws an error of the engine. */
void ice_throw_error(zend_class_entry *ce, const icecore_error *error);
/* Throws an exception with these properties. A negative `offset` becomes null. Takes over
 * the caller's reference to `message`. */
void ice_throw(zend_class_entry *ce, const char *kind, int64_t offset, const char *path, zend_string *message);
/* Returns the offset that PHP would report for the error. */
zend_long ice_php_offset(const icecore_error *error);

/* The properties of an Icecore\Record, in the order of their slots (icecore.stub.php). */
enum { ICE_RECORD_CLASS, ICE_RECORD_KIND, ICE_RECORD_PROPERTIES };

/* ---- globals ----------------------------------------------------------- */

enum { ICE_STAGE_COUNT = 17 };

ZEND_BEGIN_MODULE_GLOBALS(icecore)
    ice_pool pool;
    ice_context *busy_contexts; /* a list of the contexts in use */
    uint32_t uncounted_bytes; /* the engine's bytes that no block of PHP's heap accounts for */
    icecore_rules *ini_rules; /* from icecore.classes; NULL if the ini value is empty */
    icecore_rules *request_rules; /* from Icecore\allow; NULL if it was not called */
    uint32_t rules_version;   /* number of changes of ini_rules and request_rules */
    bool replace;             /* the ini value icecore.replace */
    HashTable *reported_classes; /* classes that this request has logged, or NULL */
    icecore_stage *stages[ICE_STAGE_COUNT]; /* each is NULL until it is used (stages.h) */
    zend_long stage_depths[ICE_STAGE_COUNT];
    icecore_replacer *replacer; /* of the last call of Icecore\replace in the request, or NULL */
    /* Output of the engine that is still to be copied. If PHP's heap has no memory for the
     * copy, PHP leaves by a jump, and the end of the request frees it. */
    icecore_buffer replace_output, convert_output;
    ice_found_classes losses; /* of the current conversion; losses.c */
    uint32_t checked_class_count; /* number of classes checked for has_serializable_class */
    bool has_serializable_class; /* a class of the program implements Serializable only */
    bool has_searched_compact_strings;
    zend_ini_entry *compact_strings; /* of igbinary.compact_strings; NULL if igbinary is not loaded */
    HashTable *checked_payloads; /* payloads of the text that PHP's reader is reading, or NULL */
    uint32_t last_call_number;
ZEND_END_MODULE_GLOBALS(icecore)

ZEND_EXTERN_MODULE_GLOBALS(icecore)
#define ICE_G(field) ZEND_MODULE_GLOBALS_ACCESSOR(icecore, field)

#if defined(ZTS) && defined(COMPILE_DL_ICECORE)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif
