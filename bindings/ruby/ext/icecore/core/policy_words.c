/* Messages about classes: refusals and reports. */
#include "core/policy.h"

static VALUE reported; /* names that were reported, as keys */

static VALUE
words(uint32_t what, VALUE class, const char *path)
{
    const icecore_class_name name = ice_lent_name(RSTRING_PTR(class), RSTRING_LEN(class));
    const size_t path_len = strlen(path);
    const size_t room = icecore_class_words(what, ICECORE_RUBY, &name, 0, path, path_len, NULL, 0);
    VALUE text = rb_utf8_str_new(NULL, room + 1);
    icecore_class_words(what, ICECORE_RUBY, &name, 0, path, path_len, RSTRING_PTR(text), room + 1);
    rb_str_set_len(text, room);
    return text;
}

/* Registers a message about a class, once in a process. */
void
ice_policy_report(VALUE *said, uint32_t what, VALUE class, const char *path)
{
    if (RTEST(rb_hash_lookup(reported, class)))
        return;
    if (RHASH_SIZE(reported) < 1000)
        rb_hash_aset(reported, class, Qtrue);
    if (NIL_P(*said))
        *said = rb_ary_new();
    rb_ary_push(*said, words(what, class, path));
}

void
ice_policy_say(VALUE said)
{
    long i;
    for (i = 0; !NIL_P(said) && i < RARRAY_LEN(said); i++)
        rb_warn("Icecore: %" PRIsVALUE, RARRAY_AREF(said, i));
}

void
ice_policy_refuse_always(VALUE *without_remedy, VALUE class)
{
    if (NIL_P(*without_remedy))
        *without_remedy = rb_hash_new();
    rb_hash_aset(*without_remedy, class, Qtrue);
}

/* Parts of a message about several classes. */
typedef struct {
    VALUE shown, literals, without_remedy;
} many_words;

static void
add_word(VALUE text, VALUE word)
{
    if (RSTRING_LEN(text))
        rb_str_cat_cstr(text, ", ");
    rb_str_append(text, word);
}

static bool
has_remedy(VALUE without_remedy, VALUE class)
{
    return NIL_P(without_remedy) || NIL_P(rb_hash_lookup(without_remedy, class));
}

static int
add_words(VALUE class, VALUE path, VALUE to)
{
    many_words *many = (many_words *)to;
    add_word(many->shown, words(ICECORE_WORDS_SHOWN, class, ""));
    rb_str_cat_cstr(many->shown, " at ");
    rb_str_append(many->shown, path);
    if (has_remedy(many->without_remedy, class))
        add_word(many->literals, words(ICECORE_WORDS_LITERAL, class, ""));
    return ST_CONTINUE;
}

static int
first_of(VALUE class, VALUE path, VALUE pair)
{
    rb_ary_push(pair, class);
    rb_ary_push(pair, path);
    return ST_STOP;
}

/* A list is suggested only for classes that it would allow. */
static VALUE
refusal_words(VALUE refused, VALUE first, VALUE without_remedy)
{
    many_words many = { rb_utf8_str_new(NULL, 0), rb_utf8_str_new(NULL, 0), without_remedy };
    if (RHASH_SIZE(refused) == 1 && has_remedy(without_remedy, RARRAY_AREF(first, 0)))
        return words(ICECORE_WORDS_REFUSED, RARRAY_AREF(first, 0), StringValueCStr(RARRAY_PTR(first)[1]));
    rb_hash_foreach(refused, add_words, (VALUE)&many);
    if (RHASH_SIZE(refused) == 1)
        return rb_enc_sprintf(rb_utf8_encoding(),
                              "the class %" PRIsVALUE " is not allowed, and classes: can't allow it: Ruby does not write it in this form",
                              many.shown);
    if (!RSTRING_LEN(many.literals))
        return rb_enc_sprintf(rb_utf8_encoding(),
                              "these classes are not allowed, and classes: can't allow them: %" PRIsVALUE
                              "; Ruby does not write them in this form",
                              many.shown);
    return rb_enc_sprintf(rb_utf8_encoding(),
                          "these classes are not allowed: %" PRIsVALUE "; allow them with classes: [%" PRIsVALUE "]",
                          many.shown, many.literals);
}

/* `refused`: names and paths. */
void
ice_policy_raise(VALUE refused, VALUE said, VALUE without_remedy)
{
    VALUE first = rb_ary_new(), error;
    ice_policy_say(said);
    rb_hash_foreach(refused, first_of, first);
    error = rb_exc_new_str(ice_class_error, refusal_words(refused, first, without_remedy));
    rb_ivar_set(error, rb_intern("@kind"), ID2SYM(rb_intern("class")));
    rb_ivar_set(error, rb_intern("@offset"), Qnil);
    rb_ivar_set(error, rb_intern("@path"), RARRAY_AREF(first, 1));
    rb_ivar_set(error, rb_intern("@classes"), refused);
    rb_exc_raise(error);
}

void
ice_policy_init(void)
{
    reported = rb_hash_new();
    rb_gc_register_mark_object(reported);
}
