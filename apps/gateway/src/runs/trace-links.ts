import type { Run } from '@rondo/contract';
import { z } from 'zod';

const placeholder = '{trace_id}';

export const traceLinkVariables = {
  TRACE_URL: z
    .string()
    .regex(/^https?:\/\/\S*\{trace_id\}\S*$/, 'must be a URL with http or https that contains {trace_id}')
    .optional()
    .meta({
      description:
        'The page of a trace, which the view of a traced run links to as `trace_url`; `{trace_id}` is replaced.',
      example: 'http://127.0.0.1:16686/trace/{trace_id}',
      otherwise: 'no link',
    }),
};

/** Links runs to the pages of their traces. */
export class TraceLinks {
  constructor(private readonly template: string | undefined) {}

  addLink(run: Run): Run {
    if (this.template === undefined || run.trace_id === null) return run;
    return { ...run, trace_url: this.template.replaceAll(placeholder, run.trace_id) };
  }
}
