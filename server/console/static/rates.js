// Rates of streams: how many entries were added in the last seconds, from counts that come with time.

const KEPT_MS = 64_000;
const RATE_MS = 10_000; // over which the figure is taken
const BUCKET_MS = 2_000; // one point of a sparkline
export const POINTS = 30;

export class Rates {
  constructor() {
    this.samples = new Map(); // ids to [[when, entries added so far]], oldest first
    this.since = new Map(); // when each was first seen
  }

  /** At this moment so many entries had been added. */
  add(id, when, added) {
    const known = this.samples.get(id);
    if (!known) {
      this.samples.set(id, [[when, added]]);
      this.since.set(id, when);
      return;
    }
    if (known.at(-1)[1] > added) known.length = 0; // another stream of that name
    known.push([when, added]);
    while (known.length > 2 && known[1][0] < when - KEPT_MS) known.shift();
  }

  forget(id) {
    this.samples.delete(id);
    this.since.delete(id);
  }

  /** How many had been added at that moment, as far as is known. */
  static at(samples, when) {
    let found = samples[0][1];
    for (const [then, added] of samples) {
      if (then > when) break;
      found = added;
    }
    return found;
  }

  /** Entries a second; null while that is not known yet. */
  rate(id, now) {
    const samples = this.samples.get(id);
    if (!samples) return null;
    const span = Math.min(RATE_MS, now - this.since.get(id));
    if (span < 900) return null;
    return ((samples.at(-1)[1] - Rates.at(samples, now - span)) * 1000) / span;
  }

  /** The points of a sparkline, the newest last; null before it was known. */
  points(id, now) {
    const samples = this.samples.get(id);
    if (!samples) return [];
    const since = this.since.get(id);
    const end = Math.floor(now / BUCKET_MS) * BUCKET_MS; // so that a point, once made, stays the same
    const values = [];
    for (let place = POINTS; place > 0; place -= 1) {
      const from = end - place * BUCKET_MS;
      if (from < since) values.push(null);
      else values.push(Rates.at(samples, from + BUCKET_MS) - Rates.at(samples, from));
    }
    return values;
  }
}
