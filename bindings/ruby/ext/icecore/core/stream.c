/* Reads exactly the bytes of one document from an IO.
 *
 * Only the structure is parsed here, to find where the document ends. The engine interprets
 * and checks the bytes later. The IO gets the same calls as from Marshal, `getbyte` and
 * `read` with the same numbers of bytes, so an object that has only these two works too. */
#include "core/documents.h"

/* Maximum number of bytes in one request. A damaged length may be larger than the data, and must
 * not make the IO allocate that much memory. */
#define MAX_REQUEST 65536
/* Marshal's limit for bytes that it requests before it needs them. */
#define MAX_READ_AHEAD 8192

/* What the data must contain next. */
typedef enum {
    EXPECT_VALUES,
    EXPECT_ENTRIES, /* two values each */
    EXPECT_PAIRS,   /* a symbol and a value each */
    EXPECT_COUNT,   /* a number, and this number of pairs */
    EXPECT_BYTES    /* a length, and this number of bytes */
} expected_kind;

typedef struct {
    expected_kind kind;
    bool counts_in_readable; /* the items are counted in `readable` */
    bool has_first_value;    /* the first value of an entry or a pair was read */
    bool is_unsettled;       /* `readable` still counts an item that was already read */
    long remaining;          /* number of items */
    long values_per_item;
} expectation;

typedef struct {
    VALUE io, bytes;      /* all bytes so far */
    VALUE stack;          /* a String that contains `expectation` structs, the innermost last. As a
                           * String it is freed by the collector after an exception */
    VALUE buffer;         /* a String of bytes that were read ahead, or nil */
    long buffer_position;
    long readable;        /* as in Ruby's marshal.c: at least this number of bytes must follow, so
                           * this number may be read ahead */
    bool is_malformed;    /* parsing stops; the engine will report the error */
} stream;

NORETURN(static void raise_too_short(void));

static void
raise_too_short(void)
{
    ice_raise(ice_argument_error, "truncated", "", "marshal data too short");
}

/* Calls the method `read` of the IO. The result may have another length. */
static VALUE
read_from_io(stream *s, long count)
{
    VALUE n = LONG2NUM(count), bytes = rb_funcallv(s->io, rb_intern("read"), 1, &n);
    if (NIL_P(bytes))
        raise_too_short();
    return StringValue(bytes);
}

/* Returns the number of bytes that were read ahead and not used yet. */
static long
buffered_len(const stream *s)
{
    return NIL_P(s->buffer) ? 0 : RSTRING_LEN(s->buffer) - s->buffer_position;
}

/* Reads a byte and appends it to `bytes`. */
static int
read_byte(stream *s)
{
    unsigned char byte;
    if (s->readable > 0 || buffered_len(s) > 0) {
        if (buffered_len(s) <= 0) {
            const long count = s->readable < MAX_READ_AHEAD ? s->readable : MAX_READ_AHEAD;
            VALUE bytes = read_from_io(s, count);
            if (RSTRING_LEN(bytes) < count)
                raise_too_short();
            s->buffer = rb_str_new_frozen(bytes);
            s->buffer_position = 0;
        }
        byte = (unsigned char)RSTRING_PTR(s->buffer)[s->buffer_position++];
    } else {
        VALUE bytes = rb_funcallv(s->io, rb_intern("getbyte"), 0, NULL);
        if (NIL_P(bytes))
            ice_raise(ice_eof_error, "truncated", "", "end of file reached");
        byte = (unsigned char)NUM2CHR(bytes);
    }
    rb_str_cat(s->bytes, (const char *)&byte, 1);
    return byte;
}

/* Reads `count` bytes and appends them to `bytes`. */
static void
read_bytes(stream *s, long count)
{
    const long buffered = buffered_len(s);
    const bool reads_ahead = s->readable > 0 || buffered > 0;
    if (count <= 0)
        return;
    if (buffered) {
        const long copied = count < buffered ? count : buffered;
        rb_str_cat(s->bytes, RSTRING_PTR(s->buffer) + s->buffer_position, copied);
        s->buffer_position += copied;
        count -= copied;
    }
    while (count > 0) {
        const long chunk = count < MAX_REQUEST ? count : MAX_REQUEST;
        long request = chunk;
        VALUE bytes;
        if (reads_ahead && chunk == count) {
            const long readable = s->readable + 1 < MAX_READ_AHEAD ? s->readable + 1 : MAX_READ_AHEAD;
            request = chunk > readable ? chunk : readable;
        }
        bytes = read_from_io(s, request);
        if (RSTRING_LEN(bytes) < chunk || (!reads_ahead && RSTRING_LEN(bytes) != chunk))
            raise_too_short();
        rb_str_cat(s->bytes, RSTRING_PTR(bytes), chunk);
        if (RSTRING_LEN(bytes) > chunk) {
            s->buffer = rb_str_new_frozen(bytes);
            s->buffer_position = chunk;
        }
        count -= chunk;
    }
}

/* Reads a number in Marshal's encoding; returns -1 if it is negative. The first byte is 0, or a
 * small number plus or minus 5, or the number of bytes that follow (negative for a negative
 * number). -5 is 0 too. */
static long
read_number(stream *s)
{
    const int head = (signed char)read_byte(s);
    uint64_t number = 0;
    int i;
    if (head > 4)
        return head - 5;
    if (head < -4)
        return head == -5 ? 0 : -1;
    for (i = 0; i < (head < 0 ? -head : head); i++)
        number |= (uint64_t)read_byte(s) << (8 * i);
    return head < 0 ? -1 : (long)number;
}

/* Reads a length, and this number of bytes. */
static void
read_counted_bytes(stream *s)
{
    const long len = read_number(s);
    if (len < 0)
        s->is_malformed = true;
    else
        read_bytes(s, len);
}

/* Pushes what must follow, and updates `readable`. */
static void
push_expectation(stream *s, expected_kind kind, long count, long values_per_item, bool counts_in_readable)
{
    const expectation next = { kind, counts_in_readable, false, false, count, values_per_item };
    if (count < 0) {
        s->is_malformed = true;
        return;
    }
    if (counts_in_readable && kind != EXPECT_COUNT)
        s->readable += (count - 1) * values_per_item;
    rb_str_cat(s->stack, (const char *)&next, sizeof next);
}

/* Reads a symbol at a place where only a symbol is allowed. */
static void
read_symbol(stream *s)
{
    bool has_variables = false;
    int type = read_byte(s);
    if (type == 'I') {
        has_variables = true;
        type = read_byte(s);
    }
    if (type == ':')
        read_counted_bytes(s);
    else if (type == ';')
        read_number(s);
    else
        s->is_malformed = true;
    if (has_variables && !s->is_malformed)
        push_expectation(s, EXPECT_PAIRS, read_number(s), 2, false);
}

/* Reads the type byte of a value and its fixed parts. The values that follow are pushed as
 * expectations: the last pushed comes first in the data. */
static void
read_value(stream *s)
{
    const int type = read_byte(s);
    switch (type) {
    case '0':
    case 'T':
    case 'F':
        break;
    case 'i':
    case ';':
    case '@':
        read_number(s);
        break;
    case ':':
    case '"':
    case 'f':
    case 'c':
    case 'm':
    case 'M':
        read_counted_bytes(s);
        break;
    case '/':
        read_counted_bytes(s);
        read_byte(s);
        break;
    /* A sign, then the length in units of 2 bytes. */
    case 'l': {
        long len;
        read_byte(s);
        len = read_number(s);
        if (len < 0)
            s->is_malformed = true;
        else
            read_bytes(s, 2 * len);
        break;
    }
    case '[':
        push_expectation(s, EXPECT_VALUES, read_number(s), 1, true);
        break;
    case '{':
        push_expectation(s, EXPECT_ENTRIES, read_number(s), 2, true);
        break;
    case '}':
        push_expectation(s, EXPECT_VALUES, 1, 1, false);
        push_expectation(s, EXPECT_ENTRIES, read_number(s), 2, true);
        break;
    case 'o':
    case 'S':
        push_expectation(s, EXPECT_COUNT, 1, 2, type == 'S');
        read_symbol(s);
        break;
    case 'u':
        push_expectation(s, EXPECT_BYTES, 1, 1, false);
        read_symbol(s);
        break;
    case 'U':
    case 'd':
    case 'e':
    case 'C':
        push_expectation(s, EXPECT_VALUES, 1, 1, false);
        read_symbol(s);
        break;
    case 'I':
        push_expectation(s, EXPECT_COUNT, 1, 2, false);
        push_expectation(s, EXPECT_VALUES, 1, 1, false);
        break;
    default:
        s->is_malformed = true;
    }
}

/* Returns the innermost expectation; NULL if there is none. The result is valid until an expectation
 * is pushed. */
static expectation *
top_expectation(stream *s)
{
    const long len = RSTRING_LEN(s->stack);
    return len ? (expectation *)(RSTRING_PTR(s->stack) + len - sizeof(expectation)) : NULL;
}

/* Removes the innermost expectation. */
static void
pop_expectation(stream *s)
{
    rb_str_set_len(s->stack, RSTRING_LEN(s->stack) - sizeof(expectation));
}

/* Reads the next item of the innermost expectation, or removes it if it has none left. */
static void
read_next_item(stream *s)
{
    expectation *top = top_expectation(s);
    const expected_kind kind = top->kind;
    const bool counts_in_readable = top->counts_in_readable;
    if (kind == EXPECT_COUNT || kind == EXPECT_BYTES) {
        pop_expectation(s);
        if (kind == EXPECT_BYTES)
            read_counted_bytes(s);
        else
            push_expectation(s, EXPECT_PAIRS, read_number(s), 2, counts_in_readable);
        return;
    }
    if (top->is_unsettled) {
        top->is_unsettled = false;
        s->readable -= top->values_per_item;
    }
    if (top->remaining == 0) {
        if (counts_in_readable)
            s->readable += top->values_per_item;
        pop_expectation(s);
        return;
    }
    if (kind != EXPECT_VALUES && !top->has_first_value) {
        top->has_first_value = true;
        if (kind == EXPECT_PAIRS)
            read_symbol(s);
        else
            read_value(s);
        return;
    }
    top->has_first_value = false;
    top->is_unsettled = counts_in_readable;
    top->remaining--;
    read_value(s);
}

VALUE
ice_stream_bytes(VALUE io)
{
    stream s = { io, rb_str_buf_new(0), rb_str_buf_new(0), Qnil, 0, 0, false };
    /* The version. If it is not readable, the engine reports the error. */
    read_byte(&s);
    read_byte(&s);
    if ((unsigned char)RSTRING_PTR(s.bytes)[0] == 4 && (unsigned char)RSTRING_PTR(s.bytes)[1] <= 8) {
        read_value(&s);
        while (RSTRING_LEN(s.stack) && !s.is_malformed)
            read_next_item(&s);
    }
    RB_GC_GUARD(s.stack);
    RB_GC_GUARD(s.buffer);
    return s.bytes;
}
