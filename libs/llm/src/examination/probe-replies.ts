import type { LlmSettings } from '@rondo/contract';
import type { ModelMessage } from '@rondo/domain';
import { type Answer, ExaminationEnded, type Examiner, type ModelFinding } from './examiner';

export const userTurn = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

/** Shortens a text to one line of a table. */
export const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
};

/** Enough for an answer of one word, also of a model that thinks a little before it. */
const fewTokens = 256;

/**
 * The smallest request that a run could make. Also the test of `npm run setup`. Rejects with `ExaminationEnded` where the model
 * cannot be used at all.
 */
export async function askForOneWord(examiner: Examiner): Promise<Answer> {
  examiner.begin('a reply');
  const question = { messages: [userTurn('Answer with the word ok.')], settings: { max_tokens: fewTokens } };
  const answer = await examiner.ask(question);
  if (answer.error) throw new ExaminationEnded(answer.error);
  return answer;
}

/** Whether it replies, streams and counts, and under which name it takes the limit of a reply. */
export async function probeReply(examiner: Examiner): Promise<ModelFinding[]> {
  const { traits, sent, notes, text } = await askForOneWord(examiner);
  const limit = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'].find((name) => name in sent);
  const said = text.trim() === '' ? 'accepted, with no text within its limit' : `“${shorten(text)}”`;
  const end = notes.finishReason === undefined ? 'no word for the end' : `ends with \`${notes.finishReason}\``;
  return [
    { name: 'reply', status: 'works', found: `${said}; ${end}; the system prompt has its role` },
    traits.isStream
      ? { name: 'stream', status: 'works', found: 'server-sent events' }
      : { name: 'stream', status: 'lacks', found: 'the reply came whole, so its text appears at once' },
    traits.usage === undefined
      ? { name: 'usage', status: 'lacks', found: 'not reported: tokens and cost are estimated' }
      : { name: 'usage', status: 'works', found: `reported ${traits.usage}` },
    limit === undefined
      ? {
          name: 'reply limit',
          status: 'lacks',
          found: 'no name for it is accepted: replies are as long as the server lets them',
        }
      : { name: 'reply limit', status: limit === 'max_completion_tokens' ? 'adapted' : 'works', found: `\`${limit}\`` },
  ];
}

const optional: readonly { readonly name: string; readonly settings: LlmSettings }[] = [
  { name: 'temperature', settings: { temperature: 0.5, max_tokens: fewTokens } },
  {
    name: 'structured output',
    settings: {
      max_tokens: fewTokens,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'answer',
          strict: true,
          schema: {
            type: 'object',
            properties: { answer: { type: 'string' } },
            required: ['answer'],
            additionalProperties: false,
          },
        },
      },
    },
  },
];

/** Parameters that runs may set. What is refused by name is left out by the service itself. */
export async function probeParameters(examiner: Examiner): Promise<ModelFinding[]> {
  const findings: ModelFinding[] = [];
  for (const { name, settings } of optional) {
    examiner.begin(name);
    const answer = await examiner.ask({
      messages: [userTurn('Answer with the word ok, as JSON if you can.')],
      settings,
    });
    findings.push(judgeParameter(name, answer));
  }
  return findings;
}

function judgeParameter(name: string, { error, notes, sent }: Answer): ModelFinding {
  const parameter = name === 'temperature' ? 'temperature' : 'response_format';
  if (error)
    return {
      name,
      status: 'lacks',
      found: `refused: ${shorten(error.message)}`,
      advice: `Runs should not set ${parameter}.`,
    };
  if (notes.omittedParameters?.includes(parameter))
    return { name, status: 'lacks', found: 'refused by name: left out' };
  const isSent = parameter in sent || 'text' in sent || 'output_config' in sent;
  return isSent
    ? { name, status: 'works', found: 'accepted' }
    : { name, status: 'lacks', found: 'not sent, because models of this name do not take it' };
}
