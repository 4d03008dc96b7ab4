/* Replaces text inside of frozen data, without building a value. Code of the program can run in
 * `to_str` of an argument, and in the block. The first is before the engine begins, and the second
 * after it has finished, so no such code can change the data or the replacer meanwhile. */
#include "formats/formats.h"
#include "core/documents.h"

/* The compiled pairs of the last call. The engine compiles again only if the pairs change. */
static icecore_replacer *replacer;

/* Positions in `options`: two options with values, then boolean options, each with a flag. */
enum { FORMAT, MAX_DEPTH, FIRST_FLAG };

static const struct {
    const char *name;
    uint32_t flag;
} options[] = {
    [FORMAT] = { "format", 0 },
    [MAX_DEPTH] = { "max_depth", 0 },
    { "keys", ICECORE_REPLACE_KEYS },
    { "classes", ICECORE_REPLACE_CLASSES },
    { "base64", ICECORE_REPLACE_BASE64 },
    { "mend", ICECORE_REPLACE_MEND },
    { "regex", ICECORE_REPLACE_REGEX },
    { "ignore_case", ICECORE_REPLACE_IGNORE_CASE },
    { "url", ICECORE_REPLACE_URL },
};

#define OPTION_COUNT ((int)(sizeof options / sizeof *options))

static ID keywords[OPTION_COUNT];

/* ---- arguments -------------------------------------------------------------------------- */

typedef struct {
    VALUE texts; /* an Array of frozen strings: old and new texts, alternating */
    VALUE data, format;
    uint64_t depth; /* `max_depth`, or 0 for the default */
    uint32_t flags;
} replace_call;

/* Returns an argument as a frozen string that nothing can change. */
static VALUE
frozen_string(VALUE value)
{
    return rb_str_new_frozen(StringValue(value));
}

/* Appends an old and a new text. Also for rb_hash_foreach. */
static int
add_pair(VALUE old, VALUE new, VALUE texts)
{
    rb_ary_push(texts, frozen_string(old));
    rb_ary_push(texts, frozen_string(new));
    return ST_CONTINUE;
}

/* Parses the keywords. */
static void
parse_options(replace_call *call, VALUE keyword_arguments)
{
    VALUE values[OPTION_COUNT];
    int i;
    if (NIL_P(keyword_arguments))
        return;
    rb_get_kwargs(rb_hash_dup(keyword_arguments), keywords, 0, OPTION_COUNT, values);
    for (i = FIRST_FLAG; i < OPTION_COUNT; i++)
        if (values[i] != Qundef && RTEST(values[i]))
            call->flags |= options[i].flag;
    if (values[FORMAT] != Qundef && !NIL_P(values[FORMAT]))
        call->format = frozen_string(SYMBOL_P(values[FORMAT]) ? rb_sym2str(values[FORMAT]) : values[FORMAT]);
    if (values[MAX_DEPTH] != Qundef)
        call->depth = ice_depth_option(values[MAX_DEPTH]);
}

/* Raises unless each text is binary or has the encoding of the data, as gsub does. If the data is
 * binary, it may contain text in any encoding, so nothing is checked. */
static void
check_encodings(const replace_call *call)
{
    long i;
    if (rb_enc_get_index(call->data) == rb_ascii8bit_encindex())
        return;
    for (i = 0; i < RARRAY_LEN(call->texts); i++) {
        VALUE text = rb_ary_entry(call->texts, i);
        if (rb_enc_get_index(text) != rb_ascii8bit_encindex())
            rb_enc_check(call->data, text);
    }
}

/* Parses all arguments: OLD, NEW and the data, or pairs and the data. */
static void
parse_arguments(replace_call *call, int argc, VALUE *argv)
{
    VALUE keyword_arguments = argc > 0 && rb_keyword_given_p() ? argv[--argc] : Qnil, data;
    VALUE pairs = argc > 0 ? rb_check_hash_type(argv[0]) : Qnil;
    call->texts = rb_ary_new();
    call->format = Qnil;
    parse_options(call, keyword_arguments);
    if (NIL_P(pairs)) {
        rb_check_arity(argc, 3, 3);
        add_pair(argv[0], argv[1], call->texts);
        data = argv[2];
    } else {
        rb_check_arity(argc, 2, 2);
        rb_hash_foreach(pairs, add_pair, call->texts);
        data = argv[1];
    }
    call->data = frozen_string(data);
    check_encodings(call);
}

/* ---- replacing ------------------------------------------------------------------------------ */

/* Sets the pairs and options of the replacer. */
static void
prepare_replacer(const replace_call *call)
{
    const long count = RARRAY_LEN(call->texts) / 2;
    const bool has_format = !NIL_P(call->format);
    icecore_error error;
    uint32_t failed;
    VALUE memory;
    /* One more than necessary, so that the size is never 0. */
    icecore_pair *pairs = ALLOCV_N(icecore_pair, memory, count + 1);
    long i;
    for (i = 0; i < count; i++) {
        VALUE old = rb_ary_entry(call->texts, 2 * i), new = rb_ary_entry(call->texts, 2 * i + 1);
        pairs[i].from = (const uint8_t *)RSTRING_PTR(old);
        pairs[i].from_len = RSTRING_LEN(old);
        pairs[i].to = (const uint8_t *)RSTRING_PTR(new);
        pairs[i].to_len = RSTRING_LEN(new);
    }
    failed = icecore_replacer_prepare(replacer, pairs, count, has_format ? RSTRING_PTR(call->format) : NULL,
                                      has_format ? RSTRING_LEN(call->format) : 0, call->flags, &error);
    ALLOCV_END(memory);
    if (failed)
        ice_raise_error(&error, NULL, 0, false);
    if (call->depth)
        icecore_replacer_limit(replacer, "depth", 5, call->depth, NULL);
}

/* Returns the counts as a Hash, for the block. The explanations are a text of names and numbers,
 * `name=1,other=2`. */
static VALUE
report_of(const icecore_replaced *counts)
{
    VALUE report = rb_hash_new(), explanations = rb_hash_new();
    const char *position, *end;
    char *next;
    for (position = counts->explanations; (end = strchr(position, '=')); position = next + (*next == ',')) {
        VALUE number = ULL2NUM(strtoull(end + 1, &next, 10));
        rb_hash_aset(explanations, rb_utf8_str_new(position, end - position), number);
    }
    rb_hash_aset(report, ID2SYM(rb_intern("strings")), ULL2NUM(counts->strings));
    rb_hash_aset(report, ID2SYM(rb_intern("occurrences")), ULL2NUM(counts->occurrences));
    rb_hash_aset(report, ID2SYM(rb_intern("frozen")), ULL2NUM(counts->frozen));
    rb_hash_aset(report, ID2SYM(rb_intern("broken")), ULL2NUM(counts->broken));
    rb_hash_aset(report, ID2SYM(rb_intern("mended")), ULL2NUM(counts->mended));
    rb_hash_aset(report, ID2SYM(rb_intern("guessed")), ULL2NUM(counts->guessed));
    rb_hash_aset(report, ID2SYM(rb_intern("explanations")), explanations);
    rb_hash_aset(report, ID2SYM(rb_intern("opaque")), ULL2NUM(counts->opaque));
    rb_hash_aset(report, ID2SYM(rb_intern("unsayable")), ULL2NUM(counts->unsayable));
    rb_hash_aset(report, ID2SYM(rb_intern("signed")), ULL2NUM(counts->signed_values));
    rb_hash_aset(report, ID2SYM(rb_intern("first_broken")),
                 *counts->first_broken ? rb_utf8_str_new_cstr(counts->first_broken) : Qnil);
    return report;
}

/* The method `Icecore.replace`. */
static VALUE
replace(int argc, VALUE *argv, VALUE self)
{
    replace_call call = { .flags = 0 };
    icecore_buffer out = { NULL, 0, 0 };
    icecore_replaced counts;
    icecore_error error;
    VALUE result;
    parse_arguments(&call, argc, argv);
    prepare_replacer(&call);
    if (icecore_replacer_apply(replacer, (const uint8_t *)RSTRING_PTR(call.data), RSTRING_LEN(call.data), &out,
                               &counts, &error))
        ice_raise_error(&error, NULL, 0, false);
    if (counts.is_changed)
        result = rb_enc_str_new((const char *)out.bytes, out.len, rb_enc_get(call.data));
    else
        result = rb_str_subseq(call.data, 0, RSTRING_LEN(call.data));
    icecore_buffer_free(&out);
    /* The engine has pointers into these strings, so the collector must not free them earlier. */
    RB_GC_GUARD(call.data);
    RB_GC_GUARD(call.texts);
    RB_GC_GUARD(call.format);
    if (rb_block_given_p())
        rb_yield(report_of(&counts));
    return result;
}

void
ice_replace_init(void)
{
    int i;
    for (i = 0; i < OPTION_COUNT; i++)
        keywords[i] = rb_intern(options[i].name);
    replacer = icecore_replacer_new();
    rb_define_singleton_method(ice_module, "replace", replace, -1);
}
