// Keys, and where to read on.
import { Dialog } from './dialog.tsx';

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K', 'go to a dataset, model or screen; do something'],
  ['Ctrl Enter', 'run the selection, or the statement at the cursor'],
  ['Esc', 'cancel the query; close a dialog'],
  ['F6, Shift F6', 'next and previous part of the page'],
  ['Esc, Tab', 'leave the editor'],
  ['Ctrl Space', 'complete'],
  [
    'Arrows, Home, End, Page Up, Page Down',
    'move in the grid; with Shift select, with Ctrl to the edge',
  ],
  ['Enter', 'in the grid: the menu of the column, or look into the cell'],
  ['Ctrl A, Ctrl C', 'in the grid: select all, copy'],
  ['F2, Delete', 'on a draft: rename, close'],
  ['?', 'this page'],
];

export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Help" onClose={onClose} className="wide">
      <table class="facts">
        <thead>
          <tr>
            <th>Key</th>
            <th>Does</th>
          </tr>
        </thead>
        <tbody>
          {KEYS.map(([keys, does]) => (
            <tr key={keys}>
              <td>
                {keys.split(', ').map((each) => (
                  <kbd key={each}>{each}</kbd>
                ))}
              </td>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        Everything that the console does is a call of the REST interface; the REST drawer shows each
        one as curl, TypeScript and Python. <a href="doc/">Guide and reference</a>.
      </p>
    </Dialog>
  );
}
