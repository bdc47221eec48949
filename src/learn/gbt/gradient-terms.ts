// Gradients and hessians as terms, rounded where those of rows in memory are: to single precision.
import { SumsRefused } from '../sums/sums.ts';
import {
  call,
  choose,
  columnOf,
  compare,
  constant,
  minus,
  over,
  plus,
  shared,
  type Term,
  times,
} from '../sums/term.ts';
import type { SummedTraining } from '../sums/training.ts';
import type { Objective } from './model.ts';
import type { GbtOptions } from './options.ts';

export interface GradientTerms {
  /** values that the others name */
  readonly rest: readonly Term[];
  readonly gradient: Term;
  readonly hessian: Term;
}

/** Those of one output after the other, over the same rest. */
export interface AllGradients {
  readonly rest: readonly Term[];
  readonly pairs: readonly (readonly [gradient: Term, hessian: Term])[];
}

export function pairOf({ pairs, rest }: AllGradients, output: number): GradientTerms {
  const [gradient, hessian] = pairs[output] as readonly [Term, Term];
  return { rest, gradient, hessian };
}

const ONE = constant(1);
const single = (term: Term) => call('float32', term);

/**
 * @param scores one for each output
 * @param restFrom the number of the first term of the rest
 * @see computeGradients
 */
export function gradientTerms(
  training: SummedTraining,
  objective: Objective,
  { objectiveAlpha }: GbtOptions,
  scores: readonly Term[],
  restFrom: number,
): AllGradients {
  const rest: Term[] = [];
  const name = (term: Term): Term => shared(restFrom + rest.push(term) - 1);
  const label = name(labelTerm(training));
  const weight = name(weightTerm(training, label));
  const weighted = (term: Term) => single(times(weight, term));
  const own = scores.map(name);
  const [score] = own as [Term];
  switch (objective) {
    case 'logistic': {
      const power = single(call('exp', single(times(constant(-1), single(score)))));
      const p = name(single(over(ONE, single(plus(ONE, power)))));
      const spread = single(times(p, single(minus(ONE, p))));
      return { rest, pairs: [[weighted(single(minus(p, label))), weighted(spread)]] };
    }
    case 'softmax': {
      const pairs = own.map((_, output): [Term, Term] => {
        const p = name({ kind: 'softmax', terms: own, index: output });
        const isOwn = { test: compare('=', label, constant(output)), value: ONE };
        const gradient = single(minus(p, choose([isOwn], constant(0))));
        const spread = single(times(single(times(constant(2), p)), single(minus(ONE, p))));
        return [weighted(gradient), weighted(spread)];
      });
      return { rest, pairs };
    }
    case 'huber': {
      const error = name(minus(score, label));
      const [low, high] = [constant(-objectiveAlpha), constant(objectiveAlpha)];
      const bounded = choose(
        [
          { test: compare('<', error, low), value: low },
          { test: compare('>=', error, high), value: high },
        ],
        error,
      );
      return { rest, pairs: [[weighted(bounded), weight]] };
    }
    case 'poisson': {
      const mean = name(call('exp', score));
      return { rest, pairs: [[weighted(minus(mean, label)), weighted(mean)]] };
    }
    default:
      return { rest, pairs: [[weighted(minus(score, label)), weight]] };
  }
}

/** The position of the class, or the number to predict. */
function labelTerm({ classes }: SummedTraining): Term {
  const label = columnOf('label');
  if (classes === undefined) return label;
  const choices = classes.atoms.flatMap((atom) => {
    if (typeof atom !== 'number' && typeof atom !== 'string') {
      throw new SumsRefused('labels that are no small numbers and no texts are read as rows');
    }
    const position = classes.classOf(atom);
    if (position === 0) return [];
    return [{ test: compare('=', label, constant(atom)), value: constant(position) }];
  });
  return choose(choices, constant(0));
}

function weightTerm({ classes, hasWeights, weightTotal }: SummedTraining, label: Term): Term {
  const own = columnOf('weight');
  if (classes === undefined) return hasWeights ? single(own) : ONE;
  const factors = classes.factors.map((factor) => factor * weightTotal);
  const at = (position: number) =>
    constant(hasWeights ? (factors[position] as number) : Math.fround(factors[position] as number));
  const factor = factors.every((each) => each === factors[0])
    ? at(0)
    : choose(
        Array.from(factors.subarray(1), (_, k) => ({
          test: compare('=', label, constant(k + 1)),
          value: at(k + 1),
        })),
        at(0),
      );
  return hasWeights ? single(times(own, factor)) : factor;
}
