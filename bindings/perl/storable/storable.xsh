MODULE = Icecore    PACKAGE = Icecore::Storable

# Functions whose names begin with `_` are for lib/Icecore/Storable.pm. _image and _nimage return the bytes
# of a file.

SV *
freeze(ref, ...)
    SV *ref
  ALIAS:
    freeze = ICE_MEMORY
    nfreeze = ICE_MEMORY_NETORDER
    _image = ICE_FILE
    _nimage = ICE_FILE_NETORDER
  CODE:
    if (items > 1)
        croak("too many arguments");
    RETVAL = ice_freeze(aTHX_ ref, ix);
  OUTPUT:
    RETVAL

SV *
thaw(bytes, ...)
    SV *bytes
  CODE:
    SvGETMAGIC(bytes);
    if (!SvOK(bytes))
        XSRETURN_UNDEF;
    RETVAL = ice_thaw(aTHX_ bytes, ax + 1, items - 1);
  OUTPUT:
    RETVAL

bool
is_storing()
  ALIAS:
    is_storing = ICE_IS_STORING
    is_retrieving = ICE_IS_RETRIEVING
    last_op_in_netorder = ICE_LAST_NETORDER
  CODE:
    RETVAL = ice_storable_state(aTHX_ ix);
  OUTPUT:
    RETVAL

SV *
_read_buffered(handle, bytes)
    PerlIO *handle
    SV *bytes
  CODE:
    RETVAL = ice_read_buffered(aTHX_ handle, SvRV(bytes));
    if (!RETVAL)
        XSRETURN_UNDEF;
  OUTPUT:
    RETVAL

void
_unread(handle, bytes)
    PerlIO *handle
    SV *bytes
  PREINIT:
    STRLEN len;
    const char *text;
  CODE:
    text = SvPV(bytes, len);
    if (PerlIO_unread(handle, text, len) != (SSize_t)len)
        croak("Icecore: bytes after the document could not be given back to the handle");

IV
_document_length(bytes)
    SV *bytes
  CODE:
    RETVAL = ice_document_length(aTHX_ bytes);
  OUTPUT:
    RETVAL

SV *
dclone(ref)
    SV *ref
  PROTOTYPE: $
  CODE:
    SvGETMAGIC(ref);
    if (!SvROK(ref)) {
        if (SvOK(ref))
            croak("Not a reference");
        XSRETURN_UNDEF;
    }
    RETVAL = ice_dclone(aTHX_ ref);
  OUTPUT:
    RETVAL
