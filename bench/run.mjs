// `npm run bench`: runs suites and prints medians and ratios. README.md describes suites.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.mjs';
import { installWhenStale } from '../scripts/lib.mjs';
import { printMeasure } from './report.mjs';

const USAGE = `npm run bench -- [suites] [options]

  --repeats <n>   rounds of each measure (5)
  --rows <n>      rows of its data, where a suite has rows (1000000)
  --json <file>   writes the results there too
  --strict        fails when a goal is missed
  --list          names the suites and what they measure
  --help          shows this`;

const { options, positionals } = readArguments();
if (options.help) {
  console.log(USAGE);
  process.exit();
}

const SUITES = new URL('suites/', import.meta.url);
const allNames = readdirSync(SUITES)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length))
  .sort();
const names = positionals.length > 0 ? positionals : allNames;
const unknown = names.find((name) => !allNames.includes(name));
if (unknown !== undefined) {
  console.error(`unknown suite "${unknown}", there are ${allNames.join(', ')}`);
  process.exit(1);
}
const repeatCount = readCount('repeats');
const rowCount = readCount('rows');

await installWhenStale();
const code = await build({ tolerateTypeErrors: true });
if (code !== 0) process.exit(code);

if (options.list) {
  for (const name of names) console.log(`${name.padEnd(20)} ${(await load(name)).description}`);
} else {
  process.exitCode = await runSuites();
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        repeats: { type: 'string', default: '5' },
        rows: { type: 'string', default: '1000000' },
        json: { type: 'string' },
        list: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return { options: values, positionals };
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(1);
  }
}

/** @returns the exit code: 1 when a goal is missed and goals are strict */
async function runSuites() {
  const machine = {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cpuCount: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
  console.log(
    `${machine.cpuCount} x ${machine.cpu}, ${machine.memoryGiB} GiB, Node ${machine.node}, ` +
      `medians of ${repeatCount}, ${rowCount} rows`,
  );
  const results = [];
  for (const name of names) {
    const suite = await load(name);
    console.log(`\n${name}: ${suite.description}`);
    const { measures, close } = await suite.prepare({ rowCount, repeatCount });
    try {
      for (const measure of measures) {
        const result = { suite: name, ...(await runMeasure(measure)) };
        printMeasure(result);
        results.push(result);
      }
    } finally {
      await close?.();
    }
  }
  if (options.json !== undefined) {
    mkdirSync(dirname(options.json), { recursive: true });
    const report = { machine, repeatCount, rowCount, results };
    writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  }
  return options.strict && results.some(({ isGoalMet }) => isGoalMet === false) ? 1 : 0;
}

/** The contenders take turns, so that whatever else the machine does hits all of them alike. */
async function runMeasure(measure) {
  const contenders = Object.entries(measure.contenders);
  const samples = new Map(contenders.map(([name]) => [name, []]));
  const answers = new Map();
  for (let round = 0; round <= repeatCount; round++) {
    for (const [name, run] of contenders) {
      const start = performance.now();
      const returned = await run();
      const elapsed = performance.now() - start;
      const isOwnValue = typeof returned === 'object' && returned !== null && 'value' in returned;
      answers.set(name, isOwnValue ? returned.answer : returned);
      if (round > 0) samples.get(name).push(isOwnValue ? returned.value : elapsed);
    }
  }
  const [[ours], ...peers] = contenders;
  for (const [name] of peers) {
    if (measure.agree === undefined || measure.agree(answers.get(ours), answers.get(name)))
      continue;
    throw new Error(`${measure.name}: ${ours} and ${name} do not agree`);
  }
  return summarise(measure, samples);
}

function summarise(measure, samples) {
  const medians = Object.fromEntries([...samples].map(([name, values]) => [name, median(values)]));
  const [ours, ...peers] = Object.values(medians);
  const compare = (peer) => (measure.largerIsBetter ? peer / ours : ours / peer);
  // Beside several peers the best of them counts.
  const ratio = peers.length > 0 ? Math.max(...peers.map(compare)) : undefined;
  const { name, unit = 'ms', goal } = measure;
  return {
    ...{ name, unit, medians, samples: Object.fromEntries(samples), ratio, goal },
    isGoalMet: goal === undefined || ratio === undefined ? undefined : ratio <= goal,
  };
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function load(name) {
  return import(new URL(`${name}.mjs`, SUITES).href);
}

function readCount(option) {
  const count = Number(options[option]);
  if (Number.isInteger(count) && count > 0) return count;
  console.error(`--${option} is to be a positive integer, got "${options[option]}"`);
  process.exit(1);
}
