// Refreshes a view every two seconds while it is visible.

const PAUSE = 2_000;
// Slow requests may take at most a tenth of the time.
const TIMES = 10;

export class Live {
    constructor(switcher, status) {
        Object.assign(this, { switcher, status, is_on: true });
        switcher.addEventListener("click", () => this.turn(!this.is_on));
        document.addEventListener("visibilitychange", () => document.hidden || this.soon(0));
        this.turn(true);
    }

    turn(is_on) {
        this.is_on = is_on;
        this.switcher.textContent = is_on ? "Freeze" : "Resume";
        this.switcher.title = is_on ? "Stop refreshing: what is shown stays" : "Refresh every 2 s";
        this.say(is_on ? "live" : "frozen");
        this.soon(0);
    }

    say(word) {
        if (this.status.textContent !== word) this.status.textContent = word;
        this.status.className = word.replace(" ", "-");
    }

    // Shows this view from now on: calls `refresh` with a signal, and `failed` with an error.
    show(refresh, failed) {
        this.stop?.abort();
        this.stop = new AbortController();
        this.view = { refresh, failed, signal: this.stop.signal };
        this.again();
    }

    // Refreshes now, frozen or not.
    async again() {
        clearTimeout(this.timer);
        const { view } = this;
        if (!view) return;
        const began = performance.now();
        try {
            await view.refresh(view.signal);
            if (view !== this.view) return;
            view.failed(undefined);
            this.say(this.is_on ? "live" : "frozen");
        } catch (error) {
            if (view !== this.view || error.name === "AbortError") return;
            view.failed(error);
            if (error.code === 0) this.say("no answer");
        }
        this.soon(Math.max(PAUSE, TIMES * (performance.now() - began)));
    }

    soon(delay) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.is_on && !document.hidden && this.again(), delay);
    }
}
