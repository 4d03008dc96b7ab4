/* Which classes of a document may be built: each is asked for once, and what is refused is
 * told with its path and with the words that would allow it. */
#include "core/policy.h"
#include "core/nested.h"

static VALUE reported; /* names that were reported, as keys */

/* ---- words -------------------------------------------------------------------------- */

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

/* Notes once in a process what is said of a class. */
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

/* What a message says of several classes. */
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

/* No list is suggested for what it would not help. */
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
static void
raise_refusal(VALUE refused, VALUE said, VALUE without_remedy)
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

/* ---- all classes of a document ---------------------------------------------------------- */

static bool
is_named(const char *name, size_t len, const char *other)
{
    return strlen(other) == len && memcmp(name, other, len) == 0;
}

static bool
is_date(const char *name, size_t len)
{
    return is_named(name, len, "Date") || is_named(name, len, "DateTime");
}

/* Ruby 1.8 wrote a Rational and a Complex as objects, and a Date by `_dump`. */
uint8_t
ice_own_class(const icecore_node *node, const char *name, size_t len)
{
    const uint8_t form = ICE_FORM_OF(node);
    if (node->kind == ICECORE_OBJECT && form == ICECORE_FORM_USUAL)
        return is_named(name, len, "Range")      ? ICE_RANGE_OF
               : is_named(name, len, "Set")      ? ICE_SET_OF
               : is_named(name, len, "Rational") ? ICE_RATIONAL_OF
               : is_named(name, len, "Complex")  ? ICE_COMPLEX_OF
                                                 : ICE_UNKNOWN;
    if (node->kind != ICECORE_OPAQUE)
        return ICE_UNKNOWN;
    if (form == ICECORE_FORM_USER_DUMP)
        return is_named(name, len, "Time")         ? ICE_TIME_OF
               : is_named(name, len, "BigDecimal") ? ICE_DECIMAL_OF
               : is_date(name, len)                ? ICE_DATE_OF
                                                   : ICE_UNKNOWN;
    if (form == ICECORE_FORM_USER_MARSHAL)
        return is_date(name, len)                ? ICE_DATE_OF
               : is_named(name, len, "Rational") ? ICE_RATIONAL_OF
               : is_named(name, len, "Complex")  ? ICE_COMPLEX_OF
                                                 : ICE_UNKNOWN;
    return ICE_UNKNOWN;
}

bool
ice_is_own_form(const icecore_node *node, const char *name, size_t len)
{
    static const char *const names[] = { "Range", "Set", "Rational", "Complex", "Time", "BigDecimal", "Date", "DateTime" };
    size_t i;
    if (node->kind != ICECORE_OBJECT && node->kind != ICECORE_OPAQUE)
        return false;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(name, len, names[i]))
            return true;
    return false;
}

bool
ice_names_class(const icecore_node *node)
{
    static const uint64_t asked = UINT64_C(1) << ICECORE_OBJECT | UINT64_C(1) << ICECORE_OPAQUE |
                                  UINT64_C(1) << ICECORE_ATTRS | UINT64_C(1) << ICECORE_MODULE |
                                  UINT64_C(1) << ICECORE_REGEXP;
    return asked >> (node->kind & 63) & 1;
}

const char *
ice_asked_name(const icecore_view *view, const icecore_node *node, size_t *len)
{
    const char *text;
    switch (node->kind) {
    case ICECORE_REGEXP:
        *len = 6;
        return "Regexp";
    case ICECORE_MODULE:
        return ice_bytes_of(view, node, len);
    case ICECORE_ATTRS:
        if (!ICE_CLASS_OF(node))
            return NULL;
        /* fall through */
    default: {
        const icecore_name *name = ice_name(&view->classes, ICE_CLASS_OF(node), &text);
        *len = name ? name->node.aux : 0;
        return name ? text : "";
    }
    }
}

/* Asks once for each class; `refused` gets those that are not allowed, with their paths,
 * `said` what is to be warned of,
 * `nested` what the payloads of hooks contain. Returns whether there are others than Ruby's own. */
static bool
each_class(ice_context *ctx, const ice_allowed *allowed, VALUE *refused, VALUE *said, ice_nested_check *nested)
{
    const icecore_view *view = &ctx->view;
    const icecore_node *node = view->nodes, *end = node + view->node_count;
    const uint64_t edition = ice_edition_of(allowed);
    bool has_foreign = false;
    for (; node < end; node++) {
        const char *name;
        size_t len;
        uint32_t verdict;
        ice_class *class = NULL;
        VALUE text;
        if (ICE_LIKELY(!ice_names_class(node)))
            continue;
        if (node->kind >= ICECORE_OBJECT && node->kind <= ICECORE_ATTRS && ICE_CLASS_OF(node)) {
            class = ice_class_slot(ctx, ICE_CLASS_OF(node));
            if (ICE_LIKELY(class->call == ctx->call && class->verdict == ICECORE_ALLOWED && !class->is_own)) {
                if (node->kind == ICECORE_OPAQUE)
                    ice_nested_check_node(nested, ctx, allowed, node, ICE_UNKNOWN);
                continue;
            }
        }
        name = ice_asked_name(view, node, &len);
        if (!name)
            continue;
        if (class && node->kind != ICECORE_ATTRS) {
            const uint8_t own = ice_own_class(node, name, len);
            if (own != ICE_UNKNOWN) {
                if (!class->is_own || class->own != own)
                    class->klass = 0;
                class->own = own;
                class->is_own = true;
                class->call = ctx->call;
                class->verdict = ICECORE_ALLOWED;
                if (node->kind == ICECORE_OPAQUE)
                    ice_nested_check_node(nested, ctx, allowed, node, own);
                continue;
            }
        }
        if (class && edition && class->edition == edition && !class->is_own)
            verdict = ICECORE_ALLOWED;
        else {
            verdict = ice_verdict_of(allowed, name, len);
            if (class) /* what is reported is asked for each time */
                class->edition = verdict == ICECORE_ALLOWED ? edition : 0;
        }
        if (verdict & ICECORE_REPORTED && (verdict & ~(uint32_t)ICECORE_REPORTED) == ICECORE_ALLOWED)
            ice_policy_report(said, ICECORE_WORDS_BUILT, rb_utf8_str_new(name, len), "");
        if (class) {
            class->call = ctx->call;
            class->verdict = verdict & ~(uint32_t)ICECORE_REPORTED;
            if (class->is_own) {
                class->is_own = false;
                class->klass = 0;
                class->how = ICE_UNKNOWN;
            }
        }
        has_foreign = true;
        if (node->kind == ICECORE_OPAQUE && (verdict & ~(uint32_t)ICECORE_REPORTED) == ICECORE_ALLOWED)
            ice_nested_check_node(nested, ctx, allowed, node, ICE_UNKNOWN);
        if ((verdict & ~(uint32_t)ICECORE_REPORTED) != ICECORE_REFUSED)
            continue;
        text = rb_utf8_str_new(name, len);
        if (NIL_P(*refused))
            *refused = rb_hash_new();
        if (NIL_P(rb_hash_lookup(*refused, text))) {
            char path[512];
            icecore_path(ctx->warm.engine, view->input, view->input_len, (uint32_t)(node - view->nodes), path,
                         sizeof path);
            rb_hash_aset(*refused, text, rb_utf8_str_new_cstr(path));
            if (ice_is_own_form(node, name, len))
                ice_policy_refuse_always(&nested->without_remedy, text);
            if (verdict & ICECORE_REPORTED)
                ice_policy_report(said, ICECORE_WORDS_REFUSED, text, path);
        }
    }
    return has_foreign;
}

bool
ice_policy_check(ice_context *ctx, const ice_allowed *allowed, VALUE *said)
{
    VALUE refused = Qnil;
    ice_nested_check nested = { &refused, said, Qnil, Qnil, Qnil, Qnil, ctx, 0 };
    const bool has_foreign = each_class(ctx, allowed, &refused, said, &nested);
    if (!NIL_P(refused))
        raise_refusal(refused, *said, nested.without_remedy);
    ice_nested_raise(&nested);
    return has_foreign;
}

VALUE
ice_policy_refused(ice_context *ctx, const ice_allowed *allowed)
{
    VALUE refused = Qnil, said = Qnil;
    ice_nested_check nested = { &refused, &said, Qnil, Qnil, Qnil, Qnil, ctx, 0 };
    each_class(ctx, allowed, &refused, &said, &nested);
    ice_policy_say(said);
    return NIL_P(refused) ? rb_hash_new() : refused;
}

typedef struct {
    const ice_allowed *allowed;
    VALUE refused, said;
} name_check;

static int
check_name(VALUE name, VALUE path, VALUE to)
{
    name_check *check = (name_check *)to;
    const uint32_t verdict = ice_verdict_of(check->allowed, RSTRING_PTR(name), RSTRING_LEN(name));
    if (verdict == (ICECORE_ALLOWED | ICECORE_REPORTED))
        ice_policy_report(&check->said, ICECORE_WORDS_BUILT, name, "");
    if ((verdict & ~(uint32_t)ICECORE_REPORTED) != ICECORE_REFUSED)
        return ST_CONTINUE;
    rb_hash_aset(check->refused, name, path);
    if (verdict & ICECORE_REPORTED)
        ice_policy_report(&check->said, ICECORE_WORDS_REFUSED, name, StringValueCStr(path));
    return ST_CONTINUE;
}

VALUE
ice_policy_refused_names(const ice_allowed *allowed, VALUE names)
{
    name_check check = { allowed, rb_hash_new(), Qnil };
    rb_hash_foreach(names, check_name, (VALUE)&check);
    ice_policy_say(check.said);
    return check.refused;
}

void
ice_policy_check_names(const ice_allowed *allowed, VALUE names)
{
    VALUE refused = ice_policy_refused_names(allowed, names);
    if (RHASH_SIZE(refused))
        raise_refusal(refused, Qnil, Qnil);
}

void
ice_policy_init(void)
{
    reported = rb_hash_new();
    rb_gc_register_mark_object(reported);
}
