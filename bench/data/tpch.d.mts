export interface TpchQuery {
  readonly name: string;
  readonly sql: string;
}
export function tpchQueries(): TpchQuery[];
export function tpchFiles(scale: number, folder?: string): Promise<Record<string, string>>;
