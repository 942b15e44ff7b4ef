import { AnnotationQuery, CoreApp, DataSourceInstanceSettings, ScopedVars } from '@grafana/data';
import { DataSourceWithBackend, getTemplateSrv } from '@grafana/runtime';
import { AnnotationsEditor } from './components/AnnotationsEditor';
import { describe } from './kinds';
import { Offer, PlimsollOptions, PlimsollQuery, queryVersion } from './types';
import { PlimsollVariables } from './variables';

/** Asks the backend; every query goes through it, so that alerts and panels see the same. */
export class PlimsollDatasource extends DataSourceWithBackend<PlimsollQuery, PlimsollOptions> {
  constructor(settings: DataSourceInstanceSettings<PlimsollOptions>) {
    super(settings);
    this.variables = new PlimsollVariables(this);
    this.annotations = {
      QueryEditor: AnnotationsEditor,
      getDefaultQuery: () => ({ queryType: 'annotations', version: queryVersion, run: 'latest' }),
      prepareQuery: (anno: AnnotationQuery<PlimsollQuery>) => ({
        ...anno.target,
        refId: anno.target?.refId ?? 'Anno',
        queryType: 'annotations',
      }),
    };
  }

  getDefaultQuery(app: CoreApp): Partial<PlimsollQuery> {
    if (app === CoreApp.UnifiedAlerting || app === CoreApp.CloudAlerting) {
      return { queryType: 'alert', version: queryVersion, measure: 'outcome', holdMin: 15 };
    }
    return { queryType: app === CoreApp.Explore ? 'steps' : 'verdict', version: queryVersion, run: 'latest' };
  }

  getQueryDisplayText(query: PlimsollQuery): string {
    return describe(query);
  }

  filterQuery(query: PlimsollQuery): boolean {
    return !query.hide && (query.queryType !== 'compare' || Boolean(query.other));
  }

  applyTemplateVariables(query: PlimsollQuery, scopedVars: ScopedVars): PlimsollQuery {
    const fill = (text?: string) => (text ? getTemplateSrv().replace(text, scopedVars, 'csv') : text);
    return {
      ...query,
      run: fill(query.run),
      other: fill(query.other),
      scenario: fill(query.scenario),
      source: fill(query.source),
      step: fill(query.step),
      deadline: fill(query.deadline),
      search: fill(query.search),
      prefix: fill(query.prefix),
      // A variable of several values becomes several columns.
      names: query.names?.flatMap((name) => (fill(name) ?? '').split(',')).filter((name) => name !== ''),
    };
  }

  /** What editors and variables can choose from. */
  async offers(list: string, params: Record<string, string | undefined> = {}): Promise<Offer[]> {
    const filled = Object.fromEntries(
      Object.entries(params)
        .filter(([, value]) => value)
        .map(([name, value]) => [name, getTemplateSrv().replace(value)])
    );
    return (await this.getResource(list, filled)) ?? [];
  }
}
