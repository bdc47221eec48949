import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Type } from 'typebox';
import { collectBytes } from '../../file/byte-stream.ts';
import { atomType } from '../../plan/type/type.ts';
import { url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { effectiveTs, Row, Scalar } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { memberOf } from '../input-member.ts';
import { type Rule, readRules, type UserAgentRules } from './user-agent-rules.ts';

/** Tells browser, system and device from the header that they send. */
export const httpUseragent = functionType({
  name: 'http.useragent',
  summary: 'Tells browser, operating system and device from the User-Agent header that they send.',
  parameters: Type.Object({
    regexFile: Type.Optional(
      url({ description: "rules as uap-core's regexes.yaml has them; default: those shipped" }),
    ),
  }),
  binding: () => 'creation',
  async load({ regexFile }, { files }) {
    if (regexFile === undefined) {
      const { resolve } = createRequire(import.meta.url);
      const text = await readFile(resolve('uap-core/regexes.yaml'), 'utf8');
      return { data: { url: 'regexes.yaml', text }, spans: [] };
    }
    const address = regexFile.includes('://') ? regexFile : pathToFileURL(regexFile).href;
    const file = await files.open(address);
    const text = Buffer.from(await collectBytes(file.stream())).toString('utf8');
    readRules(text, address);
    return { data: { url: address, text }, spans: [] };
  },
  compile(_params, _scope, artifact) {
    const { url: address, text } = artifact as { readonly url: string; readonly text: string };
    let parser: UserAgentParser | undefined;
    const known = new Map<string, Facts>();
    const member = (name: string) => ({ name, type: atomType('string') });
    return {
      input: [{ kind: 'row', members: [member('ua')], open: false }],
      output: {
        kind: 'row',
        members: [
          { name: 'browser', type: rowOf('family', 'version') },
          { name: 'device', type: rowOf('brand', 'model') },
          { name: 'isSpider', type: atomType('integer') },
          { name: 'os', type: rowOf('family', 'version') },
        ],
        open: false,
      },
      takesAnyValue: false,
      isLight: true,
      apply(input) {
        const ua = memberOf(input, 'ua');
        const ts = effectiveTs(ua ?? input);
        if (!(ua instanceof Scalar) || typeof ua.atom !== 'string') return outputRow(NO_FACTS, ts);
        parser ??= new UserAgentParser(readRules(text, address), address);
        let facts = known.get(ua.atom);
        if (facts === undefined) {
          facts = parser.parse(ua.atom);
          if (known.size >= KNOWN_COUNT_MAX) known.clear();
          known.set(ua.atom, facts);
        }
        return outputRow(facts, ts);
      },
    };
  },
});

const KNOWN_COUNT_MAX = 10_000;

interface Facts {
  readonly browser: readonly [family: string | null, version: string | null];
  readonly os: readonly [family: string | null, version: string | null];
  readonly device: readonly [brand: string | null, model: string | null];
  readonly isSpider: number | null;
}

const NO_FACTS: Facts = {
  browser: [null, null],
  os: [null, null],
  device: [null, null],
  isSpider: null,
};

function rowOf(...names: readonly string[]) {
  const members = names.map((name) => ({ name, type: atomType('string') }));
  return { kind: 'row', members, open: false } as const;
}

function outputRow({ browser, os, device, isSpider }: Facts, ts: number): Row {
  const row = (names: readonly string[], atoms: readonly (string | null)[]) =>
    new Row(
      names,
      atoms.map((atom) => new Scalar(atom, ts)),
    );
  return new Row(
    ['browser', 'device', 'isSpider', 'os'],
    [
      row(['family', 'version'], browser),
      row(['brand', 'model'], device),
      new Scalar(isSpider, ts),
      row(['family', 'version'], os),
    ],
  );
}

interface Compiled {
  readonly rule: Rule;
  readonly regex: RegExp;
}

class UserAgentParser {
  readonly #browsers: readonly Compiled[];
  readonly #systems: readonly Compiled[];
  readonly #devices: readonly Compiled[];

  constructor(rules: UserAgentRules, url: string) {
    const compiled = (list: readonly Rule[]) => list.map((rule) => compile(rule, url));
    this.#browsers = compiled(rules.user_agent_parsers);
    this.#systems = compiled(rules.os_parsers);
    this.#devices = compiled(rules.device_parsers);
  }

  parse(ua: string): Facts {
    const device = this.#device(ua);
    return {
      browser: familyOf(ua, this.#browsers, 'family_replacement', (part) => `v${part}_replacement`),
      os: familyOf(ua, this.#systems, 'os_replacement', (part) => `os_v${part}_replacement`),
      device: [device.brand, device.model],
      isSpider: device.family === 'Spider' ? 1 : 0,
    };
  }

  #device(ua: string) {
    for (const { rule, regex } of this.#devices) {
      const match = regex.exec(ua);
      if (match === null) continue;
      const text = (name: string, fallback: string | undefined) =>
        replaced(rule.get(name), match) ?? fallback ?? null;
      return {
        family: text('device_replacement', match[1]),
        brand: text('brand_replacement', undefined),
        model: text('model_replacement', match[1]),
      };
    }
    return { family: 'Other', brand: null, model: null };
  }
}

function compile(rule: Rule, url: string): Compiled {
  const source = rule.get('regex') ?? '';
  try {
    return { rule, regex: new RegExp(source, rule.get('regex_flag') ?? '') };
  } catch (thrown) {
    throw failure('DATA_ERROR', `${url} has no regular expression: ${(thrown as Error).message}`);
  }
}

/** Family and version by the first rule that matches. */
function familyOf(
  ua: string,
  rules: readonly Compiled[],
  familyName: string,
  partName: (part: number) => string,
): [family: string, version: string] {
  for (const { rule, regex } of rules) {
    const match = regex.exec(ua);
    if (match === null) continue;
    const family = replaced(rule.get(familyName), match) ?? match[1] ?? 'Other';
    const parts = [1, 2, 3].map(
      (part) => replaced(rule.get(partName(part)), match) ?? match[part + 1] ?? '0',
    );
    return [family, parts.map((part) => (part === '' ? '0' : part)).join('.')];
  }
  return ['Other', '0.0.0'];
}

/** A replacement with the groups of the match in it; undefined when there is none. */
function replaced(replacement: string | undefined, match: RegExpExecArray): string | undefined {
  if (replacement === undefined) return undefined;
  return replacement.replaceAll(/\$(\d)/g, (_, group: string) => match[Number(group)] ?? '').trim();
}
