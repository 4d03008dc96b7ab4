// Texts from data, made readable and harmless.

import { button, h } from "./dom.js";

// Control and format characters, surrogates, private-use and unassigned code points, line and
// paragraph separators.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;
const NAMED = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

// Number of characters shown at first, and added at a time.
const SHORT = 300;
const STEP = 10_000;

const escaped = (character) => NAMED[character] ?? `\\u{${character.codePointAt(0).toString(16)}}`;

// Returns the pieces of a text, with invisible characters as escapes. `lines` keeps line breaks.
export function pieces(text, { lines = false } = {}) {
    const found = [];
    let from = 0;
    for (const { 0: character, index } of text.matchAll(UNSEEN)) {
        if (lines && (character === "\n" || character === "\t")) continue;
        if (index > from) found.push(text.slice(from, index));
        found.push(h("span", { class: "escape" }, escaped(character)));
        from = index + character.length;
    }
    if (from < text.length) found.push(text.slice(from));
    return found;
}

// Returns a text with its invisible characters escaped, for labels.
export const plain = (text, most = 100) => cut(String(text), most).replace(UNSEEN, escaped);

// Never splits a surrogate pair.
function cut(text, most) {
    if (text.length <= most) return text;
    const half = text.codePointAt(most - 1) > 0xffff ? most - 1 : most;
    return text.slice(0, half);
}

// Shows a text of any length: its start, and a button for more.
export function data(text, { lines = false, most = SHORT, className = "data" } = {}) {
    const whole = String(text);
    const element = h(lines ? "pre" : "bdi", { class: className, tabindex: lines ? "0" : undefined });
    let shown = 0;
    const grow = (count) => {
        const next = cut(whole.slice(shown), count);
        const old = element.querySelector(":scope > button");
        old?.remove();
        element.append(...pieces(next, { lines }));
        shown += next.length;
        const left = whole.length - shown;
        if (left > 0) {
            const more = button(`… ${count_of(left)} more characters`, () => grow(STEP), { class: "more" });
            element.append(more);
            if (old) more.focus();
        }
    };
    grow(most);
    return element;
}

const NUMBER = new Intl.NumberFormat("en");
export const count_of = (number) => NUMBER.format(number);

// Returns a count with its noun: 1 job, 2 jobs.
export const counted = (count, one, many = `${one}s`) => `${count_of(count)} ${count === 1 ? one : many}`;

export function size_of(bytes) {
    const units = ["bytes", "kB", "MB", "GB"];
    let at = 0;
    let left = bytes;
    while (left >= 1000 && at < units.length - 1) [left, at] = [left / 1000, at + 1];
    return at === 0 ? counted(bytes, "byte") : `${left.toFixed(left < 10 ? 1 : 0)} ${units[at]}`;
}

// Returns a duration: 5 s, 3 min, 2 h, 4 d.
export function span_of(milliseconds) {
    const seconds = Math.max(0, milliseconds) / 1000;
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    if (seconds < 120) return `${Math.round(seconds)} s`;
    if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
    if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
    return `${count_of(Math.round(seconds / 86_400))} d`;
}

// Shows a time of the database in the time zone of the user.
export function time(milliseconds) {
    if (milliseconds === undefined || milliseconds === null) return "–";
    const date = new Date(milliseconds);
    if (Number.isNaN(date.getTime())) return String(milliseconds);
    const two = (number) => String(number).padStart(2, "0");
    const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    const text = `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    return h("time", { datetime: date.toISOString(), title: date.toISOString() }, text);
}

// Returns bytes as hexadecimal digits.
export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
export const from_base64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

// Returns rows of 16 bytes, with their printable characters.
export function dump(bytes) {
    const rows = [];
    for (let at = 0; at < bytes.length; at += 16) {
        const row = bytes.subarray(at, at + 16);
        const read = [...row].map((byte) => (byte > 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
        rows.push(`${at.toString(16).padStart(8, "0")}  ${hex(row).padEnd(47)}  ${read}`);
    }
    return h("pre", { class: "dump", tabindex: "0" }, rows.join("\n"));
}
