// Blobs: their size, their kind, what pictures say about themselves.
import type { FunctionDeclaration } from '../../plan/function.ts';
import { OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { type Atom, atomTypeName } from '../../value/atom.ts';
import { Scalar, sortedRow, type Value } from '../../value/value.ts';
import { family, INTEGER_TYPE, parameter, STRING_TYPE } from '../declare.ts';
import { readExif } from './exif.ts';
import { describeContent } from './mime.ts';

const { scalar, value } = family('blob');

const MIME_MESSAGE =
  'Mime type extraction requires that an atomic value of type BLOB is passed to it';

export const blobFunctions: readonly FunctionDeclaration[] = [
  scalar({
    name: 'blob_length',
    summary: 'The number of bytes of a blob, or of a string in UTF-8.',
    parameters: [parameter('x', 'a blob or string')],
    examples: [["blob_length('é')", '2']],
    result: INTEGER_TYPE,
    evaluate: (x = null) => byteLength(x),
  }),
  scalar({
    name: 'mime_type',
    summary: 'What the bytes of a blob are, in the words of the tool `file`.',
    parameters: [parameter('blob', 'a blob')],
    examples: [["mime_type(CAST('{}' AS blob))", '"JSON text data"']],
    result: STRING_TYPE,
    nulls: 'handle',
    structuredMessage: () => MIME_MESSAGE,
    evaluate: (blob = null) => {
      if (blob instanceof Uint8Array) return describeContent(blob);
      throw failure('SQL_EXECUTION', MIME_MESSAGE);
    },
  }),
  value({
    name: 'parse_exif',
    summary: 'The EXIF fields of a JPEG file, a column each.',
    parameters: [parameter('blob', 'a blob with the content of a JPEG file')],
    examples: [["extract_column('cameraMake', parse_exif(base64_decode('/9j/2Q==')))", 'null']],
    result: OPEN_ROW_TYPE,
    nulls: 'handle',
    timestamps: 'first',
    evaluate: ([blob]) => exifRow(blob as Value),
  }),
];

function byteLength(x: Atom): number {
  if (x instanceof Uint8Array) return x.length;
  if (typeof x === 'string') return new TextEncoder().encode(x).length;
  throw failure('SQL_EXECUTION', `value of type ${atomTypeName(x)} is not a blob`);
}

function exifRow(blob: Value): Value {
  if (!(blob instanceof Scalar && blob.atom instanceof Uint8Array)) {
    const message = 'EXIF extraction requires that an atomic value of type BLOB is passed to it';
    throw failure('SQL_EXECUTION', message);
  }
  const { ts } = blob;
  const fields = readExif(blob.atom);
  const values = Array.from(fields.values(), (field) => new Scalar(field, ts));
  return sortedRow([...fields.keys()], values);
}
