import { CoreApp, DataSourceInstanceSettings } from '@grafana/data';
import { setTemplateSrv, TemplateSrv } from '@grafana/runtime';
import { PlimsollDatasource } from './datasource';
import { PlimsollOptions, PlimsollQuery } from './types';

const values: Record<string, string> = { $run: 'orders-42', $deadline: '300ms', $queue: 'queue:db,queue:cache', $step: '0,2' };

beforeAll(() => {
  setTemplateSrv({
    replace: (text = '') => text.replace(/\$\w+/g, (name) => values[name] ?? name),
    getVariables: () => [],
    containsTemplate: () => false,
    updateTimeRange: () => undefined,
  } as TemplateSrv);
});

const make = () =>
  new PlimsollDatasource({ id: 1, uid: 'p', type: 't', name: 'n', jsonData: {}, meta: {} } as unknown as DataSourceInstanceSettings<PlimsollOptions>);

describe('PlimsollDatasource', () => {
  it('fills variables into every part of a query', () => {
    const query: PlimsollQuery = { refId: 'A', queryType: 'series', run: '$run', deadline: '$deadline', step: '$step', names: ['offered', '$queue'] };
    expect(make().applyTemplateVariables(query, {})).toMatchObject({
      run: 'orders-42',
      deadline: '300ms',
      step: '0,2',
      names: ['offered', 'queue:db', 'queue:cache'],
    });
  });

  it('starts with what fits the place', () => {
    expect(make().getDefaultQuery(CoreApp.UnifiedAlerting)).toMatchObject({ queryType: 'alert', measure: 'outcome', holdMin: 15 });
    expect(make().getDefaultQuery(CoreApp.Explore)).toMatchObject({ queryType: 'steps', run: 'latest' });
    expect(make().getDefaultQuery(CoreApp.PanelEditor)).toMatchObject({ queryType: 'verdict', run: 'latest' });
  });

  it('holds back hidden queries and comparisons of one run', () => {
    expect(make().filterQuery({ refId: 'A', hide: true })).toBe(false);
    expect(make().filterQuery({ refId: 'A', queryType: 'compare', run: 'a' })).toBe(false);
    expect(make().filterQuery({ refId: 'A', queryType: 'compare', run: 'a', other: 'b' })).toBe(true);
  });

  it('turns annotations into queries of that kind', () => {
    const annotations = make().annotations!;
    expect(annotations.getDefaultQuery!()).toMatchObject({ queryType: 'annotations', run: 'latest' });
    const prepared = annotations.prepareQuery!({ name: 'a', enable: true, iconColor: 'red', target: { refId: 'X', run: '$run' } });
    expect(prepared).toMatchObject({ refId: 'X', queryType: 'annotations', run: '$run' });
  });

  it('asks for lists with variables filled in and nothing empty', async () => {
    const ds = make();
    ds.getResource = jest.fn().mockResolvedValue([{ value: '0', label: '100/s' }]);
    await expect(ds.offers('steps', { run: '$run', q: '' })).resolves.toHaveLength(1);
    expect(ds.getResource).toHaveBeenCalledWith('steps', { run: 'orders-42' });
  });

  it('says a query in one line', () => {
    expect(make().getQueryDisplayText({ refId: 'A', queryType: 'compare', run: 'a', other: 'b' })).toBe('Compare a against b');
    expect(make().getQueryDisplayText({ refId: 'A', queryType: 'series', names: ['offered'] })).toBe('Series latest offered');
    expect(make().getQueryDisplayText({ refId: 'A' })).toBe('Verdict latest');
  });
});
