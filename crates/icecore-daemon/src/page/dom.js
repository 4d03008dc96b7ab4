// Elements. Text stays text: no code of the page parses markup.

const SVG = new Set(["svg", "g", "line", "path", "text", "title", "rect"]);

export function h(tag, attributes = {}, ...children) {
    const element = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : value);
    }
    put(element, ...children);
    return element;
}

// Replaces the children of an element.
export function put(element, ...children) {
    element.replaceChildren(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
}

export const button = (text, onclick, attributes = {}) => h("button", { type: "button", onclick, ...attributes }, text);
