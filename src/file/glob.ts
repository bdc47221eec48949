// Patterns over URLs: `*` (not `/`), `?`, `**` (any depth), `[a-z]`, `{a,b}`.

export function isPattern(text: string): boolean {
  return /[*?[{]/.test(text);
}

/** The part up to the last `/` before the first wildcard. */
export function patternPrefix(pattern: string): string {
  const wildcard = pattern.search(/[*?[{]/);
  return wildcard === -1 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', wildcard) + 1);
}

/** A regular expression that matches the whole texts which the pattern means. */
export function patternToRegExp(pattern: string): RegExp {
  return new RegExp(`^${translate(pattern)}$`, 'su');
}

function translate(pattern: string): string {
  let out = '';
  let depth = 0;
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] as string;
    if (character === '*') {
      if (pattern[i + 1] !== '*') out += '[^/]*';
      else if (pattern[i + 2] === '/') {
        // `**/` also stands for no directory at all.
        out += '(?:[^/]+/)*';
        i += 2;
      } else {
        out += '.*';
        i++;
      }
    } else if (character === '?') out += '[^/]';
    else if (character === '[') {
      const end = pattern.indexOf(']', i + 2);
      if (end === -1) out += '\\[';
      else {
        out += characterClass(pattern.slice(i + 1, end));
        i = end;
      }
    } else if (character === '{' && pattern.includes('}', i)) {
      depth++;
      out += '(?:';
    } else if (character === '}' && depth > 0) {
      depth--;
      out += ')';
    } else if (character === ',' && depth > 0) out += '|';
    else out += escapeRegExp(character);
  }
  return out;
}

function characterClass(body: string): string {
  const negated = body.startsWith('!') || body.startsWith('^');
  const members = (negated ? body.slice(1) : body).replace(/[\\\][^&~|]/g, '\\$&');
  return `(?!/)[${negated ? '^' : ''}${members}]`;
}

function escapeRegExp(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
