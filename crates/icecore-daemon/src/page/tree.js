// The tree of a payload or an object. It is loaded in parts: closed values, and items after the
// first hundred, are requested when the user opens them.

import { get, query } from "./api.js";
import { button, h, put } from "./dom.js";
import { count_of, counted, data, from_base64, hex, plain } from "./text.js";

const ITEMS = 100;
const LONGEST = 1_000;
const WHOLE = 1 << 20;
// Deeper rows are not indented further.
const DEEPEST = 24;

export class Tree {
    constructor(base, signal) {
        Object.assign(this, { base, signal });
        this.element = h("div", { role: "tree", "aria-label": "Content", class: "tree", onkeydown: (event) => this.key(event) });
        this.path = h("p", { class: "path", role: "status" });
        this.nodes = new Map();
    }

    async ask(parameters) {
        return await get(`${this.base}/inspect${query({ format: this.format, longest: LONGEST, items: ITEMS, ...parameters })}`, { signal: this.signal });
    }

    // Loads the first levels. Returns what the daemon reports about the whole.
    async load(format) {
        this.format = format;
        const said = await this.ask({ depth: 3 });
        this.nodes.clear();
        put(this.element);
        for (const row of this.rows(said.items)) this.element.append(row.element);
        const first = this.element.querySelector("[role=treeitem]");
        if (first) first.tabIndex = 0;
        return said;
    }

    // Makes rows of items, below a row or at the top; `within` names the strings that contain them.
    rows(items, parent, within = "") {
        const made = [];
        const base = parent ? parent.depth : -1;
        const open = parent ? [parent] : [];
        const close = (depth) => {
            while (open.length && open.at(-1).depth >= depth && open.at(-1) !== parent) {
                const more = this.rest(open.pop());
                if (more) made.push(more);
            }
        };
        for (const item of items) {
            const depth = base + item.depth + (parent ? 0 : 1);
            close(depth);
            const row = this.row(item, depth, open.at(-1), within);
            made.push(row);
            if (item.count > 0) open.push(row);
        }
        close(base + 1);
        if (parent && within === parent.within) made.push(...[this.rest(parent)].filter(Boolean));
        return made;
    }

    row(item, depth, parent, within) {
        const row = { item, depth, parent, within, loaded: 0, is_open: false, can_open: item.count > 0 || Boolean(item.inside) };
        if (parent && item.type !== "piece") {
            parent.is_open = true;
            if (item.what !== "key") parent.loaded += 1;
            parent.element.setAttribute("aria-expanded", "true");
        }
        row.element = h("div", {
            role: "treeitem", "aria-level": depth + 1, "aria-expanded": row.can_open ? "false" : undefined, tabindex: "-1",
            "data-row": item.node === undefined ? "piece" : `${within}/${item.node}`, class: `row d${Math.min(depth, DEEPEST)}`,
            onclick: (event) => event.target.closest("button") || this.toggle(row),
            onfocus: () => this.focused(row),
        }, h("span", { class: "place" }, this.place(item)), h("span", { class: "what" }, this.words(item, depth, within)));
        if (item.node !== undefined && item.type !== "piece") this.nodes.set(`${within}/${item.node}`, row);
        return row;
    }

    place(item) {
        if (item.start === undefined) return [];
        const bytes = item.bytes ? from_base64(item.bytes) : [];
        const shown = hex(bytes.slice(0, 6)) + (item.end > item.start + 6 ? " …" : "");
        const title = `${item.layer ? "decompressed bytes" : "bytes"} ${item.start} to ${item.end ?? "the end"}: ${hex(bytes)}`;
        return h("span", { title }, h("span", { class: "offset" }, item.start.toString(16).padStart(8, "0"), item.layer ? "′" : ""), " ", h("span", { class: "hex" }, shown));
    }

    words(item, depth, within) {
        const words = [h("span", { class: "twist", "aria-hidden": "true" }), depth > DEEPEST && h("span", { class: "soft" }, `(${depth}) `)];
        if (item.type === "piece") return [...words, h("span", { class: "soft" }, `· ${item.what}`)];
        if (item.what === "key") words.push(h("span", { class: "soft" }, "key "));
        if (item.step) words.push(h("span", { class: "step" }, data(item.step, { most: 120 })), " ");
        words.push(h("span", { class: "type" }, item.type));
        if (item.class) words.push(" ", h("span", { class: "class" }, data(item.class, { most: 120 })));
        if (item.known?.text) words.push(" ", h("span", { class: "number" }, data(item.known.text)));
        if (item.to !== undefined) words.push(" to ", this.jump(item, within));
        words.push(...this.value(item, within));
        if (item.inside) words.push(h("span", { class: "soft" }, ", ", data(item.inside), " inside"));
        words.push(this.count(item));
        for (const mark of item.marks ?? []) words.push(h("span", { class: "soft" }, `, ${mark}`));
        return words;
    }

    // Returns the number of parts of a list or map, and nothing for other values.
    count(item) {
        const names = { array: ["item", "items"], map: ["entry", "entries"] }[item.type];
        if (!names || item.count === undefined) return "";
        const there = item.of ? `${count_of(item.count)} of ${counted(item.of, ...names)}` : counted(item.count, ...names);
        return h("span", { class: "soft" }, `, ${there}${item.cut ? ", then cut" : ""}`);
    }

    value(item, within) {
        const text = item.value ?? item.latin1;
        if (text === undefined) return [];
        if (typeof text !== "string") return [" ", h("span", { class: "number" }, JSON.stringify(text))];
        if (item.type === "bigint" || item.type.startsWith("float")) return [" ", h("span", { class: "number" }, data(text))];
        const place = h("span", { class: "string" }, "“", data(text), "”");
        if (item.latin1 !== undefined) place.append(h("span", { class: "soft" }, " (not UTF-8: a character a byte)"));
        if (!item.size) return [" ", place];
        const more = button(`… ${count_of(item.size)} bytes in all`, () => this.trying(async () => {
            const [whole] = (await this.ask({ within, node: item.node, depth: 0, longest: WHOLE })).items;
            const found = whole?.value ?? whole?.latin1 ?? "";
            const end = whole?.size ? h("span", { class: "soft" }, ` (the first MB of ${count_of(whole.size)} bytes)`) : "";
            put(place, "“", data(found, { most: 2_000 }), "”", end);
            more.remove();
        }), { class: "more" });
        return [" ", place, " ", more];
    }

    jump(item, within) {
        return button(plain(item.to), () => {
            const target = this.nodes.get(`${within}/${item.target}`);
            for (let row = target?.parent; row; row = row.parent) row.is_open || this.toggle(row);
            target?.element.focus();
        }, { class: "more" });
    }

    // A button for the items of a container that are not shown yet.
    rest(row) {
        const left = row.item.count - row.loaded;
        if (!row.is_open || left <= 0 || row.is_whole) return undefined;
        const depth = row.depth + 1;
        const rest = { depth, parent: row, item: {} };
        const load = button(`… ${count_of(left)} more`, () => this.trying(async () => {
            const had = row.loaded;
            const rows = await this.children(row);
            row.is_whole = row.loaded === had;
            rest.element.replaceWith(...rows.map((one) => one.element));
            rows.find((one) => one.element.getAttribute("role") === "treeitem")?.element.focus();
        }), { class: "more", "data-row": "more" });
        rest.element = h("div", { class: `row d${Math.min(depth, DEEPEST)}`, role: "none" }, h("span", { class: "place" }), h("span", { class: "what" }, load));
        return rest;
    }

    async children(row) {
        const { within, item } = row;
        if (item.inside) {
            const inner = within ? `${within},${item.node}` : String(item.node);
            const found = await this.ask({ within: inner, depth: 2 });
            // One level deeper than the string that contains them.
            return this.rows(found.items.map((one) => ({ ...one, depth: one.depth + 1 })), row, inner);
        }
        const { items } = await this.ask({ within, node: item.node, skip: row.loaded, depth: 1 });
        return this.rows(items.filter((one) => one.depth > 0), row, within);
    }

    // Shows an error in place of the path.
    async trying(load) {
        try {
            await load();
        } catch (error) {
            if (error.name !== "AbortError") put(this.path, h("span", { class: "bad" }, data(error.message)));
        }
    }

    toggle(row) {
        return this.trying(() => this.turn(row));
    }

    async turn(row) {
        if (!row.can_open) return;
        if (!row.is_open && row.loaded === 0) {
            const rows = await this.children(row);
            row.element.after(...rows.map((one) => one.element));
            row.is_open = true;
        } else {
            row.is_open = !row.is_open;
        }
        row.element.setAttribute("aria-expanded", String(row.is_open));
        this.hide();
    }

    // Hides the rows in closed rows.
    hide() {
        let closed;
        for (const element of this.element.children) {
            const level = Number(element.getAttribute("aria-level") ?? (Number(/ d(\d+)/.exec(element.className)[1]) + 1));
            if (closed !== undefined && level <= closed) closed = undefined;
            element.hidden = closed !== undefined;
            if (closed === undefined && element.getAttribute("aria-expanded") === "false") closed = level;
        }
    }

    focused(row) {
        for (const element of this.element.querySelectorAll("[tabindex='0'][role=treeitem]")) element.tabIndex = -1;
        row.element.tabIndex = 0;
        const steps = [];
        // The path in a string continues the path of the string.
        for (let here = row; here; here = here.parent) steps.unshift(here.parent && here.item.step === "$" ? "" : here.item.step ?? "");
        put(this.path, data(steps.join(""), { most: 400 }));
    }

    key(event) {
        const element = event.target.closest("[role=treeitem]");
        if (!element || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("button")) return;
        const row = this.nodes.get(element.dataset.row);
        const is_open = row?.is_open;
        const rows = [...this.element.children].filter((one) => !one.hidden && one.matches("[role=treeitem]"));
        const go = (next) => next?.focus();
        const act = {
            ArrowDown: () => go(rows[rows.indexOf(element) + 1]),
            ArrowUp: () => go(rows[rows.indexOf(element) - 1]),
            ArrowRight: () => (is_open ? go(rows[rows.indexOf(element) + 1]) : row && this.toggle(row)),
            ArrowLeft: () => (is_open ? this.toggle(row) : go(row?.parent?.element)),
            Enter: () => row && this.toggle(row),
            Home: () => go(rows[0]),
            End: () => go(rows.at(-1)),
        }[event.key];
        if (!act) return;
        event.preventDefault();
        act();
    }
}
