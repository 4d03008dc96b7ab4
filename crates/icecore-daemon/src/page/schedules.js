// Schedules: jobs that are queued repeatedly, and their times.

import { get, post, query } from "./api.js";
import { button, h } from "./dom.js";
import { table } from "./table.js";
import { data, time } from "./text.js";

function next(schedule) {
    if (schedule.problem) return data(schedule.problem, { most: 300, className: "data bad" });
    return schedule.next_at === null ? h("span", { class: "badge paused" }, "paused") : time(schedule.next_at);
}

export function schedules({ act }) {
    const name = (schedule, what) => `schedules/${encodeURIComponent(schedule.name)}/${what}`;
    const columns = [
        ["Schedule", (schedule) => data(schedule.name, { most: 80 })],
        ["Queue", (schedule) => data(schedule.queue, { most: 80 })],
        ["When", (schedule) => [data(schedule.timing, { most: 80 }), " ", h("span", { class: "soft" }, data(schedule.zone, { most: 40 }))]],
        ["Next", next],
        ["Last", (schedule) => (schedule.last_id ? h("a", { href: `#/jobs/${schedule.last_id}` }, time(schedule.last_at)) : "")],
        ["", (schedule) => {
            const is_on = schedule.next_at !== null;
            return button(is_on ? "Pause" : "Resume", () => act(post(name(schedule, is_on ? "pause" : "resume"))), { "data-act": "pause" });
        }],
    ];
    const list = table("Schedules", columns, (schedule) => `#/jobs${query({ queue: schedule.queue })}`, "There are no schedules. `icecore queue schedule` and PUT /schedules/NAME create them.");
    return {
        title: "Schedules",
        element: list.element,
        async refresh(signal) {
            const all = (await get("schedules?brief=true", { signal })).schedules;
            list.show(all.map((schedule) => ({ id: schedule.name, ...schedule })));
        },
    };
}
