import type OpenAI from 'openai';
import { type Step, type StepCall, type Task, examination, newestStep, stepNumber } from './task';

export type ResponsesRequest = OpenAI.Responses.ResponseCreateParams;
export type ResponsesRule = (request: ResponsesRequest, task: Task) => string | undefined;

type Item = OpenAI.Responses.ResponseInputItem;

const itemsIn = ({ input = [] }: ResponsesRequest): readonly Item[] => (typeof input === 'string' ? [] : input);

/** Nothing is stored at the provider, so reasoning must be asked for, and sent back, in its encrypted form. */
export const storesNothing: ResponsesRule = ({ store, include = [] }) =>
  store === false && include?.includes('reasoning.encrypted_content')
    ? undefined
    : 'This organization has zero data retention: set `store` to false and include `reasoning.encrypted_content`.';

export const pairsOutputs: ResponsesRule = (request) => {
  const items = itemsIn(request);
  const called = items.flatMap((item) => (item.type === 'function_call' ? item.call_id : []));
  const answered = items.flatMap((item) => (item.type === 'function_call_output' ? item.call_id : []));
  return called.join() === answered.join() ? undefined : 'No tool output found for function call.';
};

/** The reasoning stands before the calls that followed from it, as it was given. */
export const reasoningReturns: ResponsesRule = (request, task) => {
  const items = itemsIn(request);
  for (const [place, item] of items.entries()) {
    if (item.type !== 'function_call') continue;
    const before = items.slice(0, place).findLast(({ type }) => type !== 'function_call');
    const number = newestStep(task, item.arguments); // 0: of a call that another model made
    const { signature } = stepNumber(task, number);
    if (number > 0 && (before?.type !== 'reasoning' || before.encrypted_content !== signature))
      return `Item '${item.id ?? item.call_id}' of type 'function_call' was provided without its required 'reasoning' item.`;
  }
  return undefined;
};

/** Summaries, which are asked for without tools, need none. */
export const asksForEffort =
  (effort: string): ResponsesRule =>
  ({ reasoning, tools = [] }, { id }) =>
    tools.length === 0 || id === examination.id || reasoning?.effort === effort
      ? undefined
      : `The effort is ${reasoning?.effort ?? 'missing'} and not ${effort}.`;

/** A step as the events of a response. */
export function responseEvents(step: Step): string {
  const number = step.calls[0]?.number ?? 0;
  const reasoning = {
    type: 'reasoning',
    id: `rs_${number}`,
    summary: [{ type: 'summary_text', text: step.thought }],
    encrypted_content: step.signature,
  };
  const outputs = step.calls.length === 0 ? [messageItem(step.text)] : step.calls.map(callItem);
  return [
    event('response.created', { response: response([], 'in_progress') }),
    event('response.output_item.added', {
      output_index: 0,
      item: { ...reasoning, summary: [], encrypted_content: null },
    }),
    event('response.reasoning_summary_text.delta', {
      item_id: reasoning.id,
      output_index: 0,
      summary_index: 0,
      delta: step.thought,
    }),
    event('response.output_item.done', { output_index: 0, item: reasoning }),
    ...outputs.flatMap(outputEvents),
    event('response.completed', {
      response: response([reasoning, ...outputs.map(({ item }) => item)], 'completed'),
    }),
  ].join('');
}

interface Output {
  readonly index: number;
  readonly item: Record<string, unknown>;
  readonly begun: Record<string, unknown>;
  readonly deltas: readonly string[];
}

const callItem = ({ number, name, arguments: given }: StepCall, place: number): Output => {
  const written = JSON.stringify(given);
  const item = {
    type: 'function_call',
    id: `fc_${number}`,
    call_id: `call_${number}`,
    name,
    arguments: written,
    status: 'completed',
  };
  const common = { item_id: item.id, output_index: place + 1 };
  return {
    index: place + 1,
    item,
    begun: { ...item, arguments: '', status: 'in_progress' },
    deltas: [
      event('response.function_call_arguments.delta', { ...common, delta: written.slice(0, 12) }),
      event('response.function_call_arguments.delta', { ...common, delta: written.slice(12) }),
      event('response.function_call_arguments.done', { ...common, arguments: written }),
    ],
  };
};

const messageItem = (text: string): Output => {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  return {
    index: 1,
    item,
    begun: { ...item, status: 'in_progress', content: [] },
    deltas: [event('response.output_text.delta', { item_id: 'msg_1', output_index: 1, content_index: 0, delta: text })],
  };
};

const outputEvents = ({ index, item, begun, deltas }: Output): string[] => [
  event('response.output_item.added', { output_index: index, item: begun }),
  ...deltas,
  event('response.output_item.done', { output_index: index, item }),
];

/** A text as the events of a response. */
export const answerEvents = (text: string): string => {
  const output = messageItem(text);
  return [
    event('response.created', { response: response([], 'in_progress') }),
    ...outputEvents(output),
    event('response.completed', { response: response([output.item], 'completed') }),
  ].join('');
};

let sequence = 0;
const event = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;

const response = (output: object[], status: string) => ({
  id: 'resp_1',
  object: 'response',
  model: 'm',
  status,
  output,
  error: null,
  incomplete_details: null,
  usage: {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 100,
    output_tokens_details: { reasoning_tokens: 50 },
    total_tokens: 1100,
  },
});
