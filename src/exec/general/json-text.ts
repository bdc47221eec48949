// JSON text of rows and embeddings: rows are objects, embeddings nested arrays.
import { atomToJsonText } from '../../value/json.ts';
import { type Embedding, Row, Scalar, type Value } from '../../value/value.ts';

export function valueToJsonText(value: Value): string {
  if (value instanceof Scalar) return atomToJsonText(value.atom);
  if (value instanceof Row) {
    const members = value.names.map(
      (name, index) => `${JSON.stringify(name)}:${valueToJsonText(value.values[index] as Value)}`,
    );
    return `{${members.join(',')}}`;
  }
  return embeddingToJsonText(value);
}

function embeddingToJsonText(embedding: Embedding): string {
  const elements = Array.from({ length: embedding.length }, (_, index) =>
    valueToJsonText(embedding.at(index)),
  );
  return `[${elements.join(',')}]`;
}
