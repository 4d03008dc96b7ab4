// Line charts of the last minutes.

import { h, put } from "./dom.js";
import { WINDOW } from "./history.js";

const MINUTE = 60_000;

const HEIGHT = 130;
const LEFT = 46;
const RIGHT = 8;
const TOP = 10;
const BOTTOM = 20;

// Returns the smallest of 1, 2, 5, 10, … that is not less than the value.
export function roof(value) {
    const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= value * 0.999_999);
    return Math.max(1, step * power);
}

export function chart(title, names, format) {
    const values = names.map(() => h("b", {}, "–"));
    const legend = h("ul", { class: "legend" }, names.map((name, index) =>
        h("li", {}, h("span", { class: `swatch p${index}`, "aria-hidden": "true" }), `${name} `, values[index])));
    const svg = h("svg", { class: "chart", role: "img", height: HEIGHT });
    const element = h("figure", {}, h("figcaption", {}, h("span", {}, title), legend), svg);
    let points = [];
    let now = 0;
    let looked;

    const width = () => Math.max(220, svg.clientWidth || 320);
    // Shows at least a minute, at most everything that is kept.
    const shown = () => {
        const span = points.length ? now - points[0].at : 0;
        return [MINUTE, 2 * MINUTE, WINDOW].find((some) => span <= some) ?? WINDOW;
    };
    const x = (at) => width() - RIGHT - ((now - at) / shown()) * (width() - LEFT - RIGHT);

    function tell(point) {
        names.forEach((_, index) => (values[index].textContent = point ? format(point.values[index]) : "–"));
    }

    function render() {
        const most = roof(Math.max(0, ...points.flatMap((point) => point.values)));
        const y = (value) => TOP + (1 - value / most) * (HEIGHT - TOP - BOTTOM);
        const last = looked ?? points.at(-1);
        const grid = [0, most / 2, most].map((value) => [
            h("line", { class: "grid", x1: LEFT, x2: width() - RIGHT, y1: y(value), y2: y(value) }),
            h("text", { x: LEFT - 6, y: y(value) + 4, class: "tick end" }, format(value)),
        ]);
        const times = [h("text", { x: LEFT, y: HEIGHT - 4, class: "tick" }, `${shown() / MINUTE} min ago`),
            h("text", { x: width() - RIGHT, y: HEIGHT - 4, class: "tick end" }, "now")];
        // The first line is drawn on top.
        const lines = names.map((_, index) => {
            const d = points.map((point, at) => `${at ? "L" : "M"}${x(point.at).toFixed(1)} ${y(point.values[index]).toFixed(1)}`).join("");
            // A single point becomes a dot.
            return h("path", { class: `line l${index}`, d: points.length === 1 ? `${d}h0.1` : d });
        });
        const cross = looked && h("line", { class: "cross", x1: x(looked.at), x2: x(looked.at), y1: TOP, y2: HEIGHT - BOTTOM });
        const said = names.map((name, index) => `${name} ${last ? format(last.values[index]) : "not known yet"}`).join(", ");
        svg.setAttribute("viewBox", `0 0 ${width()} ${HEIGHT}`);
        svg.setAttribute("aria-label", `${title}: ${said}`);
        svg.dataset.points = points.length;
        put(svg, grid, times, lines.reverse(), cross);
        tell(last);
    }

    svg.addEventListener("pointermove", (event) => {
        const here = event.clientX - svg.getBoundingClientRect().left;
        looked = points.reduce((best, point) => (!best || Math.abs(x(point.at) - here) < Math.abs(x(best.at) - here) ? point : best), undefined);
        render();
    });
    svg.addEventListener("pointerleave", () => {
        looked = undefined;
        render();
    });
    return {
        element,
        draw(all, at) {
            [points, now] = [all, at];
            if (looked && !points.includes(looked)) looked = points.find((point) => point.at === looked.at);
            render();
        },
    };
}
