// Jobs, the newest first.

import { get, query } from "./api.js";
import { h } from "./dom.js";
import { table } from "./table.js";
import { data, size_of, time } from "./text.js";

const STATES = ["ready", "leased", "waiting", "done", "dead"];
const LIMIT = 50;
const NEWEST = "9223372036854775807";

export const state_badge = (state) => h("span", { class: `badge ${STATES.includes(state) ? state : ""}` }, state);

const COLUMNS = [
    ["Job", (job) => h("code", {}, job.id)],
    ["Queue", (job) => data(job.queue, { most: 60 })],
    ["State", (job) => state_badge(job.state)],
    ["Tries", (job) => `${job.attempts} of ${job.max_attempts}`],
    ["Queued", (job) => time(job.queued_at)],
    ["Payload", (job) => [job.problem ? h("span", { class: "bad" }, "can't be decoded") : data(job.format ?? "?", { most: 40 }), `, ${size_of(job.size)}`]],
    ["Error", (job) => (job.error ? data(job.error, { most: 100, className: "data bad" }) : "")],
];

// Returns a form whose fields are the parameters of the list.
export function filters(here, fields, parameters, extra) {
    const submit = (event) => {
        event.preventDefault();
        const found = Object.fromEntries(new FormData(event.target));
        const id = found.id?.trim();
        location.hash = id ? `#/${here}/${encodeURIComponent(id)}` : `#/${here}${query(found)}`;
    };
    const made = fields.map(([name, label, options], index) => {
        const attributes = { id: `f-${name}`, name, "data-filter": index === 0, autocomplete: "off", spellcheck: "false" };
        const field = options
            ? h("select", { ...attributes, onchange: (event) => event.target.form.requestSubmit() }, options.map((one) => h("option", { value: one, selected: one === (parameters[name] ?? "") }, one || "all")))
            : h("input", { ...attributes, value: parameters[name] ?? "" });
        return h("span", { class: "field" }, h("label", { for: `f-${name}` }, label), field);
    });
    return h("form", { class: "filters", role: "search", onsubmit: submit }, made, h("button", { type: "submit" }, "Show"), extra);
}

export function jobs({ parameters }) {
    const { queue, state, before } = parameters;
    const list = table("Jobs, the newest first", COLUMNS, (job) => `#/jobs/${job.id}`, "There are no such jobs.");
    const older = h("a", { class: "button", hidden: true }, "Older");
    const newest = h("a", { class: "button", href: `#/jobs${query({ queue, state })}`, hidden: !before }, "Newest");
    return {
        title: "Jobs",
        element: h("div", {}, filters("jobs", [["queue", "Queue"], ["state", "State", ["", ...STATES]], ["id", "Id"]], parameters),
            list.element, h("nav", { class: "pages", "aria-label": "Pages" }, newest, older)),
        async refresh(signal) {
            const asked = query({ queue, state, before: before ?? NEWEST, limit: LIMIT, brief: true });
            const page = await get(`jobs${asked}`, { signal });
            list.show(page.jobs);
            older.hidden = page.next === null;
            if (page.next !== null) older.setAttribute("href", `#/jobs${query({ queue, state, before: page.next })}`);
        },
    };
}
