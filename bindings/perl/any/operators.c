/* Operators that replace calls.
 *
 * A call of a sub costs some 15 ns. If perl compiles a direct call of one of these subs, an
 * operator of this module replaces the call. All other calls (as a method, by a reference, with
 * `&`) go to the sub. */
#include "any/any.h"
#include "pack/pack.h"
#include "sereal/sereal.h"

/* The function of an operator. Its arguments are on perl's stack above `mark`: mark[1] is the
 * first of `items`. */
typedef SV *(*operator_body)(pTHX_ SV **mark, I32 items);

/* Runs an operator: replaces its arguments on perl's stack by the result. */
static OP *
run_operator(pTHX_ operator_body body)
{
    dSP;
    dMARK;
    const SSize_t before = MARK - PL_stack_base;
    SV *result;
    PUTBACK;
    result = sv_2mortal(body(aTHX_ MARK, (I32)(SP - MARK)));
    /* The stack may have moved. */
    SP = PL_stack_base + before;
    XPUSHs(result);
    RETURN;
}

/* Dies if a call has too few or too many arguments. */
static void
check_argument_count(pTHX_ const char *usage, I32 items, I32 min, I32 max)
{
    if (items < min || items > max)
        croak("Usage: Icecore::%s", usage);
}

/* The argument with this number, from 1 on; NULL if it was not passed. */
#define ARGUMENT(index) ((index) <= items ? mark[index] : NULL)

/* The functions of the operators. Each does the same as the sub of that name in Icecore.xs or
 * sereal.xsh. */

static SV *
run_pack_list(pTHX_ SV **mark, I32 items)
{
    check_argument_count(aTHX_ "pack_list(template, ...)", items, 1, I32_MAX);
    return ice_pack_list(aTHX_ mark[1], (I32)(mark - PL_stack_base) + 2, items - 1);
}

static SV *
run_encode_sereal(pTHX_ SV **mark, I32 items)
{
    check_argument_count(aTHX_ "Sereal::encode_sereal(data, options = NULL)", items, 1, 2);
    return ice_sereal_encode(aTHX_ mark[1], NULL, ARGUMENT(2));
}

static SV *
run_decode_sereal(pTHX_ SV **mark, I32 items)
{
    check_argument_count(aTHX_ "Sereal::decode_sereal(bytes, options = NULL, target = NULL)", items, 1, 3);
    return ice_sereal_decode(aTHX_ mark[1], ARGUMENT(2), ICE_BODY, ARGUMENT(3), NULL);
}

static SV *
run_encode_with_object(pTHX_ SV **mark, I32 items)
{
    check_argument_count(aTHX_ "Sereal::sereal_encode_with_object(encoder, data, header = NULL)", items, 2, 3);
    return ice_encoder_encode(aTHX_ mark[1], mark[2], ARGUMENT(3));
}

static SV *
run_decode_with_object(pTHX_ SV **mark, I32 items)
{
    check_argument_count(aTHX_ "Sereal::sereal_decode_with_object(decoder, bytes, target = NULL)", items, 2, 3);
    return ice_decoder_decode(aTHX_ mark[1], mark[2], 0, ICE_BODY, ARGUMENT(3), NULL);
}

#define OPERATOR(name)                                                                                               \
    static OP *pp_##name(pTHX)                                                                                       \
    {                                                                                                                \
        return run_operator(aTHX_ run_##name);                                                                       \
    }
OPERATOR(pack_list)
OPERATOR(encode_sereal)
OPERATOR(decode_sereal)
OPERATOR(encode_with_object)
OPERATOR(decode_with_object)

static const struct {
    const char *sub, *name;
    OP *(*pp)(pTHX);
} operators[] = {
    { "Icecore::pack_list", "icecore_pack_list", pp_pack_list },
    { "Icecore::Sereal::encode_sereal", "icecore_encode_sereal", pp_encode_sereal },
    { "Icecore::Sereal::decode_sereal", "icecore_decode_sereal", pp_decode_sereal },
    { "Icecore::Sereal::sereal_encode_with_object", "icecore_sereal_encode_with_object", pp_encode_with_object },
    { "Icecore::Sereal::sereal_decode_with_object", "icecore_sereal_decode_with_object", pp_decode_with_object },
};
enum { OPERATORS = C_ARRAY_LENGTH(operators) };

/* Replaces a call by an operator. `index` is its index in the table. Keeps calls without
 * arguments. */
static OP *
replace_call(pTHX_ OP *call, GV *name, SV *index)
{
    OP *parent, *mark, *last, *arguments, *op;
    int count = 0;
    PERL_UNUSED_ARG(name);
    /* The children of a call are a mark, the arguments and the sub, in this order. They may be in a
     * list of their own. The arguments move to the new operator, after its own mark. */
    call = ck_entersub_args_list(call);
    parent = call;
    mark = cUNOPx(call)->op_first;
    if (!OpHAS_SIBLING(mark)) {
        parent = mark;
        mark = cUNOPx(mark)->op_first;
    }
    /* The last sibling is the sub itself. */
    for (last = mark; OpHAS_SIBLING(OpSIBLING(last)); last = OpSIBLING(last))
        count++;
    if (count == 0)
        return call;
    arguments = op_sibling_splice(parent, mark, count, NULL);
    op_free(call);
    op = newLISTOP(OP_CUSTOM, 0, newOP(OP_PUSHMARK, 0), NULL);
    op_sibling_splice(op, cLISTOPx(op)->op_first, 0, arguments);
    op->op_ppaddr = operators[SvIV(index)].pp;
    return op;
}

void
ice_operators_boot(pTHX)
{
    static XOP ops[OPERATORS];
    size_t i;
    for (i = 0; i < OPERATORS; i++) {
        CV *sub = get_cv(operators[i].sub, 0);
        XopENTRY_set(&ops[i], xop_name, operators[i].name);
        XopENTRY_set(&ops[i], xop_desc, operators[i].name);
        XopENTRY_set(&ops[i], xop_class, OA_LISTOP);
        Perl_custom_op_register(aTHX_ operators[i].pp, &ops[i]);
        if (sub) {
            SV *index = newSViv((IV)i);
            cv_set_call_checker(sub, replace_call, index);
            SvREFCNT_dec_NN(index);
        }
    }
}
