import React from 'react';
import { AnnotationQuery, QueryEditorProps } from '@grafana/data';
import type { PlimsollDatasource } from '../datasource';
import { PlimsollOptions, PlimsollQuery } from '../types';
import { QueryEditor } from './QueryEditor';

type Props = QueryEditorProps<PlimsollDatasource, PlimsollQuery, PlimsollOptions> & {
  annotation?: AnnotationQuery<PlimsollQuery>;
  onAnnotationChange?: (annotation: AnnotationQuery<PlimsollQuery>) => void;
};

/** The query editor, held to annotations. */
export function AnnotationsEditor({ annotation, onAnnotationChange, ...props }: Props) {
  const query: PlimsollQuery = { ...(annotation?.target ?? props.query), refId: annotation?.target?.refId ?? 'Anno', queryType: 'annotations' };
  return (
    <QueryEditor
      {...props}
      query={query}
      fixed
      onChange={(changed) => {
        if (annotation && onAnnotationChange) {
          onAnnotationChange({ ...annotation, target: changed });
        } else {
          props.onChange(changed);
        }
      }}
    />
  );
}
