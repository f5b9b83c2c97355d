/** A share in percent with two decimals, 100 at most although one call may overshoot a limit (decisions §9). */
export const toPercentage = (used: number, limit: number): number =>
  Math.min(100, Math.round((used / limit) * 10_000) / 100);
