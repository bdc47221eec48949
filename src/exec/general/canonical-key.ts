// Kept beside its many users here; the keys themselves belong to values.
export { type CanonicalKey, keyOfAtom, keyOfTuple, keyOfValue } from '../../value/canonical-key.ts';
