import React from 'react';
import { DataSourcePluginOptionsEditorProps } from '@grafana/data';
import { AdvancedHttpSettings, Auth, ConfigSection, ConnectionSettings, convertLegacyAuthProps, DataSourceDescription } from '@grafana/plugin-ui';
import { DataSourcePicker } from '@grafana/runtime';
import { Divider, Field, Input, SecretInput } from '@grafana/ui';
import { PlimsollOptions, PlimsollSecrets } from '../types';

type Props = DataSourcePluginOptionsEditorProps<PlimsollOptions, PlimsollSecrets>;

/** Where the server is, how to be let in, and what to bound. */
export function ConfigEditor({ options, onOptionsChange }: Props) {
  const json = options.jsonData;
  const set = (change: Partial<PlimsollOptions>) => onOptionsChange({ ...options, jsonData: { ...json, ...change } });
  const bound = (name: 'maxRows' | 'maxAnswerMiB', label: string, byDefault: number, description: string) => (
    <Field label={label} description={description}>
      <Input
        id={name}
        type="number"
        min={1}
        width={20}
        placeholder={String(byDefault)}
        value={json[name] ?? ''}
        onChange={(e) => set({ [name]: e.currentTarget.value === '' ? undefined : Number(e.currentTarget.value) })}
      />
    </Field>
  );
  return (
    <>
      <DataSourceDescription
        dataSourceName="Plimsoll"
        docsLink="https://github.com/plimsoll/plimsoll/blob/main/docs/grafana.md"
        hasRequiredFields
      />
      <Divider />
      <ConnectionSettings config={options} onChange={onOptionsChange} urlPlaceholder="http://127.0.0.1:4319" />
      <Divider />
      <ConfigSection title="Token" description="Only where the server was started with one.">
        <Field label="Token" description="Kept encrypted; never sent back to the browser.">
          <SecretInput
            id="token"
            width={40}
            aria-label="Token"
            isConfigured={Boolean(options.secureJsonFields?.token)}
            value={options.secureJsonData?.token ?? ''}
            placeholder="Bearer token of the server"
            onChange={(e) => onOptionsChange({ ...options, secureJsonData: { ...options.secureJsonData, token: e.currentTarget.value } })}
            onReset={() =>
              onOptionsChange({
                ...options,
                secureJsonFields: { ...options.secureJsonFields, token: false },
                secureJsonData: { ...options.secureJsonData, token: '' },
              })
            }
          />
        </Field>
      </ConfigSection>
      <Divider />
      <Auth {...convertLegacyAuthProps({ config: options, onChange: onOptionsChange })} />
      <Divider />
      <ConfigSection title="Additional settings" isCollapsible isInitiallyOpen={false}>
        <AdvancedHttpSettings config={options} onChange={onOptionsChange} />
        {bound('maxRows', 'Most rows', 1000, 'Rows of a table. A cut is said in a notice.')}
        {bound('maxAnswerMiB', 'Largest answer, MiB', 32, 'Longer answers of the server are refused.')}
        <Field label="Traces" description="Data source with the traces of the load: p99 of a step then links to its slowest requests.">
          <DataSourcePicker
            tracing
            noDefault
            current={json.tracesUid || null}
            onChange={(ds) => set({ tracesUid: ds.uid, tracesName: ds.name })}
            onClear={() => set({ tracesUid: undefined, tracesName: undefined })}
          />
        </Field>
        <Field label="Dashboard of a run" description="UID of the dashboard that links of runs lead to.">
          <Input id="dashboardUid" width={30} placeholder="plimsoll-run" value={json.dashboardUid ?? ''} onChange={(e) => set({ dashboardUid: e.currentTarget.value })} />
        </Field>
      </ConfigSection>
    </>
  );
}
