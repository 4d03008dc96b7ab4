/* With icecore.replace=1, PHP's own classes read the payloads of their `C:` objects by the method
 * `unserialize`, which calls PHP's reader. The module checks each payload before, as for
 * unserialize(). A malformed payload is cut off after the bytes that were checked. The method then
 * throws PHP's exception. */
#include "core/spl_payloads.h"
#include "core/checked_text.h"
#include "ext/spl/spl_array.h"
#include "ext/spl/spl_dllist.h"
#include "ext/spl/spl_observer.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_var.h"
#include "zend_interfaces.h"

/* In a payload of ArrayObject: the array is the object's own properties. */
#define ARRAY_IS_SELF 0x01000000

/* How the payloads of a class are written. */
enum {
    PAYLOAD_OF_ARRAY,   /* `x:` flags, the array, `;m:` properties */
    PAYLOAD_OF_STORAGE, /* `x:` count, `;` and an object with `,` and its data, `;m:` properties */
    PAYLOAD_OF_LIST,    /* flags, `:` and an item */
    PAYLOAD_KIND_COUNT
};

/* PHP's own methods. */
static zif_handler php_methods[PAYLOAD_KIND_COUNT];

/* A payload, and how far it was checked. */
typedef struct {
    const char *bytes;
    size_t len;
    size_t offset;
    HashTable *allowed_names; /* of the document around it; NULL if all classes are allowed */
    HashTable *found_names;
    zend_long depth;          /* how deep values may be nested; as in ice_stage */
    bool is_done;             /* the payload is malformed at the offset, or an exception was thrown */
} payload_walk;

/* Returns the next byte; 0 at the end. A payload is a string of PHP, so this is also what PHP finds
 * there. */
static char
next_byte(const payload_walk *walk)
{
    return walk->offset < walk->len ? walk->bytes[walk->offset] : 0;
}

/* Passes this byte. Otherwise the walk is done, and PHP looks at the wrong byte. */
static void
pass_byte(payload_walk *walk, char byte)
{
    if (walk->is_done)
        return;
    walk->is_done = next_byte(walk) != byte;
    walk->offset = MIN(walk->offset + 1, walk->len);
}

/* Passes a value. */
static void
pass_value(payload_walk *walk)
{
    const ice_class_options class_options = { .has_allowed_classes = true,
                                              .allows_all = !walk->allowed_names,
                                              .allowed_names = walk->allowed_names };
    size_t value_len;
    bool is_whole;
    if (walk->is_done)
        return;
    if (!ice_checked_value(walk->bytes + walk->offset, walk->len - walk->offset, &class_options,
                           walk->depth, walk->found_names, &value_len, &is_whole)) {
        walk->is_done = true;
        return;
    }
    walk->offset += value_len;
    walk->is_done = !is_whole;
}

/* Passes `m:` and the properties. */
static void
pass_properties(payload_walk *walk)
{
    pass_byte(walk, 'm');
    pass_byte(walk, ':');
    pass_value(walk);
}

/* Passes `x:` and a number, and returns the number. */
static zend_long
pass_number(payload_walk *walk)
{
    size_t start;
    pass_byte(walk, 'x');
    pass_byte(walk, ':');
    start = walk->offset;
    pass_value(walk);
    if (walk->is_done || walk->bytes[start] != 'i')
        return 0;
    return ZEND_STRTOL(walk->bytes + start + 2, NULL, 10);
}

static void
walk_payload(payload_walk *walk, int kind)
{
    zend_long number;
    switch (kind) {
    case PAYLOAD_OF_ARRAY:
        number = pass_number(walk);
        if (!(number & ARRAY_IS_SELF)) {
            pass_value(walk);
            pass_byte(walk, ';');
        }
        pass_properties(walk);
        break;
    case PAYLOAD_OF_STORAGE:
        /* The `;` of the number is also that before the first object. */
        for (number = pass_number(walk); number > 0 && !walk->is_done; number--) {
            pass_value(walk);
            if (next_byte(walk) == ',') {
                pass_byte(walk, ',');
                pass_value(walk);
            }
            pass_byte(walk, ';');
        }
        pass_properties(walk);
        break;
    default:
        pass_value(walk);
        while (!walk->is_done && next_byte(walk) == ':') {
            pass_byte(walk, ':');
            pass_value(walk);
        }
    }
}

/* Checks a payload, and replaces it if it is malformed. Returns false if an exception was thrown. */
static bool
check_payload(zval *argument, int kind, HashTable *allowed_names, zend_long depth)
{
    zend_string *payload = Z_STR_P(argument);
    payload_walk walk = { .bytes = ZSTR_VAL(payload),
                          .len = ZSTR_LEN(payload),
                          .allowed_names = allowed_names,
                          .found_names = zend_new_array(8),
                          .depth = depth };
    walk_payload(&walk, kind);
    zend_array_destroy(walk.found_names);
    if (EG(exception))
        return false;
    if (walk.is_done && walk.offset < walk.len) {
        ZVAL_STR(argument, ice_checked_prefix(payload, walk.offset));
        zend_string_release(payload);
    }
    return true;
}

/* Calls PHP's own method. If PHP's reader is reading a document, the payload is checked before. */
static void
call_method(int kind, INTERNAL_FUNCTION_PARAMETERS)
{
    if (BG(unserialize).level > 0 && !BG(serialize_lock) && ZEND_NUM_ARGS() == 1) {
        zval *argument = ZEND_CALL_ARG(execute_data, 1);
        if (Z_TYPE_P(argument) == IS_STRING && Z_STRLEN_P(argument) > 0 &&
            !check_payload(argument, kind, php_var_unserialize_get_allowed_classes(BG(unserialize).data),
                           ice_checked_depth_left()))
            RETURN_THROWS();
    }
    php_methods[kind](INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static ZEND_NAMED_FUNCTION(read_payload_of_array)
{
    call_method(PAYLOAD_OF_ARRAY, INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static ZEND_NAMED_FUNCTION(read_payload_of_storage)
{
    call_method(PAYLOAD_OF_STORAGE, INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static ZEND_NAMED_FUNCTION(read_payload_of_list)
{
    call_method(PAYLOAD_OF_LIST, INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

/* Returns the method `unserialize` of a class if PHP itself has it, or NULL. */
static zend_internal_function *
php_method(zend_class_entry *class)
{
    zend_function *method = zend_hash_str_find_ptr(&class->function_table, ZEND_STRL("unserialize"));
    return method && method->type == ZEND_INTERNAL_FUNCTION ? &method->internal_function : NULL;
}

/* The methods that take the place of PHP's. */
static const zif_handler checking_methods[] = {
    [PAYLOAD_OF_ARRAY] = read_payload_of_array,
    [PAYLOAD_OF_STORAGE] = read_payload_of_storage,
    [PAYLOAD_OF_LIST] = read_payload_of_list,
};

void
ice_spl_payloads_register(void)
{
    zend_class_entry *const bases[] = {
        [PAYLOAD_OF_ARRAY] = spl_ce_ArrayObject,
        [PAYLOAD_OF_STORAGE] = spl_ce_SplObjectStorage,
        [PAYLOAD_OF_LIST] = spl_ce_SplDoublyLinkedList,
    };
    zend_class_entry *class;
    int kind;
    for (kind = 0; kind < PAYLOAD_KIND_COUNT; kind++)
        php_methods[kind] = php_method(bases[kind])->handler;
    /* A class has its own copy of a method that it inherits. Classes that are declared later copy the
     * new one. */
    ZEND_HASH_FOREACH_PTR(CG(class_table), class) {
        zend_internal_function *method = php_method(class);
        for (kind = 0; method && kind < PAYLOAD_KIND_COUNT; kind++)
            if (method->handler == php_methods[kind])
                method->handler = checking_methods[kind];
    } ZEND_HASH_FOREACH_END();
}

/* Returns true if values in the payload may be objects or links. */
static bool
may_have_objects(const char *bytes, size_t len)
{
    size_t offset;
    for (offset = 1; offset < len; offset++)
        if (bytes[offset] == ':' && strchr("OCErR", bytes[offset - 1]))
            return true;
    return false;
}

bool
ice_spl_payloads_try(zend_string *class_name, const char *bytes, size_t len)
{
    zend_string *lower_name = zend_string_tolower(class_name);
    zend_class_entry *class = zend_hash_find_ptr(EG(class_table), lower_name);
    zend_internal_function *method = class && class->type == ZEND_INTERNAL_CLASS ? php_method(class) : NULL;
    zval object, payload;
    bool is_tried = false;
    int kind = 0;
    zend_string_release(lower_name);
    while (method && kind < PAYLOAD_KIND_COUNT && method->handler != checking_methods[kind])
        kind++;
    if (!method || kind == PAYLOAD_KIND_COUNT)
        return false;
    if (len == 0)
        return true;
    ZVAL_STRINGL(&payload, bytes, len);
    /* Objects after the malformed place do not matter. */
    if (check_payload(&payload, kind, NULL, BG(unserialize_max_depth)) &&
        !may_have_objects(Z_STRVAL(payload), Z_STRLEN(payload)) && object_init_ex(&object, class) == SUCCESS) {
        zend_call_method_with_1_params(Z_OBJ(object), class, NULL, "unserialize", NULL, &payload);
        zval_ptr_dtor(&object);
        is_tried = true;
    }
    zval_ptr_dtor(&payload);
    return is_tried;
}
