// The queues: their jobs, rates and waiting times.

import { get, post, query } from "./api.js";
import { confirmed } from "./ask.js";
import { chart } from "./chart.js";
import { button, h, put } from "./dom.js";
import { History } from "./history.js";
import { count_of, counted, data, plain, span_of, time } from "./text.js";

const STATES = ["ready", "leased", "waiting", "done", "dead"];
// At most this many charts are drawn; a filter shows the other queues.
const MOST = 24;

const history = new History();
const rate = (number) => (number === 0 || number >= 10 ? count_of(Math.round(number)) : number.toFixed(number < 1 ? 2 : 1));
const path = (name, what) => `queues/${encodeURIComponent(name)}/${what}`;

// Returns the limits of a queue in words.
const limits_of = ({ concurrency, rate }) => [concurrency !== null && `${count_of(concurrency)} at a time`, rate].filter(Boolean).join(", ");

function card(name, act) {
    const of_state = (state) => `#/jobs${query({ queue: name, state })}`;
    const counts = STATES.map((state) => h("b", {}, "0"));
    const [delayed, oldest, paused, limits] = [h("b", {}), h("b", {}), h("p", { class: "badge paused", hidden: true }), h("p", { class: "badge limits", hidden: true })];
    const pause = button("Pause", () => act(post(path(name, queue.is_paused ? "resume" : "pause"))), { "data-act": "pause" });
    const redrive = button("Redrive", async () => {
        const many = counted(queue.dead, "dead job");
        if (await confirmed(`Redrive ${many}?`, ["They become ready again in the queue ", data(name), " and get as many attempts as new jobs."], "Redrive")) act(post(path(name, "redrive")));
    }, { "data-act": "redrive" });
    const rates = chart("Jobs per second", ["in", "done", "dead"], rate);
    const ages = chart("Age of the oldest ready job", ["age"], (seconds) => (Number.isInteger(seconds) && seconds < 10 ? `${seconds} s` : span_of(seconds * 1000)));
    let queue;
    const element = h("section", { class: "card", "aria-label": `Queue ${plain(name)}` },
        h("header", {}, h("h2", {}, h("a", { href: of_state(), "data-row": name }, data(name, { most: 80 }))), paused, limits, h("div", { class: "buttons" }, pause, redrive)),
        h("ul", { class: "counts" },
            STATES.map((state, index) => h("li", {}, h("a", { href: of_state(state), class: state }, counts[index], ` ${state}`))),
            h("li", {}, delayed, " delayed"), h("li", {}, "oldest ", oldest)),
        h("div", { class: "charts" }, rates.element, ages.element));
    return {
        element,
        show(now, at) {
            queue = now;
            STATES.forEach((state, index) => (counts[index].textContent = count_of(queue[state])));
            delayed.textContent = count_of(queue.delayed);
            oldest.textContent = queue.oldest === null ? "–" : span_of(queue.oldest);
            pause.textContent = queue.is_paused ? "Resume" : "Pause";
            paused.hidden = !queue.is_paused;
            if (queue.is_paused) put(paused, "paused since ", time(queue.paused_at));
            const limited = limits_of(queue);
            limits.hidden = limited === "";
            if (limits.textContent !== limited) limits.textContent = limited;
            redrive.hidden = queue.dead === 0;
            redrive.textContent = `Redrive ${count_of(queue.dead)}`;
            rates.draw(history.rates(name), at);
            ages.draw(history.ages(name), at);
        },
    };
}

export function queues({ act }) {
    const cards = new Map();
    const filter = h("input", { type: "search", id: "filter", "data-filter": true, autocomplete: "off", spellcheck: "false", oninput: () => show() });
    const list = h("div", { class: "cards" });
    const note = h("p", { class: "soft", role: "status" });
    let all = [];

    function show() {
        const found = all.filter((queue) => queue.name.includes(filter.value));
        const drawn = found.slice(0, MOST);
        const at = performance.now();
        const wanted = drawn.map((queue) => {
            if (!cards.has(queue.name)) cards.set(queue.name, card(queue.name, act));
            return cards.get(queue.name).element;
        });
        // Existing cards keep their place and the focus.
        if (wanted.length !== list.children.length || wanted.some((element, index) => list.children[index] !== element)) put(list, wanted);
        drawn.forEach((queue) => cards.get(queue.name).show(queue, at));
        const text = all.length === 0 ? "There are no queues yet: the first job creates one." : found.length > MOST ? `${counted(found.length - MOST, "more queue")}: narrow the filter to see ${found.length - MOST === 1 ? "it" : "them"}.` : found.length === 0 ? "No queue has this in its name." : "";
        if (note.textContent !== text) note.textContent = text;
    }

    return {
        title: "Queues",
        element: h("div", {}, h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() }, h("span", { class: "field" }, h("label", { for: "filter" }, "Name"), filter)), list, note),
        async refresh(signal) {
            all = (await get("queues", { signal })).queues;
            history.add(all, performance.now());
            show();
        },
    };
}
