/* Data::Dumper: the functions that Icecore.xs calls, and declarations that its own files
 * share. */
#ifndef ICECORE_DUMPER_H
#define ICECORE_DUMPER_H
#include "core/icecore_perl.h"

extern const iw_rules ice_dumper_rules;

/* Data::Dumper has settings of three kinds: flags, numbers and texts. The names of each kind are in
 * the order of its constants. */
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
    U32 flags; /* a bit for each: 1 << ID_PURITY and so on */
    IV numbers[ID_NUMBER_COUNT];
    SV *texts[ID_TEXT_COUNT]; /* NULL for the default */
} id_settings;

/* The contents of an object of Icecore::Dumper. */
typedef struct {
    id_settings settings;
    AV *values;
    AV *names;    /* the names of the values; or NULL */
    SV *original; /* a Data::Dumper that remembers what was dumped; NULL until it is needed */
    bool has_dumped; /* a method has dumped the values before */
} id_dumper;

/* original.c */
/* Returns true if the settings require that Data::Dumper itself dumps: see original.c. */
bool id_needs_original(const id_settings *settings);
/* Creates a Data::Dumper. */
SV *id_new_original(pTHX);
/* Lets Data::Dumper dump the values, and returns the text: a mortal. With `texts`, appends one text
 * for each value to that list, and returns NULL. `original` is the Data::Dumper that remembers the
 * values, or undef if none does. */
SV *id_dump_with_original(pTHX_ const id_settings *settings, SV *original, AV *values, AV *names, AV *texts);

/* Functions that Icecore.xs calls. */

/* Values of the parameter `method`: the methods Dump, Dumpxs and Dumpperl. */
enum { ICE_DUMP, ICE_DUMP_XS, ICE_DUMP_PERL };

/* Numbers of the settings, for Icecore.xs: the flags, then the numbers, then the texts. */
enum {
    ICE_DUMPER_PURITY = ID_PURITY,
    ICE_DUMPER_TERSE = ID_TERSE,
    ICE_DUMPER_USEQQ = ID_USEQQ,
    ICE_DUMPER_DEEPCOPY = ID_DEEPCOPY,
    ICE_DUMPER_QUOTEKEYS = ID_QUOTEKEYS,
    ICE_DUMPER_TRAILINGCOMMA = ID_TRAILINGCOMMA,
    ICE_DUMPER_USEPERL = ID_USEPERL,
    ICE_DUMPER_SPARSESEEN = ID_SPARSESEEN,
    ICE_DUMPER_DEPARSE = ID_DEPARSE,
    ICE_DUMPER_INDENT = ID_FLAG_COUNT + ID_INDENT,
    ICE_DUMPER_MAXDEPTH = ID_FLAG_COUNT + ID_MAXDEPTH,
    ICE_DUMPER_MAXRECURSE = ID_FLAG_COUNT + ID_MAXRECURSE,
    ICE_DUMPER_PAD = ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_PAD,
    ICE_DUMPER_VARNAME = ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_VARNAME,
    ICE_DUMPER_PAIR = ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_PAIR,
    ICE_DUMPER_BLESS = ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_BLESS,
    ICE_DUMPER_FREEZER = ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_FREEZER,
    ICE_DUMPER_TOASTER = ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_TOASTER,
    ICE_DUMPER_SORTKEYS = ID_FLAG_COUNT + ID_NUMBER_COUNT + ID_SORTKEYS
};
/* The two lists of an object. */
enum { ICE_DUMPER_VALUES, ICE_DUMPER_NAMES };

void ice_dumper_boot(pTHX);
void ice_dumper_clone(pTHX);
void ice_dumper_end(pTHX);

/* Dump the arguments, or the values of an object. Return one text for all values: a mortal. With
 * `texts`, append one text for each value to that list, and return NULL. */
SV *ice_dumper_dump(pTHX_ I32 stack_index, I32 count, AV *texts);
SV *ice_dumper_object_dump(pTHX_ SV *self, int method, AV *texts);
/* Returns the Data::Dumper that remembers what this object has dumped. */
SV *ice_dumper_seen(pTHX_ SV *self);
/* Forgets what was dumped. */
void ice_dumper_forget(pTHX_ SV *self);
SV *ice_dumper_new(pTHX_ SV *class, SV *values, SV *names);
void ice_dumper_destroy(pTHX_ SV *self);
/* Returns the list of values or names. Sets it first if `list` is not NULL. */
AV *ice_dumper_values_or_names(pTHX_ SV *self, bool is_names, SV *list);
/* Returns a setting: a mortal. Sets it first if `value` is not NULL. `setting` is one of the numbers
 * above. */
SV *ice_dumper_setting(pTHX_ SV *self, int setting, SV *value);
/* Reads a text, and returns its value: a mortal. If the text has several values, returns NULL, and
 * `values` receives the list of them. */
SV *ice_undump(pTHX_ SV *text, I32 stack_index, I32 count, AV **values);

#endif
