// The failure that a bad line ends an import with.
import { failure, type RowanError } from '../../util/error.ts';
import type { LineFault } from './text-format.ts';

/** Longer lines are cut in messages. */
const LINE_LENGTH_MAX = 10_000;

/** DATA_ERROR for a line that is not accepted, with its number and the column. */
export function lineFailure(
  fault: LineFault,
  line: string,
  lineNumber: number,
  dataFileUrl: string,
): RowanError {
  const place = { lineNumber, columnNumber: fault.column, line: shown(line) };
  return failure(
    'DATA_ERROR',
    `Error parsing CSV row: ${fault.reason} (line ${lineNumber}, column ${fault.column} of ${dataFileUrl})`,
    { ...place, dataFileUrl, context: { error: fault.reason, details: place } },
  );
}

/** A line that is longer than a line may be. It ends an import whatever else is ignored. */
export function lineTooLong(
  lineNumber: number,
  dataFileUrl: string,
  lineBytesMax: number,
): RowanError {
  return failure(
    'DATA_ERROR',
    `line ${lineNumber} of ${dataFileUrl} is longer than ${lineBytesMax} bytes, the limit that maxLineBytes sets`,
    { lineNumber, dataFileUrl, maxLineBytes: lineBytesMax },
  );
}

/** Text of which every character takes two bytes or more. */
export function wideText(dataFileUrl: string): RowanError {
  return failure(
    'DATA_ERROR',
    `${dataFileUrl} is text in UTF-16; convert it to UTF-8, as with iconv -f utf-16 -t utf-8`,
    { dataFileUrl },
  );
}

/** The line as text; bytes that are no UTF-8 show as replacement characters. */
function shown(line: string): string {
  const text = Buffer.from(line, 'latin1').toString('utf8');
  return text.length <= LINE_LENGTH_MAX ? text : `${text.slice(0, LINE_LENGTH_MAX)}…`;
}
