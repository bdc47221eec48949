// Rounds timestamps to the resolution of a dataset.

/**
 * A function from seconds to seconds: up to one second to the nearest multiple, half away from
 * zero; above it down to a multiple. Infinite timestamps and not-a-date stay as they are.
 */
export function makeQuantiser(quantumSeconds: number): (ts: number) => number {
  if (quantumSeconds > 1) {
    return (ts) =>
      Number.isFinite(ts) ? Math.floor(Math.floor(ts) / quantumSeconds) * quantumSeconds : ts;
  }
  const perSecond = Math.round(1 / quantumSeconds);
  return (ts) => {
    if (!Number.isFinite(ts)) return ts;
    const whole = Math.trunc(ts);
    const parts = roundAwayFromZero((ts - whole) * perSecond);
    return whole + parts / perSecond;
  };
}

function roundAwayFromZero(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}
