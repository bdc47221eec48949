// What a reply must be.
import { isDeepStrictEqual } from 'node:util';

const SHOWN_LENGTH_MAX = 300;

/** @returns the reply. @throws Error that tells what came instead */
export function expectStatus(status, reply) {
  if (reply.status === status) return reply;
  throw new Error(
    `status ${status} was expected; instead came ${reply.status} ${shown(reply.text)}`,
  );
}

/** @returns the value. @throws Error that tells what came instead */
export function expectJson(expected, reply, status = 200) {
  expectStatus(status, reply);
  const value = JSON.parse(reply.text);
  if (isDeepStrictEqual(value, expected)) return value;
  throw new Error(`${JSON.stringify(expected)} was expected; instead came ${shown(reply.text)}`);
}

/** @throws Error unless the JSON of the reply has these members, whatever else it has */
export function expectMembers(expected, reply, status = 200) {
  expectStatus(status, reply);
  const value = JSON.parse(reply.text);
  const differs = Object.entries(expected).find(([key, each]) => {
    return !isDeepStrictEqual(value[key], each);
  });
  if (differs === undefined) return value;
  const [key, each] = differs;
  throw new Error(
    `${key}: ${JSON.stringify(each)} was expected; instead came ${shown(reply.text)}`,
  );
}

export function expectTrue(condition, what) {
  if (!condition) throw new Error(what);
}

function shown(text) {
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}
