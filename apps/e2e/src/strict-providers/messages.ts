import type Anthropic from '@anthropic-ai/sdk';
import { type Step, type Task, isAboutPdf, newestStep, stepNumber } from './task';

export type MessagesRequest = Anthropic.MessageCreateParams;
export type MessagesRule = (request: MessagesRequest, task: Task) => string | undefined;

type Message = Anthropic.MessageParam;
const blocksIn = ({ content }: Message): readonly Anthropic.ContentBlockParam[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** Roles alternate, each call is answered in the next message, and no text is empty. */
export const pairsUses: MessagesRule = ({ messages }) => {
  let open: readonly string[] = [];
  for (const [place, message] of messages.entries()) {
    if (message.role !== (place % 2 === 0 ? 'user' : 'assistant')) return `messages.${place}: roles must alternate`;
    const blocks = blocksIn(message);
    if (blocks.length === 0) return `messages.${place}: all messages must have non-empty content`;
    if (blocks.some((block) => block.type === 'text' && block.text.trim() === ''))
      return 'messages: text content blocks must contain non-whitespace text';
    const answered = blocks.flatMap((block) => (block.type === 'tool_result' ? block.tool_use_id : []));
    if (open.join() !== answered.join())
      return `messages.${place}: \`tool_use\` ids without \`tool_result\`: ${open.join()}`;
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? block.id : []));
  }
  return undefined;
};

/** The messages with calls since the last question, which a thinking model must get back with their thoughts. */
const forEachStep =
  (find: (first: Anthropic.ContentBlockParam | undefined, step: Step) => string | undefined): MessagesRule =>
  ({ messages }, task) => {
    const question = messages.findLastIndex(
      (message) => message.role === 'user' && blocksIn(message).some(({ type }) => type !== 'tool_result'),
    );
    for (const message of messages.slice(question + 1)) {
      const uses = message.role === 'assistant' ? blocksIn(message).filter(({ type }) => type === 'tool_use') : [];
      const number = newestStep(task, JSON.stringify(uses)); // 0: of a call that another model made
      const reason = number > 0 && find(blocksIn(message)[0], stepNumber(task, number));
      if (reason) return reason;
    }
    return undefined;
  };

const startsWithSignedThought = forEachStep((first, { thought, signature }) =>
  first?.type === 'thinking' && first.thinking === thought && first.signature === signature
    ? undefined
    : `Expected \`thinking\` with its signature, but found \`${first?.type}\`.`,
);

/** Demanded of requests that let the model think. */
export const requireSignedThoughts: MessagesRule = (request, task) =>
  request.thinking && request.thinking.type !== 'disabled' ? startsWithSignedThought(request, task) : undefined;

export const unsignedThoughtsReturn = forEachStep((first, { thought }) =>
  first?.type === 'thinking' && first.thinking === thought
    ? undefined
    : 'The `content[].thinking` in the thinking mode must be passed back to the API.',
);

export const seesTheImage: MessagesRule = ({ messages }, task) => {
  const [question] = messages;
  if (!question || isAboutPdf(task) || !JSON.stringify(question).includes(`task ${task.id}`)) return undefined;
  if (newestStep(task, JSON.stringify(messages)) > 5) return undefined;
  return blocksIn(question).some(({ type }) => type === 'image') ? undefined : 'The image is missing.';
};

const event = (type: string, data: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const block = (index: number, content_block: object, ...deltas: object[]): string =>
  event('content_block_start', { index, content_block }) +
  deltas.map((delta) => event('content_block_delta', { index, delta })).join('') +
  event('content_block_stop', { index });

/** A step as the events of a message. `signs`: whether its thoughts have signatures. */
export function messageEvents(step: Step, { signs }: { signs: boolean }): string {
  const content = [
    block(
      0,
      { type: 'thinking', thinking: '' },
      { type: 'thinking_delta', thinking: step.thought },
      ...(signs ? [{ type: 'signature_delta', signature: step.signature }] : []),
    ),
    ...(step.text === '' ? [] : [block(1, { type: 'text', text: '' }, { type: 'text_delta', text: step.text })]),
    ...step.calls.map(({ number, name, arguments: given }, place) =>
      block(
        place + 1,
        { type: 'tool_use', id: `toolu_${number}`, name, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(given) },
      ),
    ),
  ];
  return [
    event('message_start', {
      message: { ...wholeMessage(''), content: [], usage: { input_tokens: 1000, output_tokens: 1 } },
    }),
    event('ping'),
    ...content,
    event('message_delta', {
      delta: { stop_reason: step.calls.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: 100 },
    }),
    event('message_stop'),
  ].join('');
}

/** A text as the events of a message. */
export const textEvents = (text: string): string =>
  [
    event('message_start', { message: { ...wholeMessage(''), content: [] } }),
    block(0, { type: 'text', text: '' }, { type: 'text_delta', text }),
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 100 } }),
    event('message_stop'),
  ].join('');

export const wholeMessage = (text: string): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1000, output_tokens: 100 },
});
