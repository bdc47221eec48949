// JSON that keeps every digit: integers beyond 2^53 are BigInt in scripts.

// Programs may replace what JSON is made of; the scope keeps what it began with.
const { parse, stringify } = JSON;

/** JSON text of plain data. */
export function plainText(value: unknown): string {
  return stringify(value);
}

/** @throws SyntaxError */
export function parsePlain(text: string): unknown {
  return parse(text);
}

/** Strings and numbers as wholes, so that digits inside of them are left alone. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Marks a text that stands for an integer; no JSON text of the service holds this character. */
const MARK = '\uE0F1';

/** @throws SyntaxError */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return parse(text);
  let isMarked = false;
  const marked = text.replace(STRING_OR_NUMBER, (token) => {
    if (!/^-?\d{16,}$/.test(token) || Number.isSafeInteger(Number(token))) return token;
    isMarked = true;
    return `"${MARK}${token}"`;
  });
  if (!isMarked) return parse(text);
  return parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && /^\uE0F1-?\d+$/.test(value) ? BigInt(value.slice(1)) : value,
  );
}

/** As JSON.stringify; BigInt becomes an integer. @throws TypeError for a cycle */
export function stringifyJson(value: unknown, indent?: number): string | undefined {
  try {
    return stringify(value, undefined, indent);
  } catch (thrown) {
    // A BigInt, or else what is done again fails again.
    if (!(thrown instanceof TypeError)) throw thrown;
  }
  let hasBigInt = false;
  const text: string | undefined = stringify(
    value,
    (_key, member: unknown) => {
      if (typeof member !== 'bigint') return member;
      hasBigInt = true;
      return `${MARK}${member}`;
    },
    indent,
  );
  return hasBigInt ? text?.replace(/"\uE0F1(-?\d+)"/g, '$1') : text;
}
