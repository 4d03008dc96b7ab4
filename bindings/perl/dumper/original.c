/* Tasks that are left to Data::Dumper itself: it remembers addresses from call to call,
 * dumps the contents of globs, and counts levels in its own way. */
#include "dumper/dumper.h"

static const char *const names_of_settings[FLAGS + NUMBERS + TEXTS] = { ID_FLAG_NAMES, ID_NUMBER_NAMES, ID_TEXT_NAMES };
static const char *const usual_texts[TEXTS] = { ID_USUAL_TEXTS };

/* Data::Dumper's own default, for which its own counting of levels is not needed. */
enum { USUAL_RECURSION = 1000 };

bool
id_is_for_original(const id_settings *set)
{
    const IV recursion = set->numbers[MAXRECURSE];
    return set->flags & 1U << USEPERL || (set->numbers[MAXDEPTH] > 0 && !(set->flags & 1U << PURITY))
           || (recursion > 0 && recursion != USUAL_RECURSION);
}

SV *
id_new_original(pTHX)
{
    return SvREFCNT_inc(ice_call_scalar(aTHX_ (SV *)get_cv("Icecore::Dumper::_new_original", GV_ADD), NULL, 0));
}

SV *
id_by_original(pTHX_ const id_settings *set, SV *original, AV *values, AV *names, AV *texts)
{
    enum { FIRST = 3 };
    SV *arguments[FIRST + 2 * (FLAGS + NUMBERS + TEXTS)], **at = arguments + FIRST;
    SV *const by = (SV *)get_cv("Icecore::Dumper::_by_original", GV_ADD);
    int i;
    arguments[0] = original;
    arguments[1] = sv_2mortal(newRV_inc((SV *)values));
    arguments[2] = names ? sv_2mortal(newRV_inc((SV *)names)) : &PL_sv_undef;
    for (i = 0; i < FLAGS + NUMBERS + TEXTS; i++) {
        const int text = i - FLAGS - NUMBERS;
        *at++ = sv_2mortal(newSVpv(names_of_settings[i], 0));
        if (text >= 0)
            *at++ = set->texts[text] ? set->texts[text] : sv_2mortal(newSVpv(usual_texts[text], 0));
        else
            *at++ = sv_2mortal(newSViv(i < FLAGS ? (IV)(set->flags >> i & 1) : set->numbers[i - FLAGS]));
    }
    if (!texts)
        return ice_call_scalar(aTHX_ by, arguments, at - arguments);
    {
        AV *list = (AV *)sv_2mortal((SV *)ice_call_list(aTHX_ by, arguments, at - arguments));
        for (i = 0; i <= AvFILLp(list); i++)
            av_push(texts, SvREFCNT_inc_simple_NN(AvARRAY(list)[i]));
    }
    return NULL;
}
