import React from 'react';
import { QueryEditorHelpProps } from '@grafana/data';
import { Button, Stack, Text } from '@grafana/ui';
import { kinds } from '../kinds';
import { Kind, PlimsollQuery, queryVersion } from '../types';

/** Examples that can be clicked. */
export function QueryHelp({ onClickExample }: QueryEditorHelpProps<PlimsollQuery>) {
  const examples = (Object.keys(kinds) as Kind[]).filter((k) => !['compare', 'annotations', 'alert'].includes(k));
  return (
    <Stack direction="column" gap={1} alignItems="flex-start">
      <Text element="h3">Ask about the newest run</Text>
      {examples.map((kind) => (
        <Button
          key={kind}
          variant="secondary"
          fill="text"
          onClick={() => onClickExample({ refId: 'A', queryType: kind, version: queryVersion, run: 'latest' })}
        >
          {`${kinds[kind].label}: ${kinds[kind].description}`}
        </Button>
      ))}
    </Stack>
  );
}
