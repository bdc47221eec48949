// Fields of delimited text on their way out.

export interface CsvDialect {
  /** one ASCII character */
  readonly delimiter: string;
  /** one ASCII character */
  readonly quoteChar: string;
}

/** Quotes the fields that need it: those with a delimiter, a quote character or a line end. */
export class CsvFieldWriter {
  readonly #quoteChar: string;
  readonly #special: RegExp;

  constructor({ delimiter, quoteChar }: CsvDialect) {
    this.#quoteChar = quoteChar;
    this.#special = new RegExp(`[${escapeInClass(delimiter)}${escapeInClass(quoteChar)}\\r\\n]`);
  }

  text(text: string): string {
    if (!this.#special.test(text)) return text;
    const quote = this.#quoteChar;
    return `${quote}${text.replaceAll(quote, quote + quote)}${quote}`;
  }

  /** A field of bytes that need not be text. */
  bytes(bytes: Uint8Array): Uint8Array {
    // One character a byte, so that none is changed on the way.
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    return Buffer.from(this.text(text), 'latin1');
  }
}

function escapeInClass(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
