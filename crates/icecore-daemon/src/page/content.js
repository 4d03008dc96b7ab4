// The content of a payload or an object: the tree, and the readable copy next to it.

import { query, text } from "./api.js";
import { button, h, put } from "./dom.js";
import { data, dump, from_base64, plain, size_of } from "./text.js";
import { Tree } from "./tree.js";

// Larger content is only converted on request.
const LARGE = 256_000;
// The formats to choose from if the bytes are not recognised.
const FORMATS = ["storable", "sereal", "dumper", "php", "php-session", "igbinary", "marshal", "json", "base64/marshal", "base64/storable"];
const READABLE = "json:indent=2,cycles=null";

const said = (error) => h("p", { class: "bad" }, data(error.message), error.path ? [" at ", h("code", {}, data(error.path))] : "");

// `base` is `jobs/ID`, `bytes` the address of its bytes, `known` what the daemon reports about it.
export function content(base, bytes, known, signal) {
    const tree = new Tree(base, signal);
    const head = h("p", { class: "soft" });
    const wrong = h("div");
    const copy = h("div", { class: "copy" });

    async function look(format) {
        put(wrong);
        try {
            const found = await tree.load(format);
            const words = [found.format ?? "not recognised", found.variant, size_of(found.size)].filter(Boolean);
            put(head, data(words.join(", ")));
            if (found.error) put(wrong, said(found.error), found.start && [h("p", { class: "soft" }, "The first bytes:"), dump(from_base64(found.start))]);
        } catch (error) {
            if (error.name !== "AbortError") put(wrong, said(error));
        }
    }

    async function read() {
        put(copy, h("p", { class: "soft" }, "…"));
        try {
            const json = await text(`${base}/${bytes}${query({ to: READABLE })}`, { signal });
            put(copy, data(json, { lines: true, most: 5_000, className: "json" }));
        } catch (error) {
            if (error.name !== "AbortError") put(copy, said(error));
        }
    }

    const format = h("input", { id: "as", size: "14", placeholder: plain(known.format ?? "marshal"), list: "formats", autocomplete: "off", spellcheck: "false" });
    const formats = h("datalist", { id: "formats" }, FORMATS.map((name) => h("option", { value: name })));
    const again = h("form", { class: "inline", onsubmit: (event) => { event.preventDefault(); look(format.value); } },
        h("span", { class: "field" }, h("label", { for: "as" }, "Read as"), format, formats), h("button", { type: "submit" }, "Read"));
    if (known.format && known.size <= LARGE) read();
    else if (known.format) put(copy, button(`Show the readable copy of ${size_of(known.size)}`, read));
    else put(copy, h("p", { class: "soft" }, "There is no readable copy, because the bytes can't be decoded."));
    look();
    return h("div", { class: "content" },
        h("section", { "aria-labelledby": "tree-title" },
            h("h2", { id: "tree-title" }, "Content"), head, again, wrong, tree.path, h("div", { class: "scroll", role: "none" }, tree.element)),
        h("section", { "aria-labelledby": "copy-title" }, h("h2", { id: "copy-title" }, "Readable copy"), copy));
}
