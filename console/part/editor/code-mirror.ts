// The editor itself. This module and the packages that it needs are loaded when one is shown.
import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { PLSQL, SQLDialect, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintKeymap } from '@codemirror/lint';
import { Annotation, EditorState, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { diagnose } from './diagnosis.ts';
import { type Completion, completionsAt, type FunctionInfo, type Language } from './language.ts';

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly label: string;
  readonly nonce: string;
  readonly language: Language;
  readonly hint: string;
  readonly isCompact: boolean;
  onChange(text: string): void;
  /** @param from of the selection; equal to `to` when nothing is selected */
  onRun(from: number, to: number): void;
  onCancel(): void;
}

export interface Editor {
  readonly text: string;
  readonly selection: { readonly from: number; readonly to: number };
  setText(text: string): void;
  focus(): void;
  destroy(): void;
}

/** Marks changes that come from outside, which are not told back. */
const fromOutside = Annotation.define<boolean>();

const DIAGNOSIS_DELAY_MS = 300;

export function createEditor(options: EditorOptions): Editor {
  const { parent, text, label, nonce, language, hint, isCompact } = options;
  const run = (view: EditorView) => {
    closeCompletion(view);
    const { from, to } = view.state.selection.main;
    options.onRun(from, to);
    return true;
  };
  const cancel = () => {
    options.onCancel();
    return false;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        ...(isCompact ? [] : [lineNumbers(), highlightActiveLine()]),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        EditorView.lineWrapping,
        replaceSelectedText,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        placeholder(hint),
        sql({ dialect: dialectOf(language), upperCaseKeywords: true }),
        syntaxHighlighting(HIGHLIGHT),
        autocompletion({ override: [complete], icons: false, activateOnTypingDelay: 60 }),
        linter((current) => diagnostics(current), { delay: DIAGNOSIS_DELAY_MS }),
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run },
            { key: 'Escape', run: cancel },
          ]),
        ),
        keymap.of([
          { key: 'Tab', run: acceptCompletion },
          indentWithTab,
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...lintKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          const isOwn = update.transactions.every(
            (change) => change.annotation(fromOutside) !== true,
          );
          if (update.docChanged && isOwn) options.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    get selection() {
      const { from, to } = view.state.selection.main;
      return { from, to };
    },
    setText(next) {
      const { doc } = view.state;
      if (doc.toString() === next) return;
      view.dispatch({
        changes: { from: 0, to: doc.length, insert: next },
        annotations: fromOutside.of(true),
      });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/**
 * Browsers that type over coloured text keep its look in a style attribute, which the content policy
 * refuses; the editor replaces selected text by itself instead.
 */
const replaceSelectedText = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const isTyped = event.inputType === 'insertText' && event.data !== null && !view.composing;
    if (!isTyped || view.state.selection.main.empty) return false;
    event.preventDefault();
    const change = view.state.replaceSelection(event.data as string);
    view.dispatch(change, { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

function dialectOf({ keywords, types, functions }: Language): SQLDialect {
  return SQLDialect.define({
    ...PLSQL.spec,
    keywords: keywords.join(' ').toLowerCase(),
    types: types.join(' '),
    builtin: functions.map(({ name }) => name.toLowerCase()).join(' '),
    doubleQuotedStrings: false,
    identifierQuotes: '"',
    operatorChars: '*+-%<>!=&|^/~?',
    specialVar: '$',
    hashComments: false,
    slashComments: false,
  });
}

/** Colours come from the style sheet, so themes change without the editor. */
const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.keyword, class: 'code-word' },
  { tag: tags.string, class: 'code-text' },
  { tag: [tags.number, tags.bool, tags.null], class: 'code-number' },
  { tag: [tags.lineComment, tags.blockComment], class: 'code-comment' },
  { tag: [tags.standard(tags.name), tags.typeName], class: 'code-function' },
]);

const BOOSTS = { column: 4, dataset: 2, function: 1, keyword: 0 };

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[\w$]+$|"[^"]*$/);
  const after = context.matchBefore(/(?:\b(?:from|join)\s+|\.)$/i);
  if (word === null && after === null && !context.explicit) return null;
  if (word !== null && /^\d/.test(word.text)) return null;
  const from = word?.from ?? context.pos;
  const isQuoted = word?.text.startsWith('"') === true;
  const items = await completionsAt(context.state.doc.toString(), from);
  if (context.aborted) return null;
  return {
    from,
    validFor: isQuoted ? /^"[^"]*$/ : /^[\w$]*$/,
    options: items.map((item) => ({
      label: isQuoted ? `"${item.label}"` : item.label,
      displayLabel: item.label,
      apply: item.insert,
      type: item.type,
      boost: BOOSTS[item.type],
      ...(item.detail === undefined ? {} : { detail: item.detail }),
      ...(item.about === undefined ? {} : { info: () => explain(item.about as FunctionInfo) }),
    })),
  } satisfies CompletionResult & { options: readonly { type: Completion['type'] }[] };
}

/** Signature, meaning, an example; all of it as text nodes. */
function explain({ signature, summary, examples, kind }: FunctionInfo): HTMLElement {
  const box = document.createElement('div');
  box.className = 'function-info';
  const line = (tag: string, text: string) => {
    const element = document.createElement(tag);
    element.textContent = text;
    box.append(element);
  };
  line('code', signature);
  line('p', `${summary}${kind === 'aggregate' ? ' Aggregate.' : ''}`);
  const [example] = examples;
  if (example !== undefined) line('code', `${example[0]} → ${example[1]}`);
  return box;
}

async function diagnostics(view: EditorView): Promise<Diagnostic[]> {
  const text = view.state.doc.toString();
  if (text.trim() === '') return [];
  const found = await diagnose(text).catch(() => []);
  return found.map(({ from, to, severity, message, fix }) => ({
    from,
    to: Math.min(to, text.length),
    severity,
    message,
    ...(fix === undefined
      ? {}
      : {
          actions: [
            {
              name: `Change to ${fix}`,
              apply: (target: EditorView, start: number, end: number) =>
                target.dispatch({ changes: { from: start, to: end, insert: fix } }),
            },
          ],
        }),
  }));
}
