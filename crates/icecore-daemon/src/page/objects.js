// Objects in the order in which they were stored, and objects in quarantine.

import { get, query } from "./api.js";
import { h } from "./dom.js";
import { filters } from "./jobs.js";
import { table } from "./table.js";
import { data, size_of, time } from "./text.js";

const LIMIT = 50;

const ID = ["Object", (object) => h("code", {}, object.id)];
const KEY = ["Key", (object) => (object.key ? data(object.key, { most: 80 }) : "")];
const STORED = ["Stored", (object) => time(object.stored_at)];
const SIZE = ["Size", (object) => size_of(object.size)];
const FORMAT = ["Format", (object) => data(object.format ?? "–", { most: 40 })];
const CLASS = ["Class", (object) => (object.class ? data(object.class, { most: 80, className: "data class" }) : "")];
const REASON = ["Reason", (object) => (object.problem ? data(object.problem, { most: 300, className: "data bad" }) : "")];

function listed(here, title, columns, fixed, fields) {
    return ({ parameters }) => {
        const list = table(title, columns, (object) => `#/objects/${object.id}`, "There are no such objects.");
        const next = h("a", { class: "button", hidden: true }, "Next page");
        const { after, ...wanted } = parameters;
        const first = h("a", { class: "button", href: `#/${here}${query(wanted)}`, hidden: !after }, "First page");
        const known = Object.fromEntries(Object.entries(wanted).filter(([name]) => fields.some(([field]) => field === name)));
        return {
            title,
            element: h("div", {}, filters(here === "quarantine" ? "objects" : here, [...fields, ["id", "Id"]], parameters), list.element, h("nav", { class: "pages", "aria-label": "Pages" }, first, next)),
            async refresh(signal) {
                const page = await get(`objects${query({ ...known, ...fixed, after, limit: LIMIT, brief: true })}`, { signal });
                list.show(page.objects);
                next.hidden = page.next === null;
                if (page.next !== null) next.setAttribute("href", `#/${here}${query({ ...wanted, after: page.next })}`);
            },
        };
    };
}

export const objects = listed("objects", "Objects", [ID, KEY, CLASS, FORMAT, SIZE, STORED, REASON], {},
    [["class", "Class"], ["key", "Key"], ["path", "Path"], ["value", "Value"], ["problem", "Problem", ["", "true", "false"]]]);
export const quarantine = listed("quarantine", "Quarantine", [ID, REASON, KEY, SIZE, STORED], { problem: true }, []);
