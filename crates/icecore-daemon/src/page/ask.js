// Dialogs: one asks for the token, one asks for a confirmation.

import { button, h } from "./dom.js";

function open(dialog) {
    const before = document.activeElement;
    document.body.append(dialog);
    dialog.addEventListener("close", () => {
        dialog.remove();
        if (before?.isConnected) before.focus();
    });
    dialog.showModal();
    return dialog;
}

// Nothing can be shown without a token, so this dialog stays.
export function token_wanted(was_wrong) {
    return new Promise((resolve) => {
        const input = h("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", required: true });
        const submit = (event) => {
            event.preventDefault();
            if (!input.value) return;
            is_given = true;
            dialog.close();
            resolve(input.value);
        };
        let is_given = false;
        const dialog = h("dialog", { "aria-labelledby": "token-title" },
            h("form", { onsubmit: submit },
                h("h2", { id: "token-title" }, "The token of the daemon"),
                was_wrong && h("p", { role: "alert", class: "bad" }, "This token is not accepted."),
                h("label", { for: "token" }, "Token"), input,
                h("p", { class: "soft" }, "It is kept for this tab only and sent to this daemon only."),
                h("div", { class: "buttons" }, h("button", { type: "submit", class: "main" }, "Continue"))));
        // A browser always lets the user close a dialog, so it opens again.
        dialog.addEventListener("close", () => is_given || resolve(token_wanted(was_wrong)));
        open(dialog);
        input.focus();
    });
}

// Asks the user to confirm an action.
export function confirmed(question, detail, action) {
    return new Promise((resolve) => {
        const end = (answer) => () => {
            dialog.returnValue = answer;
            dialog.close(answer);
        };
        const dialog = h("dialog", { "aria-labelledby": "confirm-title", onclose: () => resolve(dialog.returnValue === "yes") },
            h("h2", { id: "confirm-title" }, question),
            h("p", {}, detail),
            h("div", { class: "buttons" },
                button("Cancel", end("no"), { autofocus: true }),
                button(action, end("yes"), { class: "main", "data-confirm": true })));
        open(dialog);
    });
}

export function told(title, ...content) {
    const dialog = h("dialog", { "aria-labelledby": "told-title" },
        h("h2", { id: "told-title" }, title), ...content,
        h("div", { class: "buttons" }, button("Close", () => dialog.close(), { autofocus: true })));
    return open(dialog);
}
