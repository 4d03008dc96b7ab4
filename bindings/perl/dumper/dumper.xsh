MODULE = Icecore    PACKAGE = Icecore::Dumper

# In list context, Dumper and Dump return one text for each value.

void
Dumper(...)
  PREINIT:
    AV *texts = GIMME_V == G_LIST && items > 1 ? (AV *)sv_2mortal((SV *)newAV()) : NULL;
    SV *text;
  PPCODE:
    PUTBACK;
    text = ice_dumper_dump(aTHX_ ax, items, texts);
    SPAGAIN;
    if (text)
        XPUSHs(text);
    else
        SP = push_list(aTHX_ SP, texts);

SV *
new(class, values, names = NULL)
    SV *class
    SV *values
    SV *names
  CODE:
    RETVAL = ice_dumper_new(aTHX_ class, values, names);
  OUTPUT:
    RETVAL

void
DESTROY(self)
    SV *self
  CODE:
    ice_dumper_destroy(aTHX_ self);

void
Dump(self, ...)
    SV *self
  ALIAS:
    Dump = ICE_DUMP
    Dumpxs = ICE_DUMP_XS
    Dumpperl = ICE_DUMP_PERL
  PREINIT:
    AV *texts = GIMME_V == G_LIST ? (AV *)sv_2mortal((SV *)newAV()) : NULL;
    SV *text;
  PPCODE:
    if (!SvROK(self)) {
        if (items < 2)
            croak("Usage:  PACKAGE->new(ARRAYREF, [ARRAYREF])");
        self = sv_2mortal(ice_dumper_new(aTHX_ self, ST(1), items > 2 ? ST(2) : NULL));
    }
    PUTBACK;
    text = ice_dumper_object_dump(aTHX_ self, ix, texts);
    SPAGAIN;
    if (text)
        XPUSHs(text);
    else
        SP = push_list(aTHX_ SP, texts);

# The Data::Dumper that remembers what was dumped, for the methods Seen and Reset of Dumper.pm.

SV *
_seen(self)
    SV *self
  CODE:
    RETVAL = ice_dumper_seen(aTHX_ self);
  OUTPUT:
    RETVAL

void
_forget(self)
    SV *self
  CODE:
    ice_dumper_forget(aTHX_ self);

# A method with an argument sets the setting and returns the object. Without one it returns the setting.

void
Values(self, list = NULL)
    SV *self
    SV *list
  ALIAS:
    Values = ICE_DUMPER_VALUES
    Names = ICE_DUMPER_NAMES
  PREINIT:
    AV *current;
  PPCODE:
    current = ice_dumper_values_or_names(aTHX_ self, ix == ICE_DUMPER_NAMES, list);
    if (list)
        XPUSHs(ST(0));
    else if (current)
        SP = push_list(aTHX_ SP, current);

void
Purity(self, value = NULL)
    SV *self
    SV *value
  ALIAS:
    Purity = ICE_DUMPER_PURITY
    Terse = ICE_DUMPER_TERSE
    Useqq = ICE_DUMPER_USEQQ
    Deepcopy = ICE_DUMPER_DEEPCOPY
    Quotekeys = ICE_DUMPER_QUOTEKEYS
    Trailingcomma = ICE_DUMPER_TRAILINGCOMMA
    Useperl = ICE_DUMPER_USEPERL
    Sparseseen = ICE_DUMPER_SPARSESEEN
    Deparse = ICE_DUMPER_DEPARSE
    Indent = ICE_DUMPER_INDENT
    Maxdepth = ICE_DUMPER_MAXDEPTH
    Maxrecurse = ICE_DUMPER_MAXRECURSE
    Pad = ICE_DUMPER_PAD
    Varname = ICE_DUMPER_VARNAME
    Pair = ICE_DUMPER_PAIR
    Bless = ICE_DUMPER_BLESS
    Freezer = ICE_DUMPER_FREEZER
    Toaster = ICE_DUMPER_TOASTER
    Sortkeys = ICE_DUMPER_SORTKEYS
  PREINIT:
    SV *setting;
  PPCODE:
    setting = ice_dumper_setting(aTHX_ self, ix, value);
    XPUSHs(value ? ST(0) : setting);

# In scalar context, undump returns the last of several values.

void
undump(text, ...)
    SV *text
  PREINIT:
    AV *values = NULL;
    SV *value;
  PPCODE:
    PUTBACK;
    value = ice_undump(aTHX_ text, ax + 1, items - 1, &values);
    SPAGAIN;
    if (value)
        XPUSHs(value);
    else if (GIMME_V == G_LIST)
        SP = push_list(aTHX_ SP, values);
    else
        XPUSHs(sv_2mortal(SvREFCNT_inc(AvARRAY(values)[AvFILLp(values)])));
