// The web: fetching, addresses, text and links of pages.
import { Parser } from 'htmlparser2';
import type { CallContext, FunctionDeclaration } from '../../plan/function.ts';
import { atomType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { MINUS_INFINITY, NOT_A_DATE } from '../../value/timestamp.ts';
import { Embedding, Row, Scalar } from '../../value/value.ts';
import { requireAtom, requireText } from '../conversion.ts';
import { family, optional, parameter, STRING_TYPE } from '../declare.ts';
import {
  booleanOption,
  type OptionReaders,
  prepareOptions,
  readOptions,
  textOption,
} from '../option.ts';
import { compileSelector, type ElementMatcher, type HtmlElement } from './css-selector.ts';

const { scalar, value } = family('web');

/** The row that `fetchRow` makes. */
export const FETCHED_TYPE = {
  kind: 'row',
  members: [
    { name: 'content', type: atomType('blob') },
    { name: 'error', type: atomType('string') },
  ],
  open: false,
} as const;

const HTML = parameter('html', 'the text of an HTML page');

interface DomainOptions {
  removeSubdomain: boolean;
}

const DOMAIN_READERS: OptionReaders<DomainOptions> = {
  removeSubdomain: (option, options) => {
    options.removeSubdomain = booleanOption(option);
  },
};

interface LinkOptions {
  matches: ElementMatcher;
}

const LINK_READERS: OptionReaders<LinkOptions> = {
  selector: (option, options) => {
    options.matches = compileSelector(textOption(option));
  },
};

export const webFunctions: readonly FunctionDeclaration[] = [
  value({
    name: 'fetcher',
    summary:
      'What a URL gives: a row of content, a blob, and error, a text; one of them is null. Never fails.',
    parameters: [parameter('url', 'a URL of any scheme that files can be read from')],
    examples: [["fetcher('this is not a url')[content]", 'null']],
    result: FETCHED_TYPE,
    volatility: 'volatile',
    timestamps: 'own',
    reachesHost: true,
    evaluate: ([url], scope) => fetchRow(requireText(requireAtom(url)), scope),
  }),
  value({
    name: 'extract_domain',
    summary: 'The host of a URL in lower case, without user, port and path.',
    parameters: [
      parameter('url', 'a URL with a scheme'),
      optional('options', 'row of removeSubdomain (default false): keep the last two labels'),
    ],
    examples: [
      ["extract_domain('http://www.Example.com:8080/a')", '"www.example.com"'],
      ["extract_domain('http://data.example.com/', {removeSubdomain: true})", '"example.com"'],
    ],
    result: STRING_TYPE,
    timestamps: 'first',
    bind: ([, options]) => {
      const optionsOf = prepareOptions(options, (given) =>
        readOptions({ removeSubdomain: false }, DOMAIN_READERS, given),
      );
      return ([url, given]) => {
        const host = hostOf(requireText(requireAtom(url)));
        const shown = optionsOf(given).removeSubdomain ? lastTwoLabels(host) : host;
        return new Scalar(shown, MINUS_INFINITY);
      };
    },
  }),
  scalar({
    name: 'extract_text',
    summary: 'The text of an HTML page, entities decoded, tags and comments dropped.',
    parameters: [HTML],
    examples: [["extract_text('<p>Hello <b>big</b> world</p>')", '"Hello big world"']],
    result: STRING_TYPE,
    evaluate: (html = null) => textOfHtml(requireText(html)),
  }),
  value({
    name: 'extract_links',
    summary: 'The addresses that the links of an HTML page lead to, in document order.',
    parameters: [
      HTML,
      optional('options', "row of selector (default '*'): CSS selector that the links must match"),
    ],
    examples: [
      [
        `print_json(extract_links('<a href="one.html">1</a><p class="x"><a href="two.html">2</a>', {selector: '.x a'}))`,
        '"[\\"two.html\\"]"',
      ],
    ],
    result: { kind: 'embedding', shape: [-1], element: 'string' },
    timestamps: 'first',
    bind: ([, options]) => {
      const optionsOf = prepareOptions(options, (given) =>
        readOptions({ matches: () => true }, LINK_READERS, given),
      );
      return ([html, given]) => {
        const links = linksOfHtml(requireText(requireAtom(html)), optionsOf(given).matches);
        return new Embedding([links.length], links, MINUS_INFINITY);
      };
    },
  }),
];

/** Content and error of a URL; one of them is null. */
export function fetchRow(url: string, scope: CallContext): Row {
  const reply = scope.host?.fetchUrl(url) ?? { error: `nothing can be fetched here: ${url}` };
  const now = Date.now() / 1000;
  const [content, error] =
    'error' in reply
      ? [new Scalar(null, now), new Scalar(reply.error, now)]
      : [new Scalar(reply.content, reply.lastModified), new Scalar(null, NOT_A_DATE)];
  return new Row(['content', 'error'], [content, error]);
}

export function hostOf(url: string): string {
  const scheme = url.indexOf('://');
  if (scheme === -1) {
    throw failure('SQL_EXECUTION', `Attempt to create a URL without a scheme: '${url}'`);
  }
  const authority = url.slice(scheme + 3).split(/[/?#\\]/, 1)[0] as string;
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  const host = hostAndPort.startsWith('[')
    ? hostAndPort.slice(0, hostAndPort.indexOf(']') + 1)
    : hostAndPort.replace(/:.*$/s, '');
  return host.toLowerCase();
}

function lastTwoLabels(host: string): string {
  if (host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host)) return host;
  return host.split('.').slice(-2).join('.');
}

export function textOfHtml(html: string): string {
  let text = '';
  const parser = new Parser({
    ontext: (part) => {
      text += part;
    },
  });
  parser.end(html);
  return text;
}

export function linksOfHtml(html: string, matches: ElementMatcher): string[] {
  const links: string[] = [];
  const path: HtmlElement[] = [];
  const parser = new Parser({
    onopentag: (tag, attributes) => {
      const { id, class: classes = '' } = attributes;
      path.push({ tag, id, classes: new Set(classes.split(/\s+/)) });
      if (tag === 'a' && matches(path)) links.push(attributes.href ?? '');
    },
    onclosetag: () => {
      path.pop();
    },
  });
  parser.end(html);
  return links;
}
