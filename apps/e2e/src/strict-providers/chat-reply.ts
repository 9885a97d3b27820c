import type { Step } from './task';

/** How a provider streams a chat completion. Each field is a habit that has been seen at several of them. */
export interface ChatHabits {
  /** Where thoughts are: in a field, in parts of the content, in tags of the text, or beside a summary as details. */
  readonly thoughts?: 'reasoning_content' | 'reasoning' | 'parts' | 'tags' | 'details';
  /** Where the signature of a call is. */
  readonly signsCalls?: boolean;
  /** How calls are cut: in pieces by number, whole, whole and all numbered 0, or with empty ids in later pieces. */
  readonly calls?: 'pieces' | 'whole' | 'numbered 0' | 'empty ids';
  readonly usage?: 'own chunk' | 'last chunk' | 'each chunk' | 'in the choice' | 'x_groq';
  /** The words for the ends of an answer and of a reply with a call. */
  readonly ends?: readonly [answer: string, call: string];
  /** Lines before the first chunk. */
  readonly opening?: string;
  readonly callId: (step: number) => string;
}

const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };

const piecesIn = (text: string, length = 9): string[] => text.match(new RegExp(`[^]{1,${length}}`, 'gu')) ?? [];

/** A step as server-sent events. */
export function chatEvents(step: Step, habits: ChatHabits): string {
  const [endOfAnswer, endOfCall] = habits.ends ?? ['stop', 'tool_calls'];
  const withUsage = habits.usage === 'each chunk' ? { usage } : {};
  const chunks: object[] = [
    { delta: { role: 'assistant', content: step.text === '' ? null : '' } },
    ...thoughtDeltas(step, habits).map((delta) => ({ delta })),
    ...piecesIn(step.text).map((content) => ({ delta: { content } })),
    ...callDeltas(step, habits).map((call) => ({ delta: { tool_calls: [call] } })),
  ].map((choice) => ({ choices: [{ index: 0, finish_reason: null, ...choice }], ...withUsage }));
  const finish_reason = step.calls.length === 0 ? endOfAnswer : endOfCall;
  const end = { index: 0, delta: {}, finish_reason, ...(habits.usage === 'in the choice' && { usage }) };
  chunks.push({ choices: [end], ...((habits.usage ?? 'last chunk') === 'last chunk' && { usage }), ...withUsage });
  if (habits.usage === 'own chunk') chunks.push({ choices: [], usage });
  if (habits.usage === 'x_groq') chunks.push({ choices: [], x_groq: { id: 'req_1', usage } });
  const lines = chunks.map(
    (chunk) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...chunk })}\n\n`,
  );
  return `${habits.opening ?? ''}${lines.join('')}data: [DONE]\n\n`;
}

function thoughtDeltas({ thought, signature }: Step, { thoughts }: ChatHabits): object[] {
  if (thoughts === undefined) return [];
  const pieces = piecesIn(thought);
  switch (thoughts) {
    case 'reasoning_content':
    case 'reasoning':
      return pieces.map((text) => ({ content: null, [thoughts]: text }));
    case 'parts':
      return pieces.map((text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }));
    case 'tags':
      return piecesIn(`<think>${thought}</think>\n\n`).map((content) => ({ content }));
    case 'details':
      return [
        ...pieces.map((text) => ({
          reasoning: text,
          reasoning_details: [{ type: 'reasoning.summary', summary: text, index: 0 }],
        })),
        { reasoning_details: [{ type: 'reasoning.encrypted', data: signature, id: 'rs_1', index: 1 }] },
      ];
  }
}

/** Of several calls only the first is signed, as Gemini does it. */
const callDeltas = ({ calls, signature }: Step, habits: ChatHabits): object[] =>
  calls.flatMap(({ number, name, arguments: given }, place) => {
    const written = JSON.stringify(given);
    const head = {
      id: habits.callId(number),
      type: 'function',
      ...(habits.signsCalls && place === 0 && { extra_content: { google: { thought_signature: signature } } }),
    };
    const whole = (index: number) => ({ index, ...head, function: { name, arguments: written } });
    switch (habits.calls ?? 'pieces') {
      case 'whole':
        return [whole(place)];
      case 'numbered 0':
        return [whole(0)];
      case 'pieces':
      case 'empty ids': {
        const isEmpty = habits.calls === 'empty ids';
        return [
          { index: place, ...head, function: { name, arguments: '' } },
          ...piecesIn(written, 17).map((text) => ({
            index: place,
            ...(isEmpty && { id: '' }),
            function: { ...(isEmpty && { name: '' }), arguments: text },
          })),
        ];
      }
    }
  });

/** A reply that is not streamed, for summaries. */
export const wholeChat = (content: string): object => ({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage,
});
