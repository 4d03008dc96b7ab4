// The page: chooses the part that is shown, and has what all parts share.

import { compare } from "./compare.js";
import { h, put } from "./dom.js";
import { job } from "./job.js";
import { jobs } from "./jobs.js";
import { help, listen } from "./keys.js";
import { Live } from "./live.js";
import { object } from "./object.js";
import { objects, quarantine } from "./objects.js";
import { queues } from "./queues.js";
import { schedules } from "./schedules.js";
import { data, plain } from "./text.js";
import { themed } from "./theme.js";

const LISTS = { queues, jobs, schedules, objects, quarantine, compare };
const ITEMS = { jobs: job, objects: object };

const main = document.getElementById("main");
const live = new Live(document.getElementById("live"), document.getElementById("status"));
const alert = h("div", { role: "alert" });
let view;

// Parses addresses such as `#/jobs/ID` and `#/jobs?state=dead`.
function route() {
    const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const [name = "", id] = path.split("/");
    const parameters = Object.fromEntries(new URLSearchParams(search));
    if (id && Object.hasOwn(ITEMS, name)) return { name, make: ITEMS[name], id: decoded(id), parameters };
    if (!id && Object.hasOwn(LISTS, name)) return { name, make: LISTS[name], parameters };
    return name ? { name, make: nowhere, parameters } : { name: "queues", make: queues, parameters };
}

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

const nowhere = () => ({ title: "Nothing here", element: h("p", {}, "This page does not exist."), refresh: async () => undefined });

// Changes data of the daemon and shows the result.
async function act(promise) {
    try {
        const answer = await promise;
        live.again();
        return answer;
    } catch (error) {
        failed(error);
        return undefined;
    }
}

function failed(error) {
    if (!error && !alert.firstChild) return;
    put(alert, error && h("p", { class: "box bad" }, data(error.message), error.help && [" ", data(error.help)]));
}

function show() {
    const { name, make, id, parameters } = route();
    view = make({ id, parameters, act });
    for (const link of document.querySelectorAll("header nav a")) {
        if (link.getAttribute("href") === `#/${name}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    const title = h("h1", { tabindex: "-1" }, view.title);
    document.title = `${view.title}${id ? ` ${plain(id, 40)}` : ""} – Icecore`;
    put(alert);
    put(main, title, alert, view.element);
    title.focus({ preventScroll: true });
    scrollTo(0, 0);
    live.show(view.refresh, failed);
}

// The addresses from the first one to the current one.
const trail = [location.hash];

// Returns to the previous address, or to the list if this is the first one.
function back() {
    if (!view?.back) return;
    if (trail.length > 1) history.back();
    else location.hash = view.back;
}

document.querySelector("[data-skip]").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
});
document.getElementById("help").addEventListener("click", help);
themed(document.getElementById("theme"));
listen(back);
addEventListener("hashchange", () => {
    if (location.hash === trail.at(-2)) trail.pop();
    else trail.push(location.hash);
    show();
});
show();
