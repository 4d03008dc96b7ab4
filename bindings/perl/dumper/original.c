/* Tasks that are left to Data::Dumper itself: it remembers addresses from call to call,
 * dumps the contents of globs, and counts levels in its own way. */
#include "dumper/dumper.h"

static const char *const setting_names[ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_TEXT_COUNT] = { ID_FLAG_NAMES,
                                                                                            ID_NUMBER_NAMES,
                                                                                            ID_TEXT_NAMES };
static const char *const default_texts[ID_TEXT_COUNT] = { ID_DEFAULT_TEXTS };

/* The default of Maxrecurse. Exact levels only matter if the program has set another limit. */
enum { DEFAULT_MAXRECURSE = 1000 };

bool
id_needs_original(const id_settings *settings)
{
    const IV recursion = settings->numbers[ID_MAXRECURSE];
    return settings->flags & 1U << ID_USEPERL
        || (settings->numbers[ID_MAXDEPTH] > 0 && !(settings->flags & 1U << ID_PURITY))
        || (recursion > 0 && recursion != DEFAULT_MAXRECURSE);
}

SV *
id_new_original(pTHX)
{
    return SvREFCNT_inc(ice_call_scalar(aTHX_ (SV *)get_cv("Icecore::Dumper::_new_original", GV_ADD), NULL, 0));
}

SV *
id_dump_with_original(pTHX_ const id_settings *settings, SV *original, AV *values, AV *names, AV *texts)
{
    /* After these arguments, there are a name and a value for each setting. */
    enum { FIXED_ARGUMENTS = 3 };
    SV *arguments[FIXED_ARGUMENTS + 2 * (ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_TEXT_COUNT)],
        **argument = arguments + FIXED_ARGUMENTS;
    SV *const sub = (SV *)get_cv("Icecore::Dumper::_dump_with_original", GV_ADD);
    int i;
    arguments[0] = original;
    arguments[1] = sv_2mortal(newRV_inc((SV *)values));
    arguments[2] = names ? sv_2mortal(newRV_inc((SV *)names)) : &PL_sv_undef;
    for (i = 0; i < ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_TEXT_COUNT; i++) {
        const int text_number = i - ID_FLAG_COUNT - ID_NUMBER_COUNT;
        *argument++ = sv_2mortal(newSVpv(setting_names[i], 0));
        if (text_number >= 0)
            *argument++ = settings->texts[text_number] ? settings->texts[text_number]
                                                       : sv_2mortal(newSVpv(default_texts[text_number], 0));
        else
            *argument++ = sv_2mortal(
                newSViv(i < ID_FLAG_COUNT ? (IV)(settings->flags >> i & 1) : settings->numbers[i - ID_FLAG_COUNT]));
    }
    if (!texts)
        return ice_call_scalar(aTHX_ sub, arguments, argument - arguments);
    {
        AV *list = (AV *)sv_2mortal((SV *)ice_call_list(aTHX_ sub, arguments, argument - arguments));
        for (i = 0; i <= AvFILLp(list); i++)
            av_push(texts, SvREFCNT_inc_simple_NN(AvARRAY(list)[i]));
    }
    return NULL;
}
