// What bytes look like they are, in the words of the `file` tool.

interface Signature {
  readonly description: string;
  readonly bytes: readonly number[];
}

const SIGNATURES: readonly Signature[] = [
  { description: 'JPEG image data', bytes: [0xff, 0xd8, 0xff] },
  { description: 'PNG image data', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { description: 'GIF image data', bytes: [0x47, 0x49, 0x46, 0x38] },
  { description: 'PDF document', bytes: [0x25, 0x50, 0x44, 0x46, 0x2d] },
  { description: 'Zip archive data', bytes: [0x50, 0x4b, 0x03, 0x04] },
  { description: 'Zip archive data', bytes: [0x50, 0x4b, 0x05, 0x06] },
  { description: 'gzip compressed data', bytes: [0x1f, 0x8b] },
];

/** Longer texts are judged by their beginning. */
const TEXT_SAMPLE_SIZE = 1 << 20;

export function describeContent(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'empty';
  const signature = SIGNATURES.find((candidate) =>
    candidate.bytes.every((byte, index) => bytes[index] === byte),
  );
  if (signature !== undefined) return signature.description;
  const text = decodeText(bytes);
  return text === undefined ? 'data' : describeText(text);
}

function describeText(text: string): string {
  const start = text.replace(/^\ufeff/, '').trimStart();
  const xml = /^<\?xml\s[^>]*version\s*=\s*["']([\d.]+)["']/.exec(start);
  if (xml !== null) return `XML ${xml[1]} document, ${encodingOf(text)}`;
  if (/^<(?:!doctype\s+html|html|head|body)\b/i.test(start)) {
    return `HTML document, ${encodingOf(text)}`;
  }
  return isJsonContainer(start) ? 'JSON text data' : encodingOf(text);
}

function encodingOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
  return /^[\u0000-\u007f]*$/.test(text) ? 'ASCII text' : 'Unicode text, UTF-8 text';
}

function isJsonContainer(text: string): boolean {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Undefined when the bytes are not UTF-8, or hold control characters that no text has. */
function decodeText(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, TEXT_SAMPLE_SIZE);
  try {
    // A sample may end inside a character; `stream` keeps such an end back.
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const text = decoder.decode(sample, { stream: sample.length < bytes.length });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are looked for
    return /[\u0000-\u0006\u000e-\u001a\u001c-\u001f\u007f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
