import { type Static, Type } from 'typebox';
import { choice, type DatasetReference, tableReference } from '../schema/declare.ts';
import { datasetType, type ViewContext } from './dataset-type.ts';
import { quoteName } from './parameter.ts';
import { recordedRows, viewContent } from './view-content.ts';

const JOIN_TEXT: Readonly<Record<JoinedParams['qualification'], string>> = {
  JOIN_INNER: 'INNER JOIN',
  JOIN_LEFT: 'LEFT JOIN',
  JOIN_RIGHT: 'RIGHT JOIN',
  JOIN_FULL: 'FULL JOIN',
};

const PARAMETERS = Type.Object({
  left: tableReference({ description: 'left side: a dataset or FROM text' }),
  right: tableReference({ description: 'right side: a dataset or FROM text' }),
  on: Type.String({ description: 'SQL condition of the join; empty: every pair', default: '' }),
  qualification: choice(['JOIN_INNER', 'JOIN_LEFT', 'JOIN_RIGHT', 'JOIN_FULL'], {
    description: 'which rows without a partner are kept',
    default: 'JOIN_INNER',
  }),
});

type JoinedParams = Static<typeof PARAMETERS>;

/** The rows of a join, evaluated once. */
export const joined = datasetType({
  name: 'joined',
  summary: 'A view of the join of two datasets, evaluated when it is created.',
  parameters: PARAMETERS,
  view: {
    build: (context) => viewContent(context, recordedRows(context.query(queryText(context))), null),
  },
  status: () => null,
});

function queryText({ params }: ViewContext<JoinedParams>): string {
  const { left, right, on, qualification } = params;
  const condition = on.trim() === '' ? 'true' : on;
  return `SELECT * FROM ${sideText(left)} ${JOIN_TEXT[qualification]} ${sideText(right)} ON ${condition}`;
}

/** A dataset is named by its id, which is also its alias. */
function sideText(side: DatasetReference): string {
  return typeof side === 'string' ? side : quoteName(side.id ?? '');
}
