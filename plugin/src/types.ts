import { DataSourceJsonData } from '@grafana/data';
import type { DataQuery } from '@grafana/schema';

/** Kinds of queries, as the backend names them. */
export type Kind =
  | 'verdict'
  | 'steps'
  | 'knee'
  | 'series'
  | 'spectrum'
  | 'heatmap'
  | 'littleslaw'
  | 'findings'
  | 'goodput'
  | 'compare'
  | 'runs'
  | 'capacity'
  | 'alert'
  | 'annotations';

/** Version of the shape of a query; the backend brings older ones up to date. */
export const queryVersion = 1;

export interface PlimsollQuery extends DataQuery {
  queryType?: Kind;
  version?: number;
  /** An id, latest or latest:NAME; of a comparison, the run before. */
  run?: string;
  /** The run after, of a comparison. */
  other?: string;
  scenario?: string;
  source?: string;
  step?: string;
  /** 300ms, 2s; empty is the declared deadline. */
  deadline?: string;
  /** Before the names of curves, to tell runs apart. */
  prefix?: string;
  names?: string[];
  clock?: 'wall' | 'elapsed';
  search?: string;
  limit?: number;
  measure?: 'outcome' | 'unstable' | 'generator' | 'goodput' | 'recovery';
  holdMin?: number;
  show?: string[];
}

/** What a variable lists. */
export interface PlimsollVariableQuery extends DataQuery {
  list: 'runs' | 'names' | 'scenarios' | 'steps' | 'queues' | 'sources';
  run?: string;
  search?: string;
}

export interface PlimsollOptions extends DataSourceJsonData {
  maxAnswerMiB?: number;
  maxRows?: number;
  timeout?: number;
  tracesUid?: string;
  tracesName?: string;
  dashboardUid?: string;
}

export interface PlimsollSecrets {
  token?: string;
}

/** A choice that the backend offers. */
export interface Offer {
  value: string;
  label: string;
  description?: string;
}
