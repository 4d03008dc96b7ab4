/* Data::Dumper: the functions that Icecore.xs calls, and declarations that its own files
 * share. */
#ifndef ICECORE_DUMPER_H
#define ICECORE_DUMPER_H
#include "core/icecore_perl.h"

extern const iw_rules ice_dumper_rules;

/* Boolean settings. */
enum {
    ID_PURITY,
    ID_TERSE,
    ID_USEQQ,
    ID_DEEPCOPY,
    ID_QUOTEKEYS,
    ID_TRAILINGCOMMA,
    ID_USEPERL,
    ID_SPARSESEEN,
    ID_DEPARSE,
    ID_FLAG_COUNT
};
#define ID_FLAG_NAMES                                                                                                \
    "Purity", "Terse", "Useqq", "Deepcopy", "Quotekeys", "Trailingcomma", "Useperl", "Sparseseen", "Deparse"
enum { ID_INDENT, ID_MAXDEPTH, ID_MAXRECURSE, ID_NUMBER_COUNT };
#define ID_NUMBER_NAMES "Indent", "Maxdepth", "Maxrecurse"
enum { ID_PAD, ID_VARNAME, ID_PAIR, ID_BLESS, ID_FREEZER, ID_TOASTER, ID_SORTKEYS, ID_TEXT_COUNT };
#define ID_TEXT_NAMES "Pad", "Varname", "Pair", "Bless", "Freezer", "Toaster", "Sortkeys"
#define ID_DEFAULT_TEXTS "", "VAR", " => ", "bless", "", "", ""

typedef struct {
    U32 flags;
    IV numbers[ID_NUMBER_COUNT];
    SV *texts[ID_TEXT_COUNT]; /* NULL: the default */
} id_settings;

typedef struct {
    id_settings settings;
    AV *values;
    AV *names;    /* or NULL */
    SV *original; /* a Data::Dumper that remembers what was dumped, once it is needed; or NULL */
    bool has_dumped;
} id_dumper;

/* original.c */
/* Whether Data::Dumper itself has to do it: it counts levels in its own way. */
bool id_needs_original(const id_settings *settings);
SV *id_new_original(pTHX);
/* Returns its result for the values: a mortal, or with `texts` one text for each, and
 * NULL. Without an object of its own (undef) it forgets the values. */
SV *id_dump_with_original(pTHX_ const id_settings *settings, SV *original, AV *values, AV *names, AV *texts);

/* Functions that Icecore.xs calls. */
enum { ICE_DUMP, ICE_DUMP_XS, ICE_DUMP_PERL };


void ice_dumper_boot(pTHX);
void ice_dumper_clone(pTHX);
void ice_dumper_end(pTHX);

/* Returns one text for all values, a mortal; or, with `texts`, adds one for each to that
 * list. */
SV *ice_dumper_dump(pTHX_ I32 stack_index, I32 count, AV *texts);
SV *ice_dumper_object_dump(pTHX_ SV *self, int walk_settings, AV *texts);
/* Returns the Data::Dumper that remembers for this one. */
SV *ice_dumper_seen(pTHX_ SV *self);
void ice_dumper_forget(pTHX_ SV *self);
SV *ice_dumper_new(pTHX_ SV *class, SV *values, SV *names);
void ice_dumper_destroy(pTHX_ SV *self);
AV *ice_dumper_values_or_names(pTHX_ SV *self, bool is_names, SV *list);
SV *ice_dumper_setting(pTHX_ SV *self, int setting, SV *value);
/* Returns the value of a text, a mortal; for several, `values` receives the list of
 * them, and NULL is returned. */
SV *ice_undump(pTHX_ SV *text, I32 stack_index, I32 count, AV **values);

#endif
