/* Arguments of methods: a required one, an optional one, and keywords. */
#include "formats/formats.h"

void
ice_scan_options(int argc, const VALUE *argv, VALUE *first, VALUE *second, const ID *names, int count, VALUE *values)
{
    int i;
    size_t found_count = 0;
    VALUE options = Qnil;
    for (i = 0; i < count; i++)
        values[i] = Qundef;
    /* rb_scan_args is not used, because it copies the hash: this costs as much as a small
     * document. */
    if (argc > 0 && rb_keyword_given_p())
        options = argv[--argc];
    rb_check_arity(argc, 1, 2);
    *first = argv[0];
    *second = argc > 1 ? argv[1] : Qnil;
    if (NIL_P(options))
        return;
    for (i = 0; i < count && found_count < RHASH_SIZE(options); i++) {
        values[i] = rb_hash_lookup2(options, ID2SYM(names[i]), Qundef);
        found_count += values[i] != Qundef;
    }
    /* The hash has more keywords than were found, so one is unknown. rb_get_kwargs raises. */
    if (found_count < RHASH_SIZE(options))
        rb_get_kwargs(rb_hash_dup(options), names, 0, count, values);
}
