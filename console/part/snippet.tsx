// A call of the service as programs write it; each runs as it is.
import { useState } from 'preact/hooks';
import { base } from '../state/api.ts';
import { key } from '../state/key.ts';
import { Button, Tabs } from './basic.tsx';
import { Code } from './code.tsx';
import { copyText } from './dialog.tsx';

export interface ShownCall {
  readonly verb: string;
  readonly path: string;
  /** JSON text */
  readonly body?: string | undefined;
}

const LANGUAGES = [
  { id: 'curl', title: 'curl' },
  { id: 'typescript', title: 'TypeScript' },
  { id: 'python', title: 'Python' },
] as const;

export function Snippets({ call }: { readonly call: ShownCall }) {
  const [language, setLanguage] = useState<string>('curl');
  const text = snippet(language, call);
  return (
    <div class="snippets">
      <div class="row spread">
        <Tabs items={LANGUAGES} current={language} onChange={setLanguage} label="Language" />
        <Button icon="copy" kind="bare" label="Copy" onClick={() => copyText(text, 'Snippet')} />
      </div>
      <Code text={text} language={language} />
    </div>
  );
}

export function snippet(language: string, call: ShownCall): string {
  if (language === 'typescript') return typescript(call);
  return language === 'python' ? python(call) : curl(call);
}

/** The key itself is never shown: it comes from the environment. */
function curl({ verb, path, body }: ShownCall): string {
  const lines = [`curl -X ${verb} ${shellQuote(base + path)}`];
  if (key.value !== undefined) lines.push(`-H "Authorization: Bearer $ROWAN_KEY"`);
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d ${shellQuote(body)}`);
  }
  return lines.join(' \\\n  ');
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function typescript({ verb, path, body }: ShownCall): string {
  const options = key.value === undefined ? '' : ', { apiKey: process.env.ROWAN_KEY }';
  const given = body === undefined ? '' : `, {\n  body: ${indented(body)},\n}`;
  return `import { connect } from 'rowan-db/client';

const rowan = connect('${base}'${options});
const reply = await rowan.perform('${verb}', ${JSON.stringify(path)}${given});
console.log(reply.text);`;
}

function indented(body: string): string {
  return body.split('\n').join('\n  ');
}

function python({ verb, path, body }: ShownCall): string {
  const headers = [
    ...(body === undefined ? [] : [`"Content-Type": "application/json"`]),
    ...(key.value === undefined ? [] : [`"Authorization": "Bearer " + os.environ["ROWAN_KEY"]`]),
  ];
  const data = body === undefined ? '' : `\n    data=json.dumps(${pythonLiteral(body)}).encode(),`;
  const imports = [
    ...(body === undefined ? [] : ['json']),
    ...(key.value === undefined ? [] : ['os']),
    'urllib.request',
  ];
  return `import ${imports.join(', ')}

request = urllib.request.Request(
    ${JSON.stringify(base + path)},
    method="${verb}",${data}
    headers={${headers.join(', ')}},
)
with urllib.request.urlopen(request) as reply:
    print(reply.read().decode())`;
}

/** JSON text as a Python expression: only three words differ. */
function pythonLiteral(body: string): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
  return indented(
    body.replace(/"(?:[^"\\]|\\.)*"|\b(true|false|null)\b/g, (token, word?: string) =>
      word === undefined ? token : (words[word] as string),
    ),
  );
}
