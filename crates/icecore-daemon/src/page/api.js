// Requests to the daemon, and their errors.

import { token_wanted } from "./ask.js";

const KEY = "icecore-token";

// The browser keeps the token for this tab only, if its storage is available.
const store = {
    get() {
        try {
            return sessionStorage.getItem(KEY);
        } catch {
            return this.kept;
        }
    },
    set(token) {
        this.kept = token;
        try {
            sessionStorage.setItem(KEY, token);
        } catch {
            // Then the token is only kept in memory.
        }
    },
};

export class Refused extends Error {
    constructor(code, said = {}) {
        super(said.message ?? `The daemon answers ${code}.`);
        Object.assign(this, { code, kind: said.kind, path: said.path, help: said.help, errors: said.errors });
    }
}

// Numbers that would lose digits stay as they are written.
function exact(key, value, context) {
    if (typeof value !== "number" || context?.source === undefined || !JSON.rawJSON) return value;
    return String(value) === context.source || Number.isSafeInteger(value) ? value : JSON.rawJSON(context.source);
}

let asking;

// Asks for the token once, however many requests need it.
function token_again(was_wrong) {
    asking ??= token_wanted(was_wrong).then((token) => store.set(token)).finally(() => (asking = undefined));
    return asking;
}

async function send(path, method, signal) {
    for (;;) {
        const token = store.get();
        const headers = token ? { Authorization: `Bearer ${token}` } : {};
        let answer;
        try {
            answer = await fetch(path, { method, headers, signal, cache: "no-store", credentials: "omit", redirect: "error" });
        } catch (error) {
            if (error.name === "AbortError") throw error;
            throw new Refused(0, { kind: "away", message: "The daemon does not answer." });
        }
        if (answer.status !== 401) return answer;
        if (store.get() === token) await token_again(Boolean(token));
    }
}

// Returns the text of an answer.
export async function text(path, { method = "GET", signal } = {}) {
    const answer = await send(path, method, signal);
    const body = await answer.text();
    if (answer.ok) return body;
    let said;
    try {
        said = JSON.parse(body).error;
    } catch {
        // The answer does not come from the daemon itself.
    }
    throw new Refused(answer.status, said);
}

export const get = async (path, options) => JSON.parse(await text(path, options), exact);
export const post = (path) => get(path, { method: "POST" });

// Returns the part after the `?`; empty values are left out.
export function query(parameters) {
    const known = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
    const search = new URLSearchParams(known).toString();
    return search ? `?${search}` : "";
}
