// Light, dark, or as the system is set; the browser keeps the choice.

const KEY = "icecore-theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };
const NAMES = { auto: "Auto", light: "Light", dark: "Dark" };

export function themed(button) {
    let theme = "auto";
    const show = () => {
        document.documentElement.dataset.theme = theme;
        button.textContent = NAMES[theme];
        button.title = `Colours: ${NAMES[theme]}`;
        button.setAttribute("aria-label", `Colours: ${NAMES[theme]}`);
    };
    try {
        const kept = localStorage.getItem(KEY);
        if (kept in NEXT) theme = kept;
    } catch {
        // The choice is not kept.
    }
    button.addEventListener("click", () => {
        theme = NEXT[theme];
        try {
            localStorage.setItem(KEY, theme);
        } catch {
            // The choice lasts as long as the page.
        }
        show();
    });
    show();
}
