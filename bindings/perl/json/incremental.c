/* Incremental JSON: finds the end of the next text, whatever pieces it comes in. */
#include "json/json.h"

/* State of the scan at the place where it stopped. */
enum { BLANKS, INSIDE, STRING, ESCAPE, NUMBER, WORD, COMMENT, COMMENT_BEFORE };

static bool
is_done(const ice_json *json)
{
    return json->nest <= 0 && json->mode == INSIDE;
}

/* A scalar ended: so did the text, if there is nothing else in it. */
static bool
end_scalar(ice_json *json)
{
    json->mode = INSIDE;
    return json->nest <= 0;
}

/* Handles one byte that may begin or end something. Returns whether the text ends after
 * it. */
static bool
inside(pTHX_ ice_json *json, U8 byte)
{
    switch (byte) {
    case '"':
        json->mode = STRING;
        break;
    case '[':
    case '{':
        if (++json->nest > (IV)json->max_depth)
            croak(IJ_TOO_DEEP);
        break;
    case ']':
    case '}':
        return --json->nest <= 0;
    case '#':
        json->mode = COMMENT;
        break;
    case 't':
    case 'f':
    case 'n':
        json->mode = WORD;
        break;
    default:
        if (byte == '-' || isDIGIT_A(byte))
            json->mode = NUMBER;
    }
    return FALSE;
}

/* Scans to the end of the text, or to the end of the pieces so far. */
static void
scan(pTHX_ ice_json *json)
{
    const U8 *start = (const U8 *)SvPVX(json->text), *end = start + SvCUR(json->text), *at = start + json->pos;
    bool found = FALSE;
    while (at < end && !found) {
        const U8 byte = *at;
        switch (json->mode) {
        case BLANKS:
            if (byte == '#')
                json->mode = COMMENT_BEFORE;
            else if (byte > 0x20) {
                json->mode = INSIDE;
                continue;
            }
            break;
        case INSIDE:
            /* Blanks after a scalar are left alone. */
            if (json->nest <= 0 && (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r')) {
                found = TRUE;
                continue;
            }
            found = inside(aTHX_ json, byte);
            break;
        case STRING:
            if (byte == '\\')
                json->mode = ESCAPE;
            else if (byte == '"')
                found = end_scalar(json);
            break;
        case ESCAPE:
            json->mode = STRING;
            break;
        case NUMBER:
            if (!isDIGIT_A(byte) && byte != '.' && byte != 'e' && byte != 'E' && byte != '+' && byte != '-') {
                found = end_scalar(json);
                continue;
            }
            break;
        case WORD:
            if (!isLOWER_A(byte)) {
                found = end_scalar(json);
                continue;
            }
            break;
        default:
            if (byte == '\n')
                json->mode = json->mode == COMMENT ? INSIDE : BLANKS;
        }
        at++;
    }
    /* It is unknown if a number continues: it ends here, as in JSON::XS. */
    if (!found && (json->mode == NUMBER || json->mode == WORD))
        found = end_scalar(json);
    json->pos = (STRLEN)(at - start);
}

/* Removes `count` bytes from the front. */
static void
chop(pTHX_ ice_json *json, STRLEN count)
{
    sv_chop(json->text, SvPVX(json->text) + count);
    json->pos = 0;
    json->nest = 0;
    json->mode = BLANKS;
}

/* Converts the text so far to bytes or characters, as the settings demand. */
static void
agree(pTHX_ ice_json *json)
{
    const bool wants_bytes = (json->flags & J_UTF8) != 0;
    if (!json->text)
        json->text = newSVpvs("");
    if (wants_bytes == !SvUTF8(json->text))
        return;
    if (wants_bytes) {
        if (json->pos)
            json->pos = (STRLEN)utf8_length((U8 *)SvPVX(json->text), (U8 *)SvPVX(json->text) + json->pos);
        sv_utf8_downgrade(json->text, FALSE);
    } else {
        const STRLEN pos = json->pos;
        sv_utf8_upgrade(json->text);
        SvUTF8_on(json->text);
        json->pos = (STRLEN)(utf8_hop((U8 *)SvPVX(json->text), (SSize_t)pos) - (U8 *)SvPVX(json->text));
    }
}

void
ice_json_append(pTHX_ SV *self, SV *piece)
{
    ice_json *json = ij_of(aTHX_ self);
    agree(aTHX_ json);
    if (piece && SvOK(piece)) {
        STRLEN len;
        const char *text;
        SvGETMAGIC(piece);
        if (!SvUTF8(json->text) == !SvUTF8(piece))
            text = SvPV_nomg(piece, len);
        else {
            piece = sv_2mortal(newSVsv_nomg(piece));
            if (SvUTF8(json->text))
                sv_utf8_upgrade(piece);
            else
                sv_utf8_downgrade(piece, FALSE);
            text = SvPV(piece, len);
        }
        sv_catpvn_nomg(json->text, text, len);
    }
}

/* Returns the next complete text, decoded; NULL if there is none. */
SV *
ice_json_next(pTHX_ SV *self)
{
    ice_json *json = ij_of(aTHX_ self);
    SV *result, *text;
    STRLEN len, consumed;
    agree(aTHX_ json);
    if (!is_done(json)) {
        scan(aTHX_ json);
        if (json->max_size && json->pos > json->max_size)
            croak("attempted decode of JSON text of %lu bytes size, but max_size is set to %lu", (unsigned long)json->pos,
                  (unsigned long)json->max_size);
        if (!is_done(json)) {
            if (json->mode == BLANKS && json->pos) {
                json->pos = 0;
                SvCUR_set(json->text, 0);
            }
            return NULL;
        }
    }
    /* Filters may call this again: the text is copied first. */
    len = json->pos;
    text = sv_2mortal(newSVpvn(SvPVX(json->text), len));
    result = ij_decode(aTHX_ json, SvPVX(text), len, cBOOL(SvUTF8(json->text)), &consumed);
    if (json->text)
        chop(aTHX_ json, consumed < SvCUR(json->text) ? consumed : SvCUR(json->text));
    return result;
}

/* Returns the text that was not decoded yet. */
SV *
ice_json_text(pTHX_ SV *self)
{
    ice_json *json = ij_of(aTHX_ self);
    if (json->pos)
        croak("incr_text can not be called when the incremental parser already started parsing");
    return json->text ? SvREFCNT_inc_simple_NN(json->text) : &PL_sv_undef;
}

/* Discards the text that was scanned, or all. */
void
ice_json_skip(pTHX_ SV *self, bool all)
{
    ice_json *json = ij_of(aTHX_ self);
    if (all) {
        SvREFCNT_dec(json->text);
        json->text = NULL;
        json->pos = 0;
        json->nest = 0;
        json->mode = BLANKS;
    } else if (json->pos)
        chop(aTHX_ json, json->pos);
}
