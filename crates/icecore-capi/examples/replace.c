/* Replaces text in each line of standard input: `replace OLD NEW [OLD NEW...]`. A line may
 * be frozen data or plain text. A summary is printed on standard error.
 *
 *   cc -I crates/icecore-capi/include crates/icecore-capi/examples/replace.c \
 *      target/release/libicecore_capi.a -lpthread -ldl -lm -o replace
 */
#include <icecore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100 };

/* Replaces in one line. Returns 0, or the exit code of the program. */
static int replace(const icecore_replacer *replacer, const char *line, size_t len, uint64_t *occurrences)
{
    struct icecore_buffer out;
    struct icecore_replaced counts;
    struct icecore_error error;
    if (icecore_replacer_apply(replacer, (const uint8_t *)line, len, &out, &counts, &error) != ICECORE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 4;
    }
    if (counts.is_changed)
        fwrite(out.bytes, 1, out.len, stdout);
    else
        fwrite(line, 1, len, stdout);
    *occurrences += counts.occurrences;
    icecore_buffer_free(&out);
    return 0;
}

int main(int argc, char **argv)
{
    static char line[65536];
    struct icecore_pair pairs[MOST];
    struct icecore_error error;
    uint64_t occurrences = 0;
    size_t count;
    int ended = 0;
    icecore_replacer *replacer;

    if (argc < 3 || argc % 2 == 0 || argc / 2 > MOST) {
        fprintf(stderr, "usage: replace OLD NEW [OLD NEW...]\n");
        return 2;
    }
    for (count = 0; count < (size_t)argc / 2; count++) {
        const char *from = argv[1 + 2 * count], *to = argv[2 + 2 * count];
        pairs[count].from = (const uint8_t *)from;
        pairs[count].from_len = strlen(from);
        pairs[count].to = (const uint8_t *)to;
        pairs[count].to_len = strlen(to);
    }
    /* Prepared once, for all lines. */
    replacer = icecore_replacer_new();
    if (icecore_replacer_prepare(replacer, pairs, count, NULL, 0, 0, &error) != ICECORE_OK) {
        fprintf(stderr, "%s\n", error.message);
        ended = 2;
    }
    while (!ended && fgets(line, sizeof line, stdin)) {
        const size_t len = strcspn(line, "\n");
        ended = replace(replacer, line, len, &occurrences);
        if (line[len])
            putchar('\n');
    }
    icecore_replacer_free(replacer);
    fflush(stdout);
    if (!ended)
        fprintf(stderr, "%lu replaced\n", (unsigned long)occurrences);
    return ended;
}
