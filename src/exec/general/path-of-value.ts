// Values as paths: row names, column names, CAST AS path.
import { atomText } from '../../value/text.ts';
import { Path } from '../../value/path.ts';
import { Embedding, Row, Scalar, type Value } from '../../value/value.ts';

/**
 * A path is itself, another atom one element with its text, a vector of atoms one element a value.
 * Undefined: null, rows, and embeddings that are not vectors of non-null atoms.
 */
export function pathOfValue(value: Value): Path | undefined {
  if (value instanceof Row) return undefined;
  if (value instanceof Embedding) return pathOfEmbedding(value);
  return value instanceof Scalar && value.atom !== null ? pathOfAtom(value.atom) : undefined;
}

function pathOfAtom(atom: NonNullable<Scalar['atom']>): Path {
  return atom instanceof Path ? atom : new Path([atomText(atom)]);
}

function pathOfEmbedding(embedding: Embedding): Path | undefined {
  if (embedding.shape.length !== 1) return undefined;
  const elements: string[] = [];
  for (const atom of embedding.atoms) {
    if (atom === null) return undefined;
    elements.push(atomText(atom));
  }
  return new Path(elements);
}
