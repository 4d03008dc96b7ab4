/* Calls into perl. */
#include "core/icecore_perl.h"
#ifndef WIN32
#  include <sys/resource.h>
#endif

#define MY_CXT_KEY "Icecore::hooks" XS_VERSION
typedef struct {
    const char *base; /* where the native stack was when the first one was called */
    I32 depth;        /* how many call each other */
} my_cxt_t;
START_MY_CXT

/* How much of the native stack hooks may take that call each other. */
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

/* So many levels fit everywhere, and a program that switches stacks has fewer. */
enum { SOME_LEVELS = 500 };

/* Dies while there is still room. For as long as the scope. */
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

/* A method of a class, inherited or not; NULL, if there is none. AUTOLOAD does
 * not count. */
CV *
ice_method(pTHX_ HV *stash, const char *name)
{
    GV *gv = gv_fetchmethod_autoload(stash, name, FALSE);
    return gv && isGV(gv) ? GvCV(gv) : NULL;
}

/* Calls a sub and puts what it returns in a list, or the one value that it
 * returns in scalar context. On a stack of its own: `last` and the like can't
 * leave it, which would go on behind the call and leave us here. */
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
        /* Copies: what was returned may be a temporary, or change. */
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

/* A mortal. */
SV *
ice_call_scalar(pTHX_ SV *method, SV **arguments, SSize_t count)
{
    AV *list = (AV *)sv_2mortal((SV *)call(aTHX_ method, arguments, count, G_SCALAR));
    return AvFILLp(list) >= 0 ? sv_2mortal(SvREFCNT_inc_simple_NN(AvARRAY(list)[0])) : &PL_sv_undef;
}

/* Goes on with an error that some code caused. */
static void
check_error(pTHX_ SV *code, SV *error)
{
    if (error)
        croak("code %" SVf " caused an error: %" SVf, SVfARG(code), SVfARG(error));
}

/* What $@ says: a mortal, or NULL. */
static SV *
said_error(pTHX)
{
    return SvTRUE(ERRSV) ? sv_2mortal(newSVsv(ERRSV)) : NULL;
}

/* What a text is when it is evaluated; a mortal. An error goes on; without one
 * $@ stays what it was. */
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

/* The same, where a sub evaluates it, which may say in $@ what is wrong. */
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
