// Runs inside of a report, put there by bench-page.sh, and tells the page around it what
// it finds: a line for each check.

const lines = [];
const check = (name, wrong) => lines.push(wrong.length ? `not ok ${name}: ${wrong.slice(0, 3).join('; ')}` : `ok ${name}`);

const root = document.documentElement;
const overflow = () => (root.scrollWidth > window.innerWidth ? [`${root.scrollWidth} of ${window.innerWidth} pixels`] : []);
check('nothing is wider than the window', overflow());
document.querySelectorAll('details').forEach((details) => (details.open = true));
check('nothing is wider with all numbers open', overflow());

const visible = [...document.querySelectorAll('svg.chart')].filter((svg) => svg.getBoundingClientRect().width > 0);
const drawn = document.querySelectorAll('figure').length;
check('each figure shows one chart', visible.length === drawn && drawn > 0 ? [] : [`${visible.length} for ${drawn}`]);

// A pixel of air around letters is not an overlap.
const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
const lying = [];
const outside = [];
for (const svg of visible) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    texts.forEach(({ text, box }, i) => {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
            outside.push(`"${text}" in ${svg.querySelector('title').textContent}`);
        }
        texts.slice(i + 1).filter((other) => meet(box, other.box)).forEach((other) => lying.push(`"${text}" and "${other.text}"`));
    });
}
check('no label lies on another', lying);
check('all labels are inside of their chart', outside);

// Contrast as the WCAG counts it.
const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const light = (color) => {
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map((n) => n / 255).map((n) => (n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const body = getComputedStyle(document.body);
const paper = body.backgroundColor;
const pale = new Set();
for (const element of document.querySelectorAll('body *')) {
    const words = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!words || ['SCRIPT', 'STYLE', 'title', 'desc'].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const color = element instanceof SVGElement ? style.fill : style.color;
    const found = contrast(color, paper);
    // Signs of verdicts are next to their word.
    if (found < (element.getAttribute('aria-hidden') ? 3 : 4.5)) pale.add(`${element.tagName} ${color} ${found.toFixed(1)}`);
}
check('text can be read', [...pale]);
const marks = ['own', 'base', 'other', 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'ink', 'soft'];
check('marks can be seen', marks.map((name) => [name, contrast(body.getPropertyValue(`--${name}`), paper)]).filter(([, found]) => !(found >= 3)).map(String));

const dark = matchMedia('(prefers-color-scheme: dark)').matches;
check('the page is as light or dark as asked for', dark === light(paper) < 0.2 ? [] : [paper]);
lines.push(`seen ${dark ? 'dark' : 'light'} ${window.innerWidth}`);

window.parent.postMessage(lines.map((line) => `\n@@ ${line.replace(/\n/g, ' ')}`).join('') + '\n', '*');
