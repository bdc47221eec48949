// Goal: what the manual says about the builtins is complete and true.
// Method: every declaration is checked for its documentation, every example is run by the engine.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILTIN_FUNCTIONS, builtinNamespace } from '../../../src/builtin/index.ts';
import { Rowan } from '../../../src/index.ts';
import type { CallHost } from '../../../src/plan/function.ts';
import { writeAtom } from '../../support/builtin-query.ts';
import { MemoryNamespace } from '../../support/memory-namespace.ts';

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

/** The names of the standard forms, beside those of the dialect. */
const STANDARD_NAMES =
  `age any_value approx_count_distinct approx_quantile arg_max arg_min argmax argmin array_agg
  ascii base64 bit_and bit_or bit_xor bool_and bool_or cbrt ceiling char_length chr coalesce concat_ws
  contains corr count_if covar_pop covar_samp cume_dist current_date current_timestamp
  date_add date_diff date_sub datediff datesub day dayofweek dayofyear degrees dense_rank
  ends_with entropy epoch epoch_ms error extract factorial first first_value format
  from_base64 from_hex gcd generate_series geomean greatest hex histogram hour if iff ifnull
  ilike ilike_escape initcap instr is_distinct_from isodow jaro_winkler_similarity
  json_extract json_extract_string kurtosis lag last last_day last_value lcm lead least left
  like_escape list log10 log2 lpad ltrim make_date make_timestamp max_by md5 median min_by
  minute mode month nth_value ntile nullif octet_length percent_rank position printf product
  quantile_cont quantile_disc quarter radians random range rank regexp_extract regexp_matches
  regexp_replace regr_intercept regr_r2 regr_slope repeat replace reverse right row_number
  rpad rtrim second setseed sha256 skewness split starts_with stddev_pop stddev_samp strftime
  string_split strip_accents strpos strptime substr substring text_concat time_bucket
  to_base64 to_hex today translate trim trunc typeof unhex uuid var_pop var_samp week
  width_bucket year`.split(/\s+/);

/** Stands for the service: nothing to fetch. Scripts are left to a service and its sandbox. */
const host: CallHost = {
  fetchUrl: (url) => ({ error: `no such file: ${url}` }),
  callScript: () => {
    throw new Error('scripts run in the sandbox');
  },
  runScript: () => undefined,
};
const NEEDS_SANDBOX = /\bjseval\(/;

let rowan: Rowan;
beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(() => rowan?.close());

/** The JSON text of the value of an example. */
async function resultOf(expression: string): Promise<string> {
  if (!NEEDS_SANDBOX.test(expression)) {
    return writeAtom(expression, new MemoryNamespace(builtinNamespace), host);
  }
  const reply = await rowan.get('/v1/query', { q: `SELECT ${expression}`, format: 'atom' });
  expect(reply.status, reply.text).toBe(200);
  return reply.text;
}

test('the namespace has exactly the names of the dialect', () => {
  expect([...builtinNamespace.functionNames()].sort()).toEqual(
    [...EXPECTED_NAMES, ...STANDARD_NAMES].sort(),
  );
});

test('names are case sensitive', () => {
  expect(builtinNamespace.findFunction('LOWER')).toBeUndefined();
  expect(builtinNamespace.findFunction('toString')).toBeUndefined();
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

    test.each(declaration.examples)('%s gives %s', async (expression, result) => {
      expect(JSON.parse(await resultOf(expression))).toEqual(JSON.parse(result));
    });
  },
);
