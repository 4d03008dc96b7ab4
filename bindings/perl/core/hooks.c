/* Calls perl code: methods and other subs, texts, and the compilation of regexps. */
#include "core/icecore_perl.h"
#ifndef WIN32
#  include <sys/resource.h>
#endif

#define MY_CXT_KEY "Icecore::hooks" XS_VERSION
typedef struct {
    const char *base; /* the address on the native stack at the outermost call */
    I32 depth;        /* number of nested calls */
} my_cxt_t;
START_MY_CXT

/* Limit in bytes for the native stack of nested hooks. */
static UV native_stack_limit = 512 * 1024;

void
ice_hooks_boot(pTHX)
{
    MY_CXT_INIT;
    Zero(&MY_CXT, 1, my_cxt_t);
#ifndef WIN32
    {
        struct rlimit limit;
        const UV max = 64 * 1024 * 1024;
        /* An eighth of the stack is left for the frames before the first call, and for the code
         * that the last hook runs. */
        if (getrlimit(RLIMIT_STACK, &limit) == 0)
            native_stack_limit = (limit.rlim_cur > max ? max : (UV)limit.rlim_cur) / 8 * 7;
    }
#endif
}

void
ice_hooks_clone(pTHX)
{
    MY_CXT_CLONE;
    Zero(&MY_CXT, 1, my_cxt_t);
}

/* This number of nested calls fits into any native stack. With fewer calls, addresses on the stack
 * are not compared. So a program with few nested calls may switch native stacks, whose distance has no
 * meaning. */
enum { SAFE_LEVELS = 500 };

/* Counts a nested call until perl leaves the current scope. Dies before the native stack is
 * full. */
static void
enter_call(pTHX)
{
    /* The address of a local variable is a position on the native stack. */
    const char marker = 0, *const position = &marker;
    UV used;
    dMY_CXT;
    SAVEI32(MY_CXT.depth);
    if (MY_CXT.depth++ == 0)
        MY_CXT.base = position;
    /* The native stack may grow up or down. */
    used = (UV)(position < MY_CXT.base ? MY_CXT.base - position : position - MY_CXT.base);
    if (UNLIKELY(MY_CXT.depth > SAFE_LEVELS && used > native_stack_limit))
        croak("Max. recursion depth with nested refs exceeded: %d hooks call each other, and the native stack has no "
              "room "
              "for more",
              (int)MY_CXT.depth);
}

/* Returns a method of a class, inherited or not; NULL if there is none. Ignores AUTOLOAD. */
CV *
ice_find_method(pTHX_ HV *stash, const char *name)
{
    GV *gv = gv_fetchmethod_autoload(stash, name, FALSE);
    return gv && isGV(gv) ? GvCV(gv) : NULL;
}

/* Calls a sub and returns a list of its results. In scalar context the list has one value. The
 * call has a perl stack of its own, so that `last` and similar statements can't jump out of it
 * and past this function.
 *
 * The scope frees the list if the sub dies. At the end, one more reference is counted for the
 * caller before the scope drops its own. */
static AV *
call_sub(pTHX_ SV *method, SV **arguments, SSize_t count, U8 context)
{
    AV *list = newAV();
    SSize_t i, result_count, first;
    dSP;
    ENTER;
    SAVETMPS;
    SAVEFREESV((SV *)list);
    enter_call(aTHX);
    PUSHSTACKi(PERLSI_MAGIC);
    PUSHMARK(SP);
    EXTEND(SP, count);
    for (i = 0; i < count; i++)
        PUSHs(arguments[i] ? arguments[i] : &PL_sv_undef);
    PUTBACK;
    result_count = call_sv(method, context);
    SPAGAIN;
    first = SP - PL_stack_base - result_count + 1;
    if (result_count > 0) {
        av_extend(list, result_count - 1);
        /* The results are copied, because they may be temporaries or change later. Copying may
         * run magic that moves perl's stack, so each result is found by its index. */
        for (i = 0; i < result_count; i++)
            av_store(list, i, newSVsv(PL_stack_base[first + i]));
    }
    SPAGAIN;
    SP -= result_count;
    PUTBACK;
    POPSTACK;
    SvREFCNT_inc_simple_void_NN((SV *)list);
    FREETMPS;
    LEAVE;
    return list;
}

AV *
ice_call_list(pTHX_ SV *method, SV **arguments, SSize_t count)
{
    return call_sub(aTHX_ method, arguments, count, G_LIST);
}

/* Calls a sub in scalar context and returns a mortal. */
SV *
ice_call_scalar(pTHX_ SV *method, SV **arguments, SSize_t count)
{
    AV *list = (AV *)sv_2mortal((SV *)call_sub(aTHX_ method, arguments, count, G_SCALAR));
    return AvFILLp(list) >= 0 ? sv_2mortal(SvREFCNT_inc_simple_NN(AvARRAY(list)[0])) : &PL_sv_undef;
}

/* Dies if evaluated code has caused an error. `error` is NULL if the code has not failed. */
static void
croak_if_error(pTHX_ SV *code, SV *error)
{
    if (error)
        croak("code %" SVf " caused an error: %" SVf, SVfARG(code), SVfARG(error));
}

/* Returns a copy of $@ as a mortal; NULL if there is no error. Must be called before the scope
 * ends, because the end of the scope restores the old $@. */
static SV *
eval_error(pTHX)
{
    return SvTRUE(ERRSV) ? sv_2mortal(newSVsv(ERRSV)) : NULL;
}

/* Evaluates a text and returns its value: a mortal. Dies if it fails. Leaves $@ unchanged
 * otherwise. */
SV *
ice_eval(pTHX_ SV *code)
{
    SV *result, *error;
    dSP;
    ENTER;
    save_scalar(PL_errgv);
    PUSHSTACKi(PERLSI_MAGIC);
    eval_sv(code, G_SCALAR);
    SPAGAIN;
    result = sv_2mortal(newSVsv(POPs));
    PUTBACK;
    POPSTACK;
    error = eval_error(aTHX);
    LEAVE;
    croak_if_error(aTHX_ code, error);
    return result;
}

/* Lets a sub of the program evaluate a text, as ice_eval does. Dies if the sub sets $@. */
SV *
ice_eval_with_sub(pTHX_ SV *sub, SV *code)
{
    SV *result, *error;
    ENTER;
    save_scalar(PL_errgv);
    result = ice_call_scalar(aTHX_ sub, &code, 1);
    error = eval_error(aTHX);
    LEAVE;
    croak_if_error(aTHX_ code, error);
    return result;
}

/* Compiles a pattern, as qr// does. Returns the regexp, not a reference to it. `x` and `a` have
 * another meaning if they come twice: `xx` also ignores blanks in character classes, and `aa`
 * forbids ASCII characters to match others without regard to case. */
SV *
ice_compile_regexp(pTHX_ SV *pattern, const char *flags, STRLEN len)
{
    U32 regexp_flags = 0;
    STRLEN i;
    int ascii_count = 0;
    for (i = 0; i < len; i++)
        switch (flags[i]) {
        case 'm':
            regexp_flags |= RXf_PMf_MULTILINE;
            break;
        case 's':
            regexp_flags |= RXf_PMf_SINGLELINE;
            break;
        case 'i':
            regexp_flags |= RXf_PMf_FOLD;
            break;
        case 'x':
            regexp_flags |= regexp_flags & RXf_PMf_EXTENDED ? RXf_PMf_EXTENDED_MORE : RXf_PMf_EXTENDED;
            break;
        case 'n':
            regexp_flags |= RXf_PMf_NOCAPTURE;
            break;
        case 'p':
            regexp_flags |= RXf_PMf_KEEPCOPY;
            break;
        case 'u':
            set_regex_charset(&regexp_flags, REGEX_UNICODE_CHARSET);
            break;
        case 'l':
            set_regex_charset(&regexp_flags, REGEX_LOCALE_CHARSET);
            break;
        case 'a':
            set_regex_charset(&regexp_flags,
                              ascii_count++ ? REGEX_ASCII_MORE_RESTRICTED_CHARSET : REGEX_ASCII_RESTRICTED_CHARSET);
            break;
        case 'd':
            break;
        default:
            croak("Icecore: a regexp with the unknown modifier '%c'", flags[i]);
        }
    return (SV *)pregcomp(pattern, regexp_flags);
}
