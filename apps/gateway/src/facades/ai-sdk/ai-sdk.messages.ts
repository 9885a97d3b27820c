import type { InputBlock } from '@rondo/contract';
import type { AiSdkMessage } from '@rondo/contract/api';
import { z } from 'zod';
import { refuseField } from '../../problems/api-error';
import { type FieldNames, joinInstructions, readDataUrl, readInput } from '../facade-input';

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const filePart = z.object({ type: z.literal('file'), mediaType: z.string(), url: z.string() });

/** Parts of a user's message that mean nothing to a model. */
const silent: ReadonlySet<string> = new Set(['step-start']);

/** The input that a message of the user is. Throws InvalidRequest that names the part which is not served. */
export function toInput({ parts }: AiSdkMessage): InputBlock[] {
  const blocks = parts.flatMap((part, index) => (silent.has(part.type) ? [] : [toBlock(part, index)]));
  return readInput('messages', blocks);
}

function toBlock(part: unknown, index: number): object {
  const text = textPart.safeParse(part).data;
  if (text) return { type: 'text', text: text.text };
  const file = filePart.safeParse(part).data;
  const image = file?.mediaType.startsWith('image/') ? readDataUrl(file.url) : undefined;
  if (file && image) return { type: 'image', source: { type: 'base64', ...image, media_type: file.mediaType } };
  throw refuseField(
    `messages.parts.${index}`,
    'only text, and images as data URLs, are served; upload other files with POST /v1/files',
  );
}

/** What the system messages say. Undefined where they say nothing. */
export function readInstructions(messages: readonly AiSdkMessage[]): string | undefined {
  const texts = messages.map(({ role, parts }, index) =>
    role === 'system' ? parts.map((part, at) => toInstruction(part, `messages.${index}.parts.${at}`)).join('') : '',
  );
  return joinInstructions(texts);
}

function toInstruction(part: unknown, field: string): string {
  const { success, data } = textPart.safeParse(part);
  if (success) return data.text;
  throw refuseField(field, 'a system message has only text');
}

/** Those of a run that a message begins. */
export const fieldNames: FieldNames = [
  [/^instructions$/, 'messages'],
  [/^agent_id$/, 'agent'],
];

const outputPart = z.object({
  type: z.union([z.literal('dynamic-tool'), z.string().startsWith('tool-')]),
  toolCallId: z.string(),
  state: z.enum(['output-available', 'output-error']),
  output: z.unknown(),
  errorText: z.string().optional(),
});

/** What the client says of a call. */
export interface CallOutput {
  readonly output?: string;
  readonly error?: string;
}

/** The outputs of a message by the ids of their calls. What is no text is written as JSON. */
export function readOutputs({ parts }: AiSdkMessage): ReadonlyMap<string, CallOutput> {
  const outputs = parts.flatMap((part) => {
    const { data } = outputPart.safeParse(part);
    return data ? [[data.toolCallId, toCallOutput(data)] as const] : [];
  });
  return new Map(outputs);
}

const toCallOutput = ({ state, output, errorText }: z.infer<typeof outputPart>): CallOutput =>
  state === 'output-error'
    ? { error: errorText ?? 'The call failed.' }
    : { output: typeof output === 'string' ? output : JSON.stringify(output ?? null) };

const approvalPart = z.object({
  state: z.literal('approval-responded'),
  approval: z.object({ id: z.string(), approved: z.boolean(), reason: z.string().optional() }),
});

/** The decisions of a message by the ids of their approvals. */
export function readDecisions({
  parts,
}: AiSdkMessage): ReadonlyMap<string, { approved: boolean; reason?: string | undefined }> {
  const decisions = parts.flatMap((part) => {
    const { data } = approvalPart.safeParse(part);
    return data ? [[data.approval.id, data.approval] as const] : [];
  });
  return new Map(decisions);
}
