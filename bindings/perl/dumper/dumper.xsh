MODULE = Icecore    PACKAGE = Icecore::Dumper

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

void
Values(self, list = NULL)
    SV *self
    SV *list
  ALIAS:
    Values = 0
    Names = 1
  PREINIT:
    AV *current;
  PPCODE:
    current = ice_dumper_values_or_names(aTHX_ self, ix == 1, list);
    if (list)
        XPUSHs(ST(0));
    else if (current)
        SP = push_list(aTHX_ SP, current);

void
Purity(self, value = NULL)
    SV *self
    SV *value
  ALIAS:
    Purity = 0
    Terse = 1
    Useqq = 2
    Deepcopy = 3
    Quotekeys = 4
    Trailingcomma = 5
    Useperl = 6
    Sparseseen = 7
    Deparse = 8
    Indent = 9
    Maxdepth = 10
    Maxrecurse = 11
    Pad = 12
    Varname = 13
    Pair = 14
    Bless = 15
    Freezer = 16
    Toaster = 17
    Sortkeys = 18
  PREINIT:
    SV *setting;
  PPCODE:
    setting = ice_dumper_setting(aTHX_ self, ix, value);
    XPUSHs(value ? ST(0) : setting);

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
