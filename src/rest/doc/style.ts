// The one style sheet of the documentation.

export const STYLE = `
:root { --text: #1d2521; --dim: #59635e; --line: #dfe4e0; --ground: #fff; --side: #f5f7f5; --link: #1c6b4f; --code: #f0f3f1; --word: #1c6b4f; --literal: #8a4b12; --key: #24508f; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dfe6e1; --dim: #98a59e; --line: #2a332e; --ground: #131816; --side: #181e1b; --link: #62c39b; --code: #1c2320; --word: #62c39b; --literal: #e0a872; --key: #8fb8f0; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--ground); font: 16px/1.6 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
.frame { display: grid; grid-template-columns: 17rem minmax(0, 1fr); min-height: 100vh; }
nav { background: var(--side); border-right: 1px solid var(--line); padding: 1.5rem 1.25rem; font-size: .9rem; overflow-y: auto; position: sticky; top: 0; height: 100vh; }
nav h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .06em; color: var(--dim); margin: 1.5rem 0 .4rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .1rem 0; color: var(--text); }
nav a[aria-current] { color: var(--link); font-weight: 600; }
#search { width: 100%; margin-top: .8rem; padding: .3rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--ground); color: var(--text); font: inherit; }
#found li { padding: .15rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
nav .brand { font-size: 1.2rem; font-weight: 700; }
main { padding: 2rem clamp(1rem, 5vw, 4rem) 4rem; max-width: 60rem; }
h1 { line-height: 1.2; margin-top: 0; }
h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .88em; background: var(--code); border-radius: 4px; }
code { padding: .1em .3em; }
main img { max-width: 100%; border: 1px solid var(--line); border-radius: 8px; }
pre { padding: .9rem 1rem; overflow-x: auto; }
pre code { padding: 0; background: none; }
pre .word { color: var(--word); font-weight: 600; }
pre .text, pre .number { color: var(--literal); }
pre .key { color: var(--key); }
pre .comment { color: var(--dim); }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .93rem; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top; }
th { color: var(--dim); font-weight: 600; }
.dim { color: var(--dim); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; padding: 0; list-style: none; }
.cards li { border: 1px solid var(--line); border-radius: 8px; padding: 1rem; }
.error { color: #c0392b; }
#menu, label[for=menu] { display: none; }
@media (max-width: 50rem) {
  .frame { grid-template-columns: minmax(0, 1fr); align-content: start; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: .8rem 1rem; }
  label[for=menu] { display: inline-block; float: right; border: 1px solid var(--line); border-radius: 6px; padding: .15rem .7rem; cursor: pointer; }
  #menu { display: block; position: absolute; opacity: 0; }
  #menu:focus-visible + label { outline: 2px solid var(--link); }
  .groups { display: none; }
  #menu:checked ~ .groups { display: block; }
  main { padding: 1.25rem 1rem 3rem; }
  h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
  .brand { display: inline-block; margin: 0; }
  main table { display: block; overflow-x: auto; }
  .fields thead { display: none; }
  .fields tbody, .fields tr, .fields td { display: block; }
  .fields tr { border-bottom: 1px solid var(--line); padding: .6rem 0; }
  .fields td { border: 0; padding: .1rem 0; }
  .fields td:empty { display: none; }
  .fields td:not(:first-child):not([data-label=""])::before { content: attr(data-label) ": "; color: var(--dim); }
}
`;
