// One job.

import { get, post, query } from "./api.js";
import { confirmed } from "./ask.js";
import { content } from "./content.js";
import { button, h, put } from "./dom.js";
import { state_badge } from "./jobs.js";
import { data, size_of, time } from "./text.js";

export const facts = (pairs) => h("dl", { class: "facts" }, pairs
    .filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

export function job({ id, act }) {
    const base = `jobs/${encodeURIComponent(id)}`;
    const [head, result, inside] = [h("div"), h("div"), h("div")];
    let has_result = false;
    let now;
    let shown;

    const replay = button("Replay", async () => {
        if (!await confirmed("Replay this job?", "A new job with the same payload is queued. This job does not change.", "Replay")) return;
        const again = await act(post(`${base}/replay`));
        if (again) location.hash = `#/jobs/${again.id}`;
    }, { "data-act": "replay" });
    const redrive = button("Redrive", async () => {
        if (await confirmed("Redrive this job?", "The job becomes ready again and gets as many attempts as a new job.", "Redrive")) act(post(`queues/${encodeURIComponent(now.queue)}/redrive${query({ ids: now.id })}`));
    }, { "data-act": "redrive", hidden: true });
    const compare = h("a", { class: "button", href: `#/compare${query({ left: `jobs/${id}` })}` }, "Compare with …");
    const original = h("a", { class: "button", hidden: true, "data-act": "difference" }, "Compare with the original");

    function show(job) {
        redrive.hidden = job.state !== "dead";
        original.hidden = !job.replay_of;
        if (job.replay_of) original.href = `#/compare${query({ left: `jobs/${job.replay_of}`, right: `jobs/${job.id}` })}`;
        put(head, h("p", {}, state_badge(job.state), ` tried ${job.attempts} of ${job.max_attempts} times`),
            job.error && h("div", { class: "box" }, h("h2", {}, "Error"), data(job.error, { lines: true, most: 2_000, className: "error" })),
            job.problem && h("div", { class: "box" }, h("h2", {}, "It can't be decoded"), data(job.problem, { className: "data bad" })),
            facts([
                ["Queue", h("a", { href: `#/jobs${query({ queue: job.queue })}` }, data(job.queue))],
                ["Priority", job.priority || undefined],
                ["Queued", time(job.queued_at)],
                ["Due", job.run_at === job.queued_at ? undefined : time(job.run_at)],
                ["Lease until", job.lease_until && time(job.lease_until)],
                ["Ended", job.finished_at && time(job.finished_at)],
                ["Worker", job.worker && data(job.worker)],
                ["Unique key", job.unique_key && data(job.unique_key)],
                ["After", job.after && h("a", { href: `#/jobs/${job.after}` }, h("code", {}, job.after))],
                ["Replay of", job.replay_of && h("a", { href: `#/jobs/${job.replay_of}` }, h("code", {}, job.replay_of))],
                ["Format", job.format && data(job.format)],
                ["Size", size_of(job.size)],
                ["SHA-256", h("code", {}, data(job.checksum))],
            ]));
    }

    async function show_result(signal) {
        const { result: found } = await get(base, { signal });
        has_result = true;
        const text = typeof found === "string" ? found : JSON.stringify(found, undefined, 2);
        put(result, found !== null && h("div", { class: "box" }, h("h2", {}, "Result"), data(text, { lines: true, most: 2_000, className: "json" })));
    }

    return {
        title: "Job",
        back: "#/jobs",
        element: h("div", {}, h("p", { class: "id" }, h("code", {}, data(id))), h("div", { class: "buttons" }, replay, redrive, original, compare), head, result, inside),
        async refresh(signal) {
            now = await get(`${base}?brief=true`, { signal });
            const next = JSON.stringify(now);
            if (next !== shown) show(now);
            if (!shown) put(inside, content(base, "payload", now, signal));
            if (now.state === "done" && !has_result) await show_result(signal);
            if (now.state !== "done" && has_result) {
                put(result);
                has_result = false;
            }
            shown = next;
        },
    };
}
