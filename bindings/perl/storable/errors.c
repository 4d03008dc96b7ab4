/* Storable's own messages for errors of an image. Programs search for these messages in $@. */
#include "storable/storable.h"

/* The sizes in the header of an image: a part of the engine's message, and Storable's name. */
static const struct {
    const char *engine_text, *storable_name;
} header_sizes[] = { { "size of int ", "Integer" },
                     { "size of long ", "Long integer" },
                     { "size of pointer ", "Pointer" },
                     { "size of NV ", "Double" } };

SV *
ist_translate_error(pTHX_ const icecore_error *error, const char *bytes, STRLEN len)
{
    const bool is_file = len >= 4 && memEQ(bytes, "pst0", 4);
    const U8 *header = (const U8 *)bytes + (is_file ? 4 : 0);
    const int major = len > (is_file ? 4U : 0U) ? header[0] >> 1 : 0,
              minor = len > (is_file ? 5U : 1U) ? header[1] : 0;
    const char *source = is_file ? "file" : "string";
    size_t i;
    if (strstr(error->message, "expected a tag ")) {
        const U8 *tag = (const U8 *)bytes + error->offset;
        if (minor > IST_NEWEST_MINOR)
            return sv_2mortal(
                newSVpvf("Storable binary image v%d.%d contains data of type %d. This Storable is v2.%d and can "
                         "only handle data types up to %d",
                         major, minor, error->offset >= 0 && (STRLEN)error->offset < len ? *tag : 255,
                         IST_NEWEST_MINOR, IST_NEWEST_MINOR > 11 ? 35 : 33));
        return sv_2mortal(newSVpvf("Corrupted storable %s (binary v%d.%d)", source, major, minor));
    }
    if (error->kind == ICECORE_TRUNCATED && strstr(error->message, " of a class name "))
        return sv_2mortal(newSVpvs("Corrupted classname length"));
    if (error->path[0])
        return NULL;
    if (error->kind == ICECORE_FORMAT && major > 2)
        return sv_2mortal(
            newSVpvf("Storable binary image v%d.%d more recent than I am (v2.%d)", major, minor, IST_NEWEST_MINOR));
    for (i = 0; i < C_ARRAY_LENGTH(header_sizes); i++)
        if (error->kind == ICECORE_MALFORMED && strstr(error->message, header_sizes[i].engine_text))
            return sv_2mortal(newSVpvf("%s size is not compatible", header_sizes[i].storable_name));
    return error->kind == ICECORE_TRUNCATED
             ? sv_2mortal(newSVpvf("Magic number checking on storable %s failed", source))
             : NULL;
}
