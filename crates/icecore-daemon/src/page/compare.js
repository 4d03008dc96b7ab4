// The differences between two jobs or objects.

import { get, query } from "./api.js";
import { h, put } from "./dom.js";
import { count_of, counted, data } from "./text.js";

const SIGNS = { added: "+", removed: "−", changed: "≠", moved: "→" };

const side = (value) => value && [h("span", { class: "type" }, value.type), " ",
    value.class && [h("span", { class: "class" }, data(value.class, { most: 120 })), " "], value.text !== undefined && data(value.text)];

function row({ what, path, to, left, right }) {
    return h("tr", { class: what },
        h("td", { "data-name": "What" }, h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[what]), ` ${what}`),
        h("td", { "data-name": "Where" }, h("code", { tabindex: "0", "data-row": path }, data(path))),
        h("td", { "data-name": "First" }, side(left)),
        h("td", { "data-name": "Second" }, to === undefined ? side(right) : ["to ", h("code", {}, data(to))]));
}

function verdict({ is_equal, count, is_whole, differences }) {
    if (is_equal) return "They are equal: a program can't distinguish them.";
    if (count === 0 && is_whole) return "They have the same values, but differ in the order of keys, in sharing or in their bytes.";
    const words = [counted(count, "difference")];
    if (differences.length < count) words.push(`the first ${count_of(differences.length)} are shown`);
    if (!is_whole) words.push("links make more pairs than can be compared");
    return `${words.join("; ")}.`;
}

export function compare({ parameters }) {
    const { left = "", right = "" } = parameters;
    const submit = (event) => {
        event.preventDefault();
        const { left, right } = Object.fromEntries(new FormData(event.target));
        location.hash = `#/compare${query({ left: named(left), right: named(right) })}`;
    };
    // A bare id is the id of a job.
    const named = (text) => (text.trim() === "" || text.includes("/") ? text.trim() : `jobs/${text.trim()}`);
    const field = (name, label, value, is_first) => h("span", { class: "field" }, h("label", { for: `c-${name}` }, label),
        h("input", { id: `c-${name}`, name, value, required: true, "data-filter": is_first, autocomplete: "off", spellcheck: "false", placeholder: "jobs/… or objects/…" }));
    const found = h("div");
    const link = (name) => h("a", { href: `#/${name}` }, data(name));
    let shown;
    return {
        title: "Compare",
        element: h("div", {}, h("form", { class: "filters", onsubmit: submit }, field("left", "First", left, !left), field("right", "Second", right, Boolean(left)), h("button", { type: "submit" }, "Compare")), found),
        async refresh(signal) {
            if (!left || !right || shown) return;
            const answer = await get(`compare${query({ left, right })}`, { signal });
            shown = true;
            put(found, h("p", {}, link(left), " and ", link(right)), h("p", { role: "status", class: "verdict" }, verdict(answer)),
                answer.differences.length > 0 && h("table", { class: "list differences" }, h("caption", {}, "Differences"),
                    h("thead", {}, h("tr", {}, ["What", "Where", "First", "Second"].map((name) => h("th", { scope: "col" }, name)))),
                    h("tbody", {}, answer.differences.map(row))));
        },
    };
}
