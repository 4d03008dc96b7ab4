// The counts of the queues in the last minutes, and their rates.

export const WINDOW = 5 * 60_000;
const SHORTEST = 1_000;
const STATES = ["ready", "leased", "waiting", "done", "dead"];

export class History {
    #queues = new Map();

    add(queues, at) {
        for (const queue of queues) {
            const known = this.#queues.get(queue.name) ?? [];
            const all = STATES.reduce((sum, state) => sum + queue[state], 0);
            // A rate over a very short time means nothing: a new value soon after the last one
            // replaces it.
            if (known.length > 1 && at - known.at(-1).at < SHORTEST) known.pop();
            known.push({ at, all, done: queue.done, dead: queue.dead, waiting: queue.ready, oldest: queue.oldest ?? 0 });
            while (known[0].at < at - WINDOW) known.shift();
            this.#queues.set(queue.name, known);
        }
        const there = new Set(queues.map((queue) => queue.name));
        for (const name of this.#queues.keys()) there.has(name) || this.#queues.delete(name);
    }

    // Jobs per second that were queued, were done, and died. Removed jobs count as 0.
    rates(name) {
        const known = this.#queues.get(name) ?? [];
        return known.slice(1).map((now, index) => {
            const before = known[index];
            const rate = (field) => Math.max(0, now[field] - before[field]) / Math.max(0.001, (now.at - before.at) / 1000);
            return { at: now.at, values: [rate("all"), rate("done"), rate("dead")] };
        });
    }

    // Age of the oldest waiting job, in seconds.
    ages(name) {
        return (this.#queues.get(name) ?? []).map(({ at, oldest }) => ({ at, values: [oldest / 1000] }));
    }
}
