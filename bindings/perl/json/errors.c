/* JSON::XS's messages for errors of a text. Programs search for these messages in $@. */
#include "json/json.h"

/* Parts of the engine's messages, and the messages of JSON::XS for the same errors. The first
 * match is used, so a text precedes all texts that it contains. */
static const struct {
    const char *engine_text, *jsonxs_message;
} messages[] = {
    { "expected a JSON value, found `(`", "malformed JSON string, neither array, object, number, string or atom" },
    { "expected a JSON value", "malformed JSON string, neither tag, array, object, number, string or atom" },
    { "`,` or `]`", ", or ] expected while parsing array" },
    { "`,` or `}`", ", or } expected while parsing object/hash" },
    { "expected `:`", "':' expected" },
    { "expected a name in quotes", "'\"' expected" },
    { "expected `true`", "'true' expected" },
    { "expected `false`", "'false' expected" },
    { "expected `null`", "'null' expected" },
    { "the end of a string", "unexpected end of string while parsing JSON string" },
    { "the end of an escape", "exactly four hexadecimal digits expected" },
    { "expected UTF-8", "malformed UTF-8 character in JSON string" },
    { "half of one, \\udc", "missing high surrogate character in surrogate pair" },
    { "half of one, \\udd", "missing high surrogate character in surrogate pair" },
    { "half of one, \\ude", "missing high surrogate character in surrogate pair" },
    { "half of one, \\udf", "missing high surrogate character in surrogate pair" },
    { "half of one", "missing low surrogate character in surrogate pair" },
    { "four hex digits", "exactly four hexadecimal digits expected" },
    { "expected one of JSON's escapes", "illegal backslash escape sequence in string" },
    { "expected an escape for", "invalid character encountered while parsing JSON string" },
    { "expected a digit after the point", "malformed number (no digits after decimal point)" },
    { "expected a digit of the exponent", "malformed number (no digits after exp sign)" },
    { "expected a digit", "malformed number (no digits after initial minus)" },
    { "expected no digit after", "malformed number (leading zero must not be followed by another digit)" },
    { "levels of nesting", IJ_MAX_DEPTH_MESSAGE },
    { "expected the name of a class", "malformed JSON string, (tag) must be a string" },
    { "expected `)`", ") expected after tag" },
    { "expected a list after the class", "malformed JSON string, tag value must be an array" },
};

/* Returns the message of JSON::XS, or NULL. */
static const char *
find_message(const icecore_error *error)
{
    size_t i;
    if (error->kind == ICECORE_TRAILING)
        return "garbage after JSON object";
    for (i = 0; i < C_ARRAY_LENGTH(messages); i++)
        if (strstr(error->message, messages[i].engine_text))
            return messages[i].jsonxs_message;
    return NULL;
}

void
ij_croak_text_error(pTHX_ const icecore_error *error, const ice_read_settings *settings, const char *text, STRLEN len,
                    bool is_text)
{
    SV *message = ice_read_error(aTHX_ error, settings, text, len);
    const char *jsonxs_message = find_message(error);
    const U8 *position = (const U8 *)text + error->offset, *end = (const U8 *)text + len;
    if (error->offset < 0 || (STRLEN)error->offset > len)
        croak("%s%s%" SVf, jsonxs_message ? jsonxs_message : "", jsonxs_message ? ": " : "", SVfARG(message));
    {
        const UV offset = is_text ? (UV)utf8_length((const U8 *)text, position) : (UV)error->offset;
        const char *following_text =
            position < end ? pv_pretty(sv_2mortal(newSVpvs("")), (const char *)position, (STRLEN)(end - position), 20,
                                       NULL, NULL, PERL_PV_ESCAPE_UNI_DETECT)
                           : "(end of string)";
        if (jsonxs_message)
            croak("%s, at character offset %" UVuf " (before \"%s\"): %" SVf, jsonxs_message, offset, following_text,
                  SVfARG(message));
        croak("%" SVf ", at character offset %" UVuf " (before \"%s\")", SVfARG(message), offset, following_text);
    }
}
