/* Ruby's own methods, as they were when the extension was loaded.
 *
 * Some values of core classes can be built only by methods of Ruby itself: only Time._load sets
 * the zone of a Time. A program may replace such a method. The methods here are the original
 * ones, so checked data never reaches a replacement. */
#include "core/icecore_ruby.h"

static VALUE originals[ICE_ORIGINAL_COUNT]; /* UnboundMethods; a Method for ICE_TIME_LOAD */
static VALUE date_load, decimal_load, marshal_dump, marshal_load;
static ID id_bind_call, id_call;

VALUE ice_hash_has_proc, ice_hash_is_keywords;
bool ice_freezes_linked_strings, ice_freezes_bare_dumps, ice_names_have_encodings;

/* Returns an instance method of a class, as an UnboundMethod. */
static VALUE
instance_method(VALUE class, const char *name)
{
    VALUE argument = ID2SYM(rb_intern(name)), method;
    method = rb_funcallv(class, rb_intern("instance_method"), 1, &argument);
    rb_gc_register_mark_object(method);
    return method;
}

/* Calls an UnboundMethod with up to three arguments. */
static VALUE
call_unbound(VALUE method, VALUE self, int argc, const VALUE *argv)
{
    VALUE all[4] = { self, 0, 0, 0 };
    int i;
    for (i = 0; i < argc && i < 3; i++)
        all[i + 1] = argv[i];
    return rb_funcallv(method, id_bind_call, argc + 1, all);
}

VALUE
ice_original_dump(VALUE value)
{
    return rb_funcallv(marshal_dump, id_call, 1, &value);
}

void
ice_originals_add(ice_original which, VALUE class, const char *name)
{
    originals[which] = instance_method(class, name);
}

VALUE
ice_call_original(ice_original which, VALUE self, int argc, const VALUE *argv)
{
    if (which == ICE_TIME_LOAD)
        return rb_funcallv(originals[which], id_call, argc, argv);
    return call_unbound(originals[which], self, argc, argv);
}

VALUE
ice_library_class(const char *library, const char *name)
{
    const ID id = rb_intern(name);
    if (!rb_const_defined(rb_cObject, id) || rb_autoload_p(rb_cObject, id) != Qnil)
        rb_require(library);
    return rb_const_get(rb_cObject, id);
}

VALUE
ice_date_load(VALUE date, VALUE fields)
{
    if (!date_load)
        date_load = instance_method(ice_library_class("date", "Date"), "marshal_load");
    return call_unbound(date_load, date, 1, &fields);
}

VALUE
ice_decimal_load(VALUE text)
{
    if (!decimal_load) {
        decimal_load = rb_obj_method(ice_library_class("bigdecimal", "BigDecimal"), ID2SYM(rb_intern("_load")));
        rb_gc_register_mark_object(decimal_load);
    }
    return rb_funcallv(decimal_load, id_call, 1, &text);
}

/* Returns Marshal's own method, below methods that a program prepended, as ActiveSupport
 * does. */
static VALUE
own_method(const char *name)
{
    const VALUE marshal = rb_const_get(rb_cObject, rb_intern("Marshal"));
    VALUE method = rb_obj_method(marshal, ID2SYM(rb_intern(name))), at = method;
    while (!NIL_P(at) && rb_funcall(at, rb_intern("owner"), 0) != rb_singleton_class(marshal))
        at = rb_funcall(at, rb_intern("super_method"), 0);
    if (!NIL_P(at))
        method = at;
    rb_gc_register_mark_object(method);
    return method;
}

/* Returns the strings of a backtrace. It is set in a new exception, whose method `backtrace` is
 * called, because Ruby then returns the same strings each time. */
VALUE
ice_backtrace(VALUE backtrace)
{
    VALUE error = rb_obj_alloc(rb_eStandardError);
    rb_ivar_set(error, rb_intern("bt"), backtrace);
    return ice_call_original(ICE_BACKTRACE, error, 0, NULL);
}

#ifdef HAVE_RB_HASH_COMPARE_BY_ID_P
int rb_hash_compare_by_id_p(VALUE hash);
#endif

bool
ice_hash_compares_by_identity(VALUE hash)
{
#ifdef HAVE_RB_HASH_COMPARE_BY_ID_P
    return rb_hash_compare_by_id_p(hash);
#else
    return RTEST(ice_call_original(ICE_HASH_BY_IDENTITY, hash, 0, NULL));
#endif
}

/* The index of the machine word of an RHash that contains its default value. If it was not found,
 * it is 0, and ice_hash_default calls a method. */
static uint32_t default_word;

/* Returns an empty hash with this default value; nil if `number` is 0. */
static VALUE
hash_with(long number)
{
    VALUE hash = rb_hash_new();
    RHASH_SET_IFNONE(hash, number ? LONG2FIX(number) : Qnil);
    return hash;
}

/* Finds `default_word`: the word that has the default value in three hashes. The search begins
 * after the flags and the class, and ends with the smallest size of an object, 5 words. */
static void
find_default_word(void)
{
    const VALUE one = hash_with(0x1CEC0DE), other = hash_with(0x2CEC0DE), none = hash_with(0);
    uint32_t i;
    for (i = 2; i < 5 && !default_word; i++)
        if (((VALUE *)one)[i] == LONG2FIX(0x1CEC0DE) && ((VALUE *)other)[i] == LONG2FIX(0x2CEC0DE) &&
            ((VALUE *)none)[i] == Qnil)
            default_word = i;
}

/* Up to Ruby 3.2 a hash with up to 8 entries has them in a separate table, and its flags contain
 * the number of entries, including deleted ones. find_small_hash_entries tests once whether this
 * Ruby does so. */
#define ICE_LARGE_HASH RUBY_FL_USER3
#define ICE_BOUND_SHIFT (RUBY_FL_USHIFT + 8)
static bool has_small_hash_entries;

const VALUE *
ice_small_hash_entries(VALUE hash, uint32_t *bound)
{
    const VALUE flags = RBASIC(hash)->flags;
    const VALUE *table;
    if (!has_small_hash_entries || flags & ICE_LARGE_HASH)
        return NULL;
    table = ((const VALUE *const *)hash)[2];
    *bound = flags >> ICE_BOUND_SHIFT & 15;
    return table && *bound <= 8 ? table + 1 : NULL;
}

/* Sets `has_small_hash_entries`. Fills a small hash, deletes an entry, and checks that the entries
 * are where ice_small_hash_entries expects them. Then checks that more than 8 entries set
 * ICE_LARGE_HASH. */
static void
find_small_hash_entries(void)
{
#if RUBY_API_VERSION_CODE < 30300
    static const char *const names[] = { "icecore_a", "icecore_b", "icecore_c" };
    VALUE hash = rb_hash_new(), keys[3];
    const VALUE *pairs;
    uint32_t bound, i;
    for (i = 0; i < 3; i++) {
        keys[i] = ID2SYM(rb_intern(names[i]));
        rb_hash_aset(hash, keys[i], INT2FIX(0x5EED + i));
    }
    rb_hash_delete(hash, keys[1]);
    has_small_hash_entries = true;
    pairs = ice_small_hash_entries(hash, &bound);
    has_small_hash_entries = pairs && bound == 3 && pairs[0] == keys[0] && pairs[1] == INT2FIX(0x5EED) &&
                             pairs[2] == Qundef && pairs[4] == keys[2] && pairs[5] == INT2FIX(0x5EED + 2);
    for (i = 0; i < 8; i++)
        rb_hash_aset(hash, INT2FIX(i), Qtrue);
    has_small_hash_entries = has_small_hash_entries && RBASIC(hash)->flags & ICE_LARGE_HASH;
#endif
}

VALUE
ice_hash_default(VALUE hash)
{
    if (ICE_LIKELY(default_word))
        return ((const VALUE *)hash)[default_word];
    if (RBASIC(hash)->flags & ice_hash_has_proc)
        return Qtrue;
    return ice_call_original(ICE_HASH_DEFAULT, hash, 0, NULL);
}

/* Returns the flag by which two hashes differ; 0 unless it is exactly one. The lowest 12 bits are
 * ignored, because they mean the same for objects of all types. `bits & (bits - 1)` is 0 if at
 * most one bit is set. */
static VALUE
differing_flag(VALUE one, VALUE other)
{
    const VALUE bits = (RBASIC(one)->flags ^ RBASIC(other)->flags) & ~(VALUE)0xFFF;
    return bits & (bits - 1) ? 0 : bits;
}

/* Finds out if Marshal freezes a string at each link to it: loads two links to one string,
 * which is already interned, and returns true if the second is frozen. */
static bool
finds_frozen_links(void)
{
    static const char text[] = "icecore: a string that is interned";
    VALUE interned = rb_interned_str_cstr(text), string = rb_str_new_cstr(text), pair, bytes, arguments[2];
    pair = rb_ary_new_from_args(2, string, string);
    bytes = rb_funcallv(marshal_dump, id_call, 1, &pair);
    arguments[0] = bytes;
    arguments[1] = rb_hash_new();
    rb_hash_aset(arguments[1], ID2SYM(rb_intern("freeze")), Qtrue);
    pair = rb_funcallv_kw(marshal_load, id_call, 2, arguments, RB_PASS_KEYWORDS);
    RB_GC_GUARD(interned);
    return OBJ_FROZEN(RARRAY_AREF(pair, 1));
}

/* Finds out if Marshal freezes the result of _load if its argument has no variables: loads a
 * Time of eight bytes. */
static bool
finds_frozen_dumps(void)
{
    static const char dump[] = "\x04\bu:\tTime\r\x20\x80\x1e\xc0\0\0\0\0";
    VALUE arguments[2];
    arguments[0] = rb_str_new(dump, sizeof dump - 1);
    arguments[1] = rb_hash_new();
    rb_hash_aset(arguments[1], ID2SYM(rb_intern("freeze")), Qtrue);
    return OBJ_FROZEN(rb_funcallv_kw(marshal_load, id_call, 2, arguments, RB_PASS_KEYWORDS));
}

/* Finds out if Marshal writes the encoding of the name of a module that is a value: dumps a module with such a name. */
static bool
finds_encoded_names(void)
{
    const ID id = rb_intern_str(rb_utf8_str_new_cstr("Encod\xc3\xa9"));
    VALUE bytes;
    rb_const_set(ice_module, id, rb_module_new());
    bytes = ice_original_dump(rb_const_get(ice_module, id));
    rb_const_remove(ice_module, id);
    return RSTRING_LEN(bytes) > 2 && RSTRING_PTR(bytes)[2] == 'I';
}

/* A block that returns nil. */
static VALUE
nothing(RB_BLOCK_CALL_FUNC_ARGLIST(value, data))
{
    return Qnil;
}

void
ice_originals_init(void)
{
    VALUE plain = rb_hash_new(), marked;
    id_bind_call = rb_intern("bind_call");
    id_call = rb_intern("call");
    originals[ICE_TIME_LOAD] = rb_obj_method(rb_cTime, ID2SYM(rb_intern("_load")));
    rb_gc_register_mark_object(originals[ICE_TIME_LOAD]);
    originals[ICE_RANGE_INITIALIZE] = instance_method(rb_cRange, "initialize");
    originals[ICE_HASH_DEFAULT] = instance_method(rb_cHash, "default");
    find_default_word();
    find_small_hash_entries();
    originals[ICE_HASH_BY_IDENTITY] = instance_method(rb_cHash, "compare_by_identity?");
    originals[ICE_HASH_MAKE_IDENTITY] = instance_method(rb_cHash, "compare_by_identity");
    originals[ICE_BACKTRACE] = instance_method(rb_eException, "backtrace");
    originals[ICE_ANCESTORS] = instance_method(rb_cModule, "ancestors");
    originals[ICE_INSTANCE_METHODS] = instance_method(rb_cModule, "instance_methods");
    originals[ICE_IS_SINGLETON] = instance_method(rb_cModule, "singleton_class?");
    marshal_dump = own_method("dump");
    marshal_load = own_method("load");
    ice_freezes_linked_strings = finds_frozen_links();
    ice_freezes_bare_dumps = finds_frozen_dumps();
    ice_names_have_encodings = finds_encoded_names();
    originals[ICE_PRIVATE_METHODS] = instance_method(rb_cModule, "private_instance_methods");
    marked = rb_block_call(rb_cHash, rb_intern("new"), 0, NULL, nothing, Qnil);
    ice_hash_has_proc = differing_flag(plain, marked);
    marked = rb_funcall(rb_cHash, rb_intern("ruby2_keywords_hash"), 1, plain);
    ice_hash_is_keywords = differing_flag(plain, marked);
}
