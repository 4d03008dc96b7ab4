/* Converts standard input: `convert FROM TO`, for example `convert storable json`.
 * An empty FROM detects the format.
 *
 *   cc -I crates/icecore-capi/include crates/icecore-capi/examples/convert.c \
 *      target/release/libicecore_capi.a -lpthread -ldl -lm -o convert
 */
#include <icecore.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char *read_all(FILE *in, size_t *len)
{
    unsigned char *bytes = NULL;
    size_t room = 0, got;
    *len = 0;
    do {
        if (*len == room) {
            unsigned char *more = realloc(bytes, room = room ? room * 2 : 65536);
            if (!more)
                abort();
            bytes = more;
        }
        got = fread(bytes + *len, 1, room - *len, in);
        *len += got;
    } while (got > 0);
    return bytes;
}

int main(int argc, char **argv)
{
    struct icecore_error error;
    struct icecore_buffer out;
    unsigned char *bytes;
    size_t len;

    if (argc != 3) {
        fprintf(stderr, "usage: convert FROM TO\n");
        return 2;
    }
    bytes = read_all(stdin, &len);
    if (icecore_convert(bytes, len, argv[1], argv[2], &out, &error) != ICECORE_OK) {
        fprintf(stderr, "%s\n", error.message);
        free(bytes);
        return 4;
    }
    fwrite(out.bytes, 1, out.len, stdout);
    icecore_buffer_free(&out);
    free(bytes);
    return 0;
}
