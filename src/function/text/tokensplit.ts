import { Type } from 'typebox';
import { queryTextOf } from '../../dataset/parameter.ts';
import { queryRows, readQuery } from '../../exec/query.ts';
import { atomType } from '../../plan/type/type.ts';
import { inputQuery } from '../../schema/declare.ts';
import { atomText } from '../../value/text.ts';
import { effectiveTs, flatten, Row, Scalar } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { memberOf } from '../input-member.ts';

/** Sets known tokens apart from the text around them. */
export const tokensplit = functionType({
  name: 'tokensplit',
  summary: 'Sets known tokens apart from the text around them.',
  parameters: Type.Object({
    tokens: inputQuery({ description: 'query of which all values are the tokens' }),
    splitChars: Type.String({
      description: 'characters beside which a token is set apart already',
      default: ' ,',
      aliases: ['splitchars'],
    }),
    splitCharToInsert: Type.String({
      description: 'what is inserted between a token and the text beside it',
      default: ' ',
      aliases: ['splitcharToInsert'],
    }),
  }),
  binding: () => 'use',
  check: ({ tokens }) => {
    readQuery(queryTextOf(tokens));
  },
  compile({ tokens, splitChars, splitCharToInsert }, { namespace, callScope, executor }) {
    const found = new Set<string>();
    const options = { namespace, scope: callScope, executor };
    for (const { row } of queryRows(queryTextOf(tokens), options)) {
      flatten(row, [], (_path, atom) => {
        const text = atom === null ? '' : atomText(atom);
        if (text !== '') found.add(text);
      });
    }
    const split = splitter(found, new Set(splitChars), splitCharToInsert);
    const text = atomType('string');
    return {
      input: [{ kind: 'row', members: [{ name: 'text', type: text }], open: false }],
      output: { kind: 'row', members: [{ name: 'output', type: text }], open: false },
      takesAnyValue: false,
      isLight: true,
      apply(input) {
        const given = memberOf(input, 'text');
        if (!(given instanceof Scalar) || given.atom === null) {
          return new Row(['output'], [new Scalar(null, effectiveTs(given ?? input))]);
        }
        return new Row(['output'], [new Scalar(split(atomText(given.atom)), given.ts)]);
      },
    };
  },
});

function splitter(
  tokens: ReadonlySet<string>,
  splitChars: ReadonlySet<string>,
  inserted: string,
): (text: string) => string {
  const byFirst = new Map<string, string[]>();
  for (const token of [...tokens].sort((a, b) => b.length - a.length)) {
    const first = token[0] as string;
    const list = byFirst.get(first);
    if (list === undefined) byFirst.set(first, [token]);
    else list.push(token);
  }
  return (text) => {
    let out = '';
    // Where the text that was not given out yet begins, and whether something was inserted there.
    let start = 0;
    let isApart = true;
    for (let i = 0; i < text.length; ) {
      const token = byFirst.get(text[i] as string)?.find((one) => text.startsWith(one, i));
      if (token === undefined) {
        i++;
        continue;
      }
      out += text.slice(start, i);
      if (i > start) isApart = splitChars.has(text[i - 1] as string);
      if (!isApart) out += inserted;
      out += token;
      i += token.length;
      start = i;
      isApart = i === text.length || splitChars.has(text[i] as string);
      if (!isApart) {
        out += inserted;
        isApart = true;
      } else isApart = i === text.length;
    }
    return out + text.slice(start);
  };
}
