import { DataSourcePlugin } from '@grafana/data';
import { ConfigEditor } from './components/ConfigEditor';
import { QueryEditor } from './components/QueryEditor';
import { QueryHelp } from './components/QueryHelp';
import { PlimsollDatasource } from './datasource';
import { PlimsollOptions, PlimsollQuery, PlimsollSecrets } from './types';

export const plugin = new DataSourcePlugin<PlimsollDatasource, PlimsollQuery, PlimsollOptions, PlimsollSecrets>(PlimsollDatasource)
  .setConfigEditor(ConfigEditor)
  .setQueryEditor(QueryEditor)
  .setQueryEditorHelp(QueryHelp);
