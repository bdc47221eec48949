// Goal: what the manual says about the builtins is complete and true.
// Method: every declaration is checked for its documentation, every example is run by the engine.
import { describe, expect, test } from 'vitest';
import { BUILTIN_FUNCTIONS, builtinCatalog } from '../../../src/builtin/index.ts';
import type { CallHost } from '../../../src/plan/function.ts';
import { Scalar, type Value } from '../../../src/value/value.ts';
import { writeAtom } from '../../support/builtin-query.ts';
import { MemoryCatalog } from '../../support/memory-catalog.ts';

const EXPECTED_NAMES = `abs acos acosh amplitude asin asinh at atan atan2 atanh avg base64_decode
  base64_encode binomial_lb_80 binomial_ub_80 blob_length ceil clamp concat cos cosh count
  count_distinct date_part date_trunc distinct_timestamps e earliest earliest_timestamp exp
  extract_column extract_domain extract_links extract_text fetcher fft flatten flatten_path floor
  geo_distance hash horizontal_avg horizontal_count horizontal_earliest horizontal_latest
  horizontal_max horizontal_min horizontal_string_agg horizontal_sum imag implicit_cast impulse
  isfinite isinf isnan jaccard_index jseval latest latest_timestamp length levenshtein_distance
  likelihood_ratio ln log lower max mime_type min mod norm normalize now parse_exif parse_json
  parse_path parse_sparse_csv path_element path_length phase pi pivot pow power print_json quantize
  read_sensor real regex_match regex_replace regex_search remove_prefix remove_suffix replace_inf
  replace_nan replace_not_finite replace_null reshape round shape shifted_impulse sign sin sinh slice
  split_part sqrt ST_Contains_Point static_expression_info static_known_columns static_type stddev
  string_agg stringify_path sum tan tanh temporal_avg temporal_count temporal_earliest
  temporal_latest temporal_max temporal_min temporal_sum to_timestamp token_extract tokenize
  unflatten_path upper variance vector_diff vector_product vector_quotient vector_sum vertical_avg
  vertical_count vertical_earliest vertical_latest vertical_max vertical_min vertical_stddev
  vertical_string_agg vertical_sum vertical_variance __isconst`.split(/\s+/);

/** Stands for the service: nothing to fetch, and scripts of trusted examples. */
const host: CallHost = {
  fetchUrl: (url) => ({ error: `no such file: ${url}` }),
  callScript: (source, parameters, calls) =>
    calls.map((args) => {
      const run = new Function(...parameters, source) as (...values: unknown[]) => number;
      const atoms = args.map((arg: Value) => (arg instanceof Scalar ? arg.atom : null));
      return new Scalar(run(...atoms), 0);
    }),
  runScript: () => undefined,
};

test('the catalog has exactly the names of the dialect', () => {
  expect([...builtinCatalog.functionNames()].sort()).toEqual([...EXPECTED_NAMES].sort());
});

test('names are case sensitive', () => {
  expect(builtinCatalog.findFunction('LOWER')).toBeUndefined();
  expect(builtinCatalog.findFunction('toString')).toBeUndefined();
});

describe.each(BUILTIN_FUNCTIONS.map((declaration) => [declaration.name, declaration] as const))(
  '%s',
  (_name, declaration) => {
    test('says what it does, what it takes and what comes out', () => {
      expect(declaration.summary).toMatch(/^\S.{8,200}\.$/);
      expect(declaration.family).not.toBe('');
      expect(declaration.examples.length).toBeGreaterThan(0);
      for (const { name, description } of declaration.parameters) {
        expect(name).toMatch(/^\w+$/);
        expect(description.length).toBeGreaterThan(2);
      }
    });

    test.each(declaration.examples)('%s gives %s', (expression, result) => {
      const catalog = new MemoryCatalog(builtinCatalog);
      expect(JSON.parse(writeAtom(expression, catalog, host))).toEqual(JSON.parse(result));
    });
  },
);
