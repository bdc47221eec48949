// Names as elements of the paths of requests. Browsers and most clients fold `.` and `..` before they
// send a path, percent-encoded or not; these two names are written behind a semicolon, which
// encodeURIComponent escapes in every other name.

/** A name as one element of a path, for any client. */
export function encodePathElement(name: string): string {
  return name === '.' || name === '..' ? `;${name}` : encodeURIComponent(name);
}

/** The name that an element stands for. @throws URIError for escapes that are no UTF-8 */
export function decodePathElement(element: string): string {
  if (element === ';.' || element === ';..') return element.slice(1);
  return element.includes('%') ? decodeURIComponent(element) : element;
}
