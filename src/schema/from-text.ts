// Values that may be written as texts, as in files where everything is one.
import { alternativeFor, type SchemaData } from './schema-data.ts';

/**
 * The value in the form that the schema describes, where its text says one: `"0.5"` is a number,
 * `1` and `"true"` are a truth value, `5` is a text. What says none is left as it is.
 */
export function fromText(schema: SchemaData, value: unknown): unknown {
  if (schema.anyOf !== undefined) {
    const read = schema.anyOf.map((option) => fromText(option, value));
    return read.find((each) => alternativeFor(schema.anyOf ?? [], each) !== undefined) ?? value;
  }
  if (typeof value === 'object' || value === undefined) return value;
  const text = String(value).trim();
  switch (schema.type) {
    case 'boolean':
      if (text === 'true' || text === '1') return true;
      return text === 'false' || text === '0' ? false : value;
    case 'integer':
    case 'number': {
      const number = text === '' || typeof value === 'boolean' ? Number.NaN : Number(text);
      return Number.isNaN(number) ? value : number;
    }
    case 'string':
      return text;
    default:
      return value;
  }
}
