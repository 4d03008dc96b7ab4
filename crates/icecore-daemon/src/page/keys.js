// Keyboard shortcuts.

import { h } from "./dom.js";
import { told } from "./ask.js";

const KEYS = [
    ["/", "go to the filter"],
    ["j k", "move down and up in a list or a tree"],
    ["Enter", "open the selected item"],
    ["← →", "close or open a row of a tree"],
    ["Esc", "go back; leave a filter or a dialog"],
    ["?", "show these keys"],
];

export function help() {
    told("Keys", h("dl", { class: "keys" }, KEYS.map(([key, text]) => [
        h("dt", {}, key.split(" ").map((one) => h("kbd", {}, one))),
        h("dd", {}, text),
    ])));
}

const is_typed_in = (element) => element?.matches("input:not([type=checkbox]), textarea, select");

// Moves the focus among the visible rows.
function move(step) {
    const rows = [...document.querySelectorAll("main [data-row]")].filter((row) => row.checkVisibility());
    const here = document.activeElement;
    const at = rows.indexOf(here.closest("[data-row]") ?? here.closest("tr, .card")?.querySelector("[data-row]"));
    const next = at < 0 ? (step > 0 ? rows[0] : rows.at(-1)) : rows[at + step];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
}

export function listen(back) {
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (document.querySelector("dialog[open]")) return;
        const { activeElement } = document;
        if (is_typed_in(activeElement)) {
            if (event.key === "Escape") activeElement.blur();
            return;
        }
        const act = {
            "/": () => document.querySelector("[data-filter]")?.focus(),
            j: () => move(1),
            k: () => move(-1),
            Escape: back,
            "?": help,
        }[event.key];
        if (!act) return;
        event.preventDefault();
        act();
    });
}
