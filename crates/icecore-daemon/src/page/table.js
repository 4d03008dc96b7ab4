// Tables of jobs and objects.

import { h, put } from "./dom.js";

// The row that was opened last, by the address of its list: it gets the focus when the user
// returns.
const opened = new Map();

// `columns`: a name, and a function that makes the cell of an item. The first cell is the link to
// it.
export function table(caption, columns, href, empty) {
    const body = h("tbody");
    const head = h("tr", {}, columns.map(([name]) => h("th", { scope: "col" }, name)));
    const nothing = h("p", { class: "soft", hidden: true }, empty);
    const element = h("div", {}, h("table", { class: "list" }, h("caption", {}, caption), h("thead", {}, head), body), nothing);
    const here = location.hash;
    let shown;

    function row(item) {
        const open = () => opened.set(here, item.id);
        const cells = columns.map(([name, cell], index) => {
            const content = index ? cell(item) : h("a", { href: href(item), "data-row": item.id, onclick: open }, cell(item));
            return h("td", { "data-name": name }, content);
        });
        return h("tr", {}, cells);
    }

    function link(id) {
        return [...body.querySelectorAll("[data-row]")].find((element) => element.dataset.row === id);
    }

    return {
        element,
        show(items) {
            const next = JSON.stringify(items);
            if (next === shown) return;
            const focused = body.contains(document.activeElement) ? document.activeElement.dataset.row : undefined;
            put(body, items.map(row));
            nothing.hidden = items.length > 0;
            const wanted = focused ?? (shown === undefined ? opened.get(here) : undefined);
            if (wanted) link(wanted)?.focus();
            shown = next;
        },
    };
}
