/* Both directions of the tape: fills one, writes it, reads it, and prints the nodes.
 *
 *   cc -I crates/icecore-capi/include crates/icecore-capi/examples/tape.c \
 *      target/release/libicecore_capi.a -lpthread -ldl -lm -o tape
 */
#include <icecore.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct icecore_context *context;
static struct icecore_tape tape;

static uint32_t push(uint8_t kind, uint16_t key, uint32_t aux, uint64_t payload)
{
    struct icecore_node *node;
    if (tape.node_count == tape.node_capacity && icecore_grow_nodes(context, &tape, 1) != ICECORE_OK)
        return ICECORE_NONE;
    node = &tape.nodes[tape.node_count];
    node->kind = kind;
    node->flags = 0;
    node->key = key;
    node->aux = aux;
    node->payload = payload;
    return (uint32_t)tape.node_count++;
}

static void push_string(uint16_t key, const char *text)
{
    const size_t len = strlen(text);
    if (tape.arena_capacity - tape.arena_len < len && icecore_grow_arena(context, &tape, len) != ICECORE_OK)
        return;
    memcpy(tape.arena + tape.arena_len, text, len);
    push(ICECORE_TEXT, key, (uint32_t)len, tape.arena_len | ICECORE_IN_ARENA);
    tape.arena_len += len;
}

static uint16_t key(const char *name)
{
    return icecore_key(context, ICECORE_TEXT, 0, (const uint8_t *)name, strlen(name));
}

int main(void)
{
    struct icecore_error error;
    struct icecore_stage *json, *sereal;
    struct icecore_bytes out;
    struct icecore_view view;
    uint8_t copy[256];
    size_t len, i;
    uint32_t map;

    if (icecore_tape_version() != ICECORE_TAPE_VERSION)
        return 5;
    context = icecore_context_new();
    json = icecore_stage_new("json", 4, &error);
    sereal = icecore_stage_new("sereal", 6, &error);
    if (!json || !sereal)
        return 2;

    /* {"id": 1001, "name": "Alice"} */
    icecore_begin(context, &tape);
    map = push(ICECORE_MAP, ICECORE_NO_KEY, 2, 0);
    push(ICECORE_INT, key("id"), 0, 1001);
    push_string(key("name"), "Alice");
    tape.nodes[map].payload = tape.node_count; /* where it ends */

    if (icecore_write(context, sereal, &tape, &out, NULL, &error) != ICECORE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 4;
    }
    len = out.len < sizeof copy ? out.len : sizeof copy;
    memcpy(copy, out.bytes, len);

    if (icecore_read(context, sereal, copy, len, 0, &view, &error) != ICECORE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 4;
    }
    for (i = 0; i < view.node_count; i++) {
        const struct icecore_node *node = &view.nodes[i];
        printf("%zu: kind %d", i, node->kind);
        if (node->key != ICECORE_NO_KEY && node->key <= view.keys.count) {
            const struct icecore_name *name = &view.keys.names[node->key - 1];
            printf(", key %.*s", (int)name->node.aux,
                   (const char *)view.keys.bytes + (name->node.payload & ICECORE_OFFSET));
        }
        if (node->kind == ICECORE_INT)
            printf(", %" PRId64, (int64_t)node->payload);
        else if (node->kind == ICECORE_TEXT)
            printf(", \"%.*s\"", (int)node->aux, (const char *)view.input + (node->payload & ICECORE_OFFSET));
        printf("\n");
    }

    if (icecore_read(context, json, (const uint8_t *)"[1, 2", 5, 0, &view, &error) == ICECORE_OK)
        return 1;
    printf("kind %" PRIu32 " at %" PRId64 ", path %s: %s\n", error.kind, error.offset, error.path, error.message);

    icecore_stage_free(json);
    icecore_stage_free(sereal);
    icecore_context_free(context);
    return 0;
}
