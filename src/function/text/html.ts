// Pages as documents: their links, and all of their structure.
import { Parser } from 'htmlparser2';
import { Type } from 'typebox';
import { compileSelector } from '../../builtin/text/css-selector.ts';
import { linksOfHtml } from '../../builtin/text/web.ts';
import { ANY_TYPE, OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { atomText } from '../../value/text.ts';
import { Embedding, effectiveTs, Row, Scalar, sortedRow, type Value } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { memberOf } from '../input-member.ts';

/** Elements nested deeper than this become children of the last one within. */
const DEPTH_MAX = 256;

/** The addresses that the links of a page lead to. */
export const htmlExtractLinks = functionType({
  name: 'html.extractLinks',
  summary: 'The addresses that the links of an HTML page lead to, in document order.',
  parameters: Type.Object({}),
  binding: () => 'creation',
  compile() {
    return {
      input: [
        {
          kind: 'row',
          members: [
            { name: 'text', type: ANY_TYPE },
            { name: 'selector', type: ANY_TYPE },
          ],
          open: false,
        },
      ],
      output: {
        kind: 'row',
        members: [{ name: 'links', type: { kind: 'embedding', shape: [-1], element: 'string' } }],
        open: false,
      },
      takesAnyValue: false,
      isLight: true,
      apply(input) {
        const page = memberOf(input, 'text');
        const ts = effectiveTs(page ?? input);
        const html = pageText(page);
        if (html === null) return new Row(['links'], [new Scalar(null, ts)]);
        const selector = memberOf(input, 'selector');
        const given = selector instanceof Scalar ? selector.atom : null;
        const matches = given === null ? () => true : compileSelector(atomText(given));
        const links = linksOfHtml(html, matches);
        return new Row(['links'], [new Embedding([links.length], links, ts)]);
      },
    };
  },
});

/** A page as a tree of elements. */
export const htmlParse = functionType({
  name: 'html.parse',
  summary:
    'An HTML page as a structured document: of each element tag, attributes, children and text.',
  parameters: Type.Object({}),
  binding: () => 'creation',
  compile() {
    return {
      input: [{ kind: 'row', members: [{ name: 'text', type: ANY_TYPE }], open: false }],
      output: { kind: 'row', members: [{ name: 'output', type: OPEN_ROW_TYPE }], open: false },
      takesAnyValue: false,
      isLight: true,
      apply(input) {
        const page = memberOf(input, 'text');
        const ts = effectiveTs(page ?? input);
        const html = pageText(page);
        const output = html === null ? new Scalar(null, ts) : documentOf(html, ts);
        return new Row(['output'], [output]);
      },
    };
  },
});

function pageText(page: Value | undefined): string | null {
  if (!(page instanceof Scalar) || page.atom === null) return null;
  const { atom } = page;
  return atom instanceof Uint8Array ? Buffer.from(atom).toString('utf8') : atomText(atom);
}

interface HtmlNode {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: HtmlNode[];
  text: string;
}

/** The document itself is the element `#document`. */
function documentOf(html: string, ts: number): Row {
  const root: HtmlNode = { tag: '#document', attributes: {}, children: [], text: '' };
  const open = [root];
  let beyond = 0;
  const parser = new Parser({
    onopentag(tag, attributes) {
      const node: HtmlNode = { tag, attributes, children: [], text: '' };
      (open.at(-1) as HtmlNode).children.push(node);
      if (open.length <= DEPTH_MAX) open.push(node);
      else beyond++;
    },
    ontext(part) {
      (open.at(-1) as HtmlNode).text += part;
    },
    onclosetag() {
      if (beyond > 0) beyond--;
      else open.pop();
    },
  });
  parser.end(html);
  return rowOf(root, ts);
}

function rowOf({ tag, attributes, children, text }: HtmlNode, ts: number): Row {
  const names = ['tag', 'text'];
  const values: Value[] = [new Scalar(tag, ts), new Scalar(text, ts)];
  const given = Object.entries(attributes);
  if (given.length > 0) {
    names.push('attributes');
    values.push(
      sortedRow(
        given.map(([name]) => name),
        given.map(([, value]) => new Scalar(value, ts)),
      ),
    );
  }
  if (children.length > 0) {
    names.push('children');
    values.push(
      sortedRow(
        children.map((_, index) => String(index)),
        children.map((child) => rowOf(child, ts)),
      ),
    );
  }
  return sortedRow(names, values);
}
