/* Makes messages about classes that are refused or reported. */
#include "core/policy.h"

static VALUE warned_classes; /* a Hash whose keys are the names of classes that were reported */

/* Maximum number of these names. The data chooses them, so they are limited. */
#define MAX_WARNED_CLASSES 1000

/* Returns a message about a class in Ruby's terms. `message_kind` is one of ICECORE_WORDS_.... */
static VALUE
class_message(uint32_t message_kind, VALUE class, const char *path)
{
    const icecore_class_name name = ice_utf8_class_name(RSTRING_PTR(class), RSTRING_LEN(class));
    const size_t path_len = strlen(path);
    const size_t len = icecore_class_words(message_kind, ICECORE_RUBY, &name, 0, path, path_len, NULL, 0);
    VALUE text = rb_utf8_str_new(NULL, len + 1);
    icecore_class_words(message_kind, ICECORE_RUBY, &name, 0, path, path_len, RSTRING_PTR(text), len + 1);
    rb_str_set_len(text, len);
    return text;
}

void
ice_policy_add_warning(VALUE *warnings, uint32_t message_kind, VALUE class, const char *path)
{
    if (RTEST(rb_hash_lookup(warned_classes, class)))
        return;
    /* If the Hash is full, further classes are reported in each call. */
    if (RHASH_SIZE(warned_classes) < MAX_WARNED_CLASSES)
        rb_hash_aset(warned_classes, class, Qtrue);
    if (NIL_P(*warnings))
        *warnings = rb_ary_new();
    rb_ary_push(*warnings, class_message(message_kind, class, path));
}

void
ice_policy_issue_warnings(VALUE warnings)
{
    long i;
    for (i = 0; !NIL_P(warnings) && i < RARRAY_LEN(warnings); i++)
        rb_warn("Icecore: %" PRIsVALUE, RARRAY_AREF(warnings, i));
}

void
ice_policy_add_unlistable(VALUE *unlistable, VALUE class)
{
    if (NIL_P(*unlistable))
        *unlistable = rb_hash_new();
    rb_hash_aset(*unlistable, class, Qtrue);
}

/* What a message about several classes contains. */
typedef struct {
    VALUE shown;      /* names and paths, for people */
    VALUE literals;   /* names as Ruby literals, for the suggested list */
    VALUE unlistable; /* see ice_nested_check */
} refusal_parts;

/* Appends an item to a list that is separated by commas. */
static void
append_item(VALUE text, VALUE item)
{
    if (RSTRING_LEN(text))
        rb_str_cat_cstr(text, ", ");
    rb_str_append(text, item);
}

/* Returns true if a list can allow a class. */
static bool
is_listable(VALUE unlistable, VALUE class)
{
    return NIL_P(unlistable) || NIL_P(rb_hash_lookup(unlistable, class));
}

/* For rb_hash_foreach: adds a refused class to the parts of a message. */
static int
add_refused(VALUE class, VALUE path, VALUE data)
{
    refusal_parts *parts = (refusal_parts *)data;
    append_item(parts->shown, class_message(ICECORE_WORDS_SHOWN, class, ""));
    rb_str_cat_cstr(parts->shown, " at ");
    rb_str_append(parts->shown, path);
    if (is_listable(parts->unlistable, class))
        append_item(parts->literals, class_message(ICECORE_WORDS_LITERAL, class, ""));
    return ST_CONTINUE;
}

/* Indexes in the Array that describes the first refused class. */
enum { FIRST_NAME, FIRST_PATH };

/* For rb_hash_foreach: stores the first entry of a Hash, and stops. */
static int
store_first(VALUE class, VALUE path, VALUE pair)
{
    rb_ary_push(pair, class);
    rb_ary_push(pair, path);
    return ST_STOP;
}

/* Returns the message about refused classes. It suggests a list for those that a list would
 * allow. */
static VALUE
refusal_message(VALUE refused, VALUE first, VALUE unlistable)
{
    refusal_parts parts = { rb_utf8_str_new(NULL, 0), rb_utf8_str_new(NULL, 0), unlistable };
    if (RHASH_SIZE(refused) == 1 && is_listable(unlistable, RARRAY_AREF(first, FIRST_NAME)))
        return class_message(ICECORE_WORDS_REFUSED, RARRAY_AREF(first, FIRST_NAME),
                             StringValueCStr(RARRAY_PTR(first)[FIRST_PATH]));
    rb_hash_foreach(refused, add_refused, (VALUE)&parts);
    if (RHASH_SIZE(refused) == 1)
        return rb_enc_sprintf(rb_utf8_encoding(),
                              "the class %" PRIsVALUE
                              " is not allowed, and classes: can't allow it: Ruby does not write it in this form",
                              parts.shown);
    if (!RSTRING_LEN(parts.literals))
        return rb_enc_sprintf(rb_utf8_encoding(),
                              "these classes are not allowed, and classes: can't allow them: %" PRIsVALUE
                              "; Ruby does not write them in this form",
                              parts.shown);
    return rb_enc_sprintf(rb_utf8_encoding(),
                          "these classes are not allowed: %" PRIsVALUE "; allow them with classes: [%" PRIsVALUE "]",
                          parts.shown, parts.literals);
}

void
ice_policy_raise(VALUE refused, VALUE warnings, VALUE unlistable)
{
    VALUE first = rb_ary_new(), error;
    ice_policy_issue_warnings(warnings);
    rb_hash_foreach(refused, store_first, first);
    error = rb_exc_new_str(ice_class_error, refusal_message(refused, first, unlistable));
    rb_ivar_set(error, rb_intern("@kind"), ID2SYM(rb_intern("class")));
    rb_ivar_set(error, rb_intern("@offset"), Qnil);
    rb_ivar_set(error, rb_intern("@path"), RARRAY_AREF(first, FIRST_PATH));
    rb_ivar_set(error, rb_intern("@classes"), refused);
    rb_exc_raise(error);
}

void
ice_policy_init(void)
{
    warned_classes = rb_hash_new();
    rb_gc_register_mark_object(warned_classes);
}
