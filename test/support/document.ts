// Documents as their readers use them: fenced blocks in order, each with the reply that is shown.

export interface Block {
  /** sh, ts, sql, js or whatever else the fence names; empty for none */
  readonly language: string;
  /** where the text belongs, for fences like `js file=hello/main.js` */
  readonly file: string | undefined;
  readonly text: string;
  /** of the fence, from 1 */
  readonly line: number;
  /** the block below, when it shows what this one answers */
  readonly reply: Reply | undefined;
}

export interface Reply {
  readonly language: string;
  readonly text: string;
}

/** All blocks but those that are replies of others. */
export function blocksOf(markdown: string): Block[] {
  const fences = [...markdown.matchAll(/^```(\w*)(?: file=(\S+))?\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = '', 2: file, 3: text = '', index }) => ({
      ...{ language, file, text, isReply: language === 'json' || language === 'text' },
      line: markdown.slice(0, index).split('\n').length,
    }),
  );
  return fences.flatMap(({ isReply, ...block }, index) => {
    if (isReply && fences[index - 1]?.isReply === false) return [];
    const next = fences[index + 1];
    return [{ ...block, reply: !isReply && next?.isReply === true ? next : undefined }];
  });
}

/** Whether a text is as shown; `…` stands for anything. */
export function isAsShown(shown: string, text: string): boolean {
  const parts = shown.trim().split('…').map(escapeRegExp);
  return new RegExp(`^${parts.join('[^]*?')}$`).test(text.trim());
}

/**
 * Whether a JSON value is as shown. The text `…` stands for any value, `…` in a text for any text,
 * and the member `"…"` for any further members.
 */
export function isJsonAsShown(shown: unknown, value: unknown): boolean {
  if (shown === '…') return true;
  if (typeof shown === 'string') return typeof value === 'string' && isAsShown(shown, value);
  if (typeof shown !== 'object' || shown === null) return Object.is(shown, value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(shown) !== Array.isArray(value)) return false;
  const { '…': rest, ...members } = shown as Record<string, unknown>;
  const keys = Object.keys(value);
  if (rest === undefined && keys.some((key) => !Object.hasOwn(members, key))) return false;
  return Object.entries(members).every(
    ([key, member]) =>
      Object.hasOwn(value, key) && isJsonAsShown(member, (value as Record<string, unknown>)[key]),
  );
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
