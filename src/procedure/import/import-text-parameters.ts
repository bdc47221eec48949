// The parameters of import.text, and what they mean together.
import { type Static, Type } from 'typebox';
import type { TextEncoding, TextFormat } from '../../format/csv/text-format.ts';
import { outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { maxLineBytes, runOnCreation } from '../parameter.ts';
import { fileUrls } from './file-list.ts';

const flag = (description: string, value: boolean) => Type.Boolean({ description, default: value });
const text = (description: string, value: string, more: object = {}) =>
  Type.String({ description, default: value, ...more });

export const importTextParameters = Type.Object({
  dataFileUrl: Type.Optional(
    Type.Unsafe<string | readonly string[]>({
      description: 'URL of the text, or an array of URLs; each may be a pattern',
      isNeeded: true,
      anyOf: [Type.String({ rowan: 'url' }), Type.Array(Type.String({ rowan: 'url' }))],
    }),
  ),
  outputDataset: Type.Optional(
    outputDataset({ description: 'dataset to make', defaultType: 'tabular' }),
  ),
  headers: Type.Array(Type.String(), {
    description: 'column names when the text has no header line',
    default: [],
  }),
  autoGenerateHeaders: flag('name columns by position; the first line is data', false),
  delimiter: text('byte between fields; empty: each line is one value', ','),
  quoteChar: text('byte around quoted fields; empty: no quoting', '"', { aliases: ['quotechar'] }),
  encoding: text('utf-8, ascii or latin1', 'utf-8'),
  replaceInvalidCharactersWith: text(
    'character in the place of badly encoded bytes; empty: they make a line bad',
    '',
  ),
  preHeaderOffset: Type.Integer({
    description: 'lines to skip before the header',
    default: 0,
    minimum: 0,
  }),
  offset: Type.Integer({ description: 'lines to skip after the header', default: 0, minimum: 0 }),
  limit: Type.Integer({
    description: 'lines to process after the offset; negative: all',
    default: -1,
  }),
  ignoreBadLines: flag('skip and count bad lines instead of failing', false),
  ignoreExtraColumns: flag('drop fields beyond the known columns', false),
  structuredColumnNames: flag('header names are paths: x.y is y inside x', false),
  allowMultiLines: flag('quoted fields may contain line ends', false),
  processExcelFormulas: flag('="text" is read as the quoted field text', true),
  inferTimestamps: flag(
    'columns in which every value is an ISO date or time become timestamps',
    false,
  ),
  skipLineRegex: Type.Optional(
    Type.String({ description: 'regular expression; lines that match it entirely are skipped' }),
  ),
  select: text('columns to write', '*'),
  where: text('lines to keep', 'true'),
  named: text('row name', 'lineNumber()'),
  timestamp: text('timestamp of all values of a row', 'fileTimestamp()'),
  rowNameColumn: Type.Optional(Type.Unknown({ description: 'removed; see named' })),
  rowNamePrefix: Type.Optional(Type.Unknown({ description: 'removed; see named' })),
  ...maxLineBytes,
  ...runOnCreation,
});

/** Parsed parameters of an import of text. */
export type ImportTextParams = Static<typeof importTextParameters>;

const ENCODINGS: Readonly<Record<string, TextEncoding>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'ascii',
  ascii: 'ascii',
  latin1: 'latin1',
  'iso8859-1': 'latin1',
};

/** What is wrong whatever the text looks like. @throws INVALID_PARAMETER, MISSING_PARAMETER */
export function checkImportText(params: ImportTextParams): void {
  fileUrls(params.dataFileUrl);
  for (const name of ['rowNameColumn', 'rowNamePrefix'] as const) {
    if (params[name] !== undefined) {
      throw invalid(`${name} has been removed; name rows with the expression named`);
    }
  }
  if (params.autoGenerateHeaders && params.headers.length > 0) {
    throw invalid('autoGenerateHeaders cannot be true if headers is defined.');
  }
  encodingOf(params.encoding);
  const { replaceInvalidCharactersWith: replacement } = params;
  if (replacement !== '' && [...replacement].length !== 1) {
    throw invalid('replaceInvalidCharactersWith string must have one character');
  }
  skipPattern(params.skipLineRegex);
}

/** Checked when the run starts. @throws INVALID_PARAMETER */
export function textFormatOf(params: ImportTextParams): TextFormat {
  const { delimiter, quoteChar: quote } = params;
  if (Buffer.byteLength(delimiter) > 1) {
    throw invalid(`Separator string must have one character: ${JSON.stringify(delimiter)}`);
  }
  if (Buffer.byteLength(quote) > 1) {
    throw invalid(`Quoter string must have one character: ${JSON.stringify(quote)}`);
  }
  if (delimiter === '' && quote !== '') {
    throw invalid('Separator string must not be empty if we have a quoter string');
  }
  if (delimiter === '' && params.headers.length > 1) {
    throw invalid('Custom CSV header must have exactly one element if there is no delimiter');
  }
  return {
    delimiter,
    quote,
    encoding: encodingOf(params.encoding),
    replacement: params.replaceInvalidCharactersWith,
    excelFormulas: params.processExcelFormulas,
    ignoreExtraColumns: params.ignoreExtraColumns,
  };
}

/** Matches lines that are skipped. */
export function skipPattern(source: string | undefined): RegExp | undefined {
  if (source === undefined || source === '') return undefined;
  try {
    return new RegExp(`^(?:${source})$`, 'su');
  } catch (error) {
    throw invalid(`skipLineRegex is no regular expression: ${(error as Error).message}`);
  }
}

function encodingOf(name: string): TextEncoding {
  const key = name.toLowerCase();
  const encoding = Object.hasOwn(ENCODINGS, key) ? ENCODINGS[key] : undefined;
  if (encoding !== undefined) return encoding;
  throw invalid(`Unknown encoding '${name}'; accepted are ${Object.keys(ENCODINGS).join(', ')}`);
}

function invalid(message: string): Error {
  return failure('INVALID_PARAMETER', message);
}
