// One object.

import { get, query } from "./api.js";
import { content } from "./content.js";
import { h, put } from "./dom.js";
import { facts } from "./job.js";
import { data, size_of, time } from "./text.js";

export function object({ id }) {
    const base = `objects/${encodeURIComponent(id)}`;
    const [head, inside] = [h("div"), h("div")];
    let shown;

    function show(object) {
        put(head,
            object.problem && h("div", { class: "box" }, h("h2", {}, "In quarantine: it can't be decoded"), data(object.problem, { className: "data bad" })),
            facts([
                ["Key", object.key && data(object.key)],
                ["Class", object.class && h("span", { class: "class" }, data(object.class))],
                ["Format", object.format && data(object.format)],
                ["Stored", time(object.stored_at)],
                ["Expires", object.expires_at && time(object.expires_at)],
                ["Size", size_of(object.size)],
                ["SHA-256", h("code", {}, data(object.checksum))],
            ]));
    }

    return {
        title: "Object",
        back: "#/objects",
        element: h("div", {}, h("p", { class: "id" }, h("code", {}, data(id))),
            h("div", { class: "buttons" }, h("a", { class: "button", href: `#/compare${query({ left: `objects/${id}` })}` }, "Compare with …")), head, inside),
        async refresh(signal) {
            const object = await get(`${base}?brief=true`, { signal });
            const next = JSON.stringify(object);
            if (next !== shown) show(object);
            if (!shown) put(inside, content(base, "bytes", object, signal));
            shown = next;
        },
    };
}
