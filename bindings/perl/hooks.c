/* Calls into perl. */
#include "icecore_perl.h"

/* A method of a class, inherited or not; NULL, if there is none. AUTOLOAD does
 * not count. */
CV *
ice_method(pTHX_ HV *stash, const char *name)
{
    GV *gv = gv_fetchmethod_autoload(stash, name, FALSE);
    return gv && isGV(gv) ? GvCV(gv) : NULL;
}

/* Calls a sub in list context; copies of what it returns. */
AV *
ice_call_list(pTHX_ SV *self, SV *method, SV *argument)
{
    AV *list = newAV();
    I32 count;
    dSP;
    ENTER;
    SAVETMPS;
    sv_2mortal((SV *)list);
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(self);
    if (argument)
        PUSHs(argument);
    PUTBACK;
    count = call_sv(method, G_LIST);
    SPAGAIN;
    if (count > 0) {
        I32 i;
        av_extend(list, count - 1);
        for (i = 0; i < count; i++)
            av_store(list, i, newSVsv(SP[i - count + 1]));
    }
    SP -= count;
    PUTBACK;
    SvREFCNT_inc_simple_void_NN(list);
    FREETMPS;
    LEAVE;
    return list;
}

/* Compiles a pattern, as qr// does. Code in a pattern is refused by perl itself,
 * unless the program asked for it. Returns the regexp, not a reference to it. */
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
