import { Type } from 'typebox';
import { OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { EMPTY_ROW, Row } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { memberOf } from '../input-member.ts';
import { STOP_WORDS } from './stop-words.ts';

const WORDS_TYPE = {
  kind: 'row',
  members: [{ name: 'words', type: OPEN_ROW_TYPE }],
  open: false,
} as const;

/** Leaves out English words that say little. */
export const filterStopwords = functionType({
  name: 'filter_stopwords',
  summary: 'A row of words without those English ones that say little of a text.',
  parameters: Type.Object({}),
  binding: () => 'creation',
  compile: () => ({
    input: [WORDS_TYPE],
    output: WORDS_TYPE,
    takesAnyValue: false,
    isLight: true,
    apply(input) {
      const words = memberOf(input, 'words');
      if (!(words instanceof Row)) return new Row(['words'], [EMPTY_ROW]);
      const kept = words.names.map((name) => !STOP_WORDS.has(name.toLowerCase()));
      const filtered = new Row(
        words.names.filter((_, index) => kept[index]),
        words.values.filter((_, index) => kept[index]),
      );
      return new Row(['words'], [filtered]);
    },
  }),
});
