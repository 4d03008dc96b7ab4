/* Calls into perl. */
#include "core/icecore_perl.h"
#ifndef WIN32
#  include <sys/resource.h>
#endif

#define MY_CXT_KEY "Icecore::hooks" XS_VERSION
typedef struct {
    const char *base; /* position of the native stack at the first call */
    I32 depth;        /* number of nested calls */
} my_cxt_t;
START_MY_CXT

/* Limit in bytes for the native stack of nested hooks. */
static UV native_stack = 512 * 1024;

void
ice_hooks_boot(pTHX)
{
    MY_CXT_INIT;
    Zero(&MY_CXT, 1, my_cxt_t);
#ifndef WIN32
    {
        struct rlimit limit;
        const UV most = 64 * 1024 * 1024;
        if (getrlimit(RLIMIT_STACK, &limit) == 0)
            native_stack = (limit.rlim_cur > most ? most : (UV)limit.rlim_cur) / 8 * 7;
    }
#endif
}

void
ice_hooks_clone(pTHX)
{
    MY_CXT_CLONE;
    Zero(&MY_CXT, 1, my_cxt_t);
}

/* This many levels fit everywhere; a program that switches stacks has fewer. */
enum { SOME_LEVELS = 500 };

/* Counts a level for the current scope. Dies before the native stack is full. */
static void
go_deeper(pTHX)
{
    const char here = 0, *const at = &here;
    UV used;
    dMY_CXT;
    SAVEI32(MY_CXT.depth);
    if (MY_CXT.depth++ == 0)
        MY_CXT.base = at;
    used = (UV)(at < MY_CXT.base ? MY_CXT.base - at : at - MY_CXT.base);
    if (UNLIKELY(MY_CXT.depth > SOME_LEVELS && used > native_stack))
        croak("Max. recursion depth with nested refs exceeded: %d hooks call each other, and the native stack has no room "
              "for more", (int)MY_CXT.depth);
}

/* Returns a method of a class, inherited or not; NULL if there is none. AUTOLOAD does
 * not count. */
CV *
ice_method(pTHX_ HV *stash, const char *name)
{
    GV *gv = gv_fetchmethod_autoload(stash, name, FALSE);
    return gv && isGV(gv) ? GvCV(gv) : NULL;
}

/* Calls a sub and returns its results in a list, or one value in scalar context. The
 * call has a perl stack of its own, so that `last` and similar statements can't jump out
 * of it and skip this function. */
static AV *
call(pTHX_ SV *method, SV **arguments, SSize_t count, U8 context)
{
    AV *list = newAV();
    SSize_t i, given, first;
    dSP;
    ENTER;
    SAVETMPS;
    SAVEFREESV((SV *)list);
    go_deeper(aTHX);
    PUSHSTACKi(PERLSI_MAGIC);
    PUSHMARK(SP);
    EXTEND(SP, count);
    for (i = 0; i < count; i++)
        PUSHs(arguments[i] ? arguments[i] : &PL_sv_undef);
    PUTBACK;
    given = call_sv(method, context);
    SPAGAIN;
    first = SP - PL_stack_base - given + 1;
    if (given > 0) {
        av_extend(list, given - 1);
        /* Copies, because the results may be temporaries, or change. */
        for (i = 0; i < given; i++)
            av_store(list, i, newSVsv(PL_stack_base[first + i]));
    }
    SPAGAIN;
    SP -= given;
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
    return call(aTHX_ method, arguments, count, G_LIST);
}

/* Calls a sub in scalar context and returns a mortal. */
SV *
ice_call_scalar(pTHX_ SV *method, SV **arguments, SSize_t count)
{
    AV *list = (AV *)sv_2mortal((SV *)call(aTHX_ method, arguments, count, G_SCALAR));
    return AvFILLp(list) >= 0 ? sv_2mortal(SvREFCNT_inc_simple_NN(AvARRAY(list)[0])) : &PL_sv_undef;
}

/* Dies with an error that some code caused. */
static void
check_error(pTHX_ SV *code, SV *error)
{
    if (error)
        croak("code %" SVf " caused an error: %" SVf, SVfARG(code), SVfARG(error));
}

/* Returns the content of $@: a mortal, or NULL. */
static SV *
said_error(pTHX)
{
    return SvTRUE(ERRSV) ? sv_2mortal(newSVsv(ERRSV)) : NULL;
}

/* Evaluates a text and returns its value: a mortal. Dies if it fails; otherwise $@ is
 * unchanged. */
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
    error = said_error(aTHX);
    LEAVE;
    check_error(aTHX_ code, error);
    return result;
}

/* Lets a sub evaluate the text; it may report an error in $@. */
SV *
ice_eval_by(pTHX_ SV *sub, SV *code)
{
    SV *result, *error;
    ENTER;
    save_scalar(PL_errgv);
    result = ice_call_scalar(aTHX_ sub, &code, 1);
    error = said_error(aTHX);
    LEAVE;
    check_error(aTHX_ code, error);
    return result;
}

/* Compiles a pattern, as qr// does. Returns the regexp, not a reference to it. */
SV *
ice_regexp(pTHX_ SV *pattern, const char *flags, STRLEN len)
{
    U32 bits = 0;
    STRLEN i;
    int ascii = 0;
    for (i = 0; i < len; i++)
        switch (flags[i]) {
        case 'm':
            bits |= RXf_PMf_MULTILINE;
            break;
        case 's':
            bits |= RXf_PMf_SINGLELINE;
            break;
        case 'i':
            bits |= RXf_PMf_FOLD;
            break;
        case 'x':
            bits |= bits & RXf_PMf_EXTENDED ? RXf_PMf_EXTENDED_MORE : RXf_PMf_EXTENDED;
            break;
        case 'n':
            bits |= RXf_PMf_NOCAPTURE;
            break;
        case 'p':
            bits |= RXf_PMf_KEEPCOPY;
            break;
        case 'u':
            set_regex_charset(&bits, REGEX_UNICODE_CHARSET);
            break;
        case 'l':
            set_regex_charset(&bits, REGEX_LOCALE_CHARSET);
            break;
        case 'a':
            set_regex_charset(&bits, ascii++ ? REGEX_ASCII_MORE_RESTRICTED_CHARSET : REGEX_ASCII_RESTRICTED_CHARSET);
            break;
        case 'd':
            break;
        default:
            croak("Icecore: a regexp with the unknown modifier '%c'", flags[i]);
        }
    return (SV *)pregcomp(pattern, bits);
}
