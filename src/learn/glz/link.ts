// Links of generalised linear models: from linear predictor to mean and back.

export const LINKS = ['logit', 'probit', 'comp_log_log', 'linear', 'log'] as const;
export type Link = (typeof LINKS)[number];

interface LinkFunctions {
  /** mean of a linear predictor */
  inverse(eta: number): number;
  /** linear predictor of a mean */
  forward(mu: number): number;
  /** slope of `inverse` */
  slope(eta: number): number;
}

export const LINK_FUNCTIONS: Readonly<Record<Link, LinkFunctions>> = {
  logit: {
    inverse: logistic,
    forward: (mu) => Math.log(mu / (1 - mu)),
    slope: (eta) => {
      const p = logistic(eta);
      return p * (1 - p);
    },
  },
  probit: { inverse: normalCdf, forward: normalQuantile, slope: normalDensity },
  comp_log_log: {
    inverse: (eta) => -Math.expm1(-Math.exp(eta)),
    forward: (mu) => Math.log(-Math.log1p(-mu)),
    slope: (eta) => Math.exp(eta - Math.exp(eta)),
  },
  linear: { inverse: (eta) => eta, forward: (mu) => mu, slope: () => 1 },
  log: { inverse: Math.exp, forward: Math.log, slope: Math.exp },
};

export function logistic(eta: number): number {
  // Either form is exact where the other one overflows.
  if (eta >= 0) return 1 / (1 + Math.exp(-eta));
  const e = Math.exp(eta);
  return e / (1 + e);
}

function normalDensity(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
}

/**
 * The normal distribution function to about 1e-15.
 * @see Marsaglia, "Evaluating the normal distribution", J. Stat. Software 11, 2004 (the series), and
 *   the continued fraction of the tail
 */
export function normalCdf(x: number): number {
  if (Number.isNaN(x)) return x;
  if (Math.abs(x) > 6) {
    const tail = upperTail(Math.abs(x));
    return x < 0 ? tail : 1 - tail;
  }
  let sum = x;
  let term = x;
  for (let i = 3; Math.abs(term) > 1e-18 * Math.abs(sum); i += 2) {
    term *= (x * x) / i;
    sum += term;
  }
  const result = 0.5 + sum * normalDensity(x);
  return Math.min(1, Math.max(0, result));
}

function upperTail(x: number): number {
  let fraction = x;
  for (let i = 40; i >= 1; i--) fraction = x + i / fraction;
  return normalDensity(x) / fraction;
}

/** The inverse of normalCdf, by Newton steps from a rational start. */
export function normalQuantile(p: number): number {
  if (p <= 0) return Number.NEGATIVE_INFINITY;
  if (p >= 1) return Number.POSITIVE_INFINITY;
  // Abramowitz & Stegun 26.2.23: off by less than 4.5e-4.
  const t = Math.sqrt(-2 * Math.log(Math.min(p, 1 - p)));
  const rational =
    t -
    (2.515517 + t * (0.802853 + t * 0.010328)) /
      (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  let x = p < 0.5 ? -rational : rational;
  for (let i = 0; i < 4; i++) x -= (normalCdf(x) - p) / normalDensity(x);
  return x;
}
