interface Sample {
  /** Of the end of the write-ahead log, in bytes. */
  position: number;
  /** By `performance.now()`. */
  at: number;
}

const MAX_KNOWN_LAG_MS = 60 * 60_000;

/** Remembers when the log of the primary ended where, so that the lag of a replica needs no comparison of clocks. */
export function createLogHistory() {
  let samples: Sample[] = [];
  return {
    add(position: number, at: number): void {
      // After a failover with losses, the new primary continues before the end of the old one.
      samples = samples.filter((sample) => sample.at >= at - MAX_KNOWN_LAG_MS && sample.position <= position);
      samples.push({ position, at });
    },
    /** The time in ms since the primary was ahead of `position`, which a replica has; 0 if it is not known to have been. */
    lagAt(position: number, now: number): number {
      const missing = samples.find((sample) => sample.position > position);
      return missing ? now - missing.at : 0;
    },
    /** What a replica has if it is no more than `now - at` behind. Infinite without a sample. */
    positionAt(at: number): number {
      const sample = samples.findLast((one) => one.at <= at) ?? samples[0];
      return sample?.position ?? Number.POSITIVE_INFINITY;
    },
  };
}
