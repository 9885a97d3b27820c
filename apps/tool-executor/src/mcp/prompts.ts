import { type McpPrompt, type McpPromptAnswer, type McpPromptMessage, promptLimits } from '@rondo/contract';
import { z } from 'zod';
import { AnswerUnreadable, lenient, readAnswer, toResult } from './mcp-result';
import { isReadable, readableLine } from './readable-text';

type Listed = Extract<McpPromptAnswer, { how: 'listed' }>;
type Given = Extract<McpPromptAnswer, { how: 'given' }>;

/** Takes secrets out of what a server says. */
type Clean = (text: string) => string;

/** What a server says of a prompt. All of it may be a lie. */
const claimed = z.looseObject({
  name: z.string(),
  title: lenient(z.string()),
  description: lenient(z.string()),
  arguments: lenient(z.array(z.unknown())),
});
const claimedArgument = z.looseObject({
  name: z.string(),
  description: lenient(z.string()),
  required: lenient(z.boolean()),
});

/** The prompts that a person may be shown, and why others may not. */
export function describePrompts(given: readonly unknown[], clean: Clean): Listed {
  const listed: Listed = { how: 'listed', prompts: [], refused: [] };
  const names = new Set<string>();
  let left: number = promptLimits.characters;
  for (const one of given) {
    const prompt =
      listed.prompts.length < promptLimits.prompts ? toPrompt(one, clean) : 'the server has too many prompts';
    if (typeof prompt !== 'string') left -= JSON.stringify(prompt).length;
    if (typeof prompt === 'string') refuse(listed, one, prompt);
    else if (names.has(prompt.name)) refuse(listed, one, 'the server has several prompts of this name');
    else if (left < 0) refuse(listed, one, 'the descriptions of the server are too long');
    else listed.prompts.push(prompt);
    if (typeof prompt !== 'string') names.add(prompt.name);
  }
  return listed;
}

function refuse({ refused }: Listed, given: unknown, reason: string): void {
  const { name = '' } = claimed.pick({ name: true }).safeParse(given).data ?? {};
  if (refused.length < promptLimits.prompts) refused.push({ prompt: readableLine(name, 60), reason });
}

const isName = (name: string): boolean => name !== '' && name.length <= promptLimits.name && isReadable(name);

function toPrompt(given: unknown, clean: Clean): McpPrompt | string {
  const read = claimed.safeParse(given);
  if (!read.success) return 'it has not the form of a prompt';
  const { name, title, description, arguments: args = [] } = read.data;
  const describe = (text = '') => clean(readableLine(text, promptLimits.description));
  if (!isName(name)) return 'its name is unreadable or too long';
  const fields = args.flatMap((one) => claimedArgument.safeParse(one).data ?? []);
  if (fields.length < args.length || fields.some((field) => !isName(field.name)))
    return 'an argument of it has no readable name';
  if (fields.length > promptLimits.arguments) return 'it has too many arguments';
  return {
    name,
    title: title === undefined ? null : clean(readableLine(title, promptLimits.name)),
    description: describe(description),
    arguments: fields.map((field) => ({
      name: field.name,
      description: describe(field.description),
      required: field.required ?? false,
    })),
  };
}

const claimedMessage = z.looseObject({ role: z.enum(['user', 'assistant']), content: z.unknown() });

/** The messages of a prompt, as text that shows all that it contains. Rejects with AnswerUnreadable. */
export async function readPrompt(answer: Readonly<Record<string, unknown>>, clean: Clean): Promise<Given> {
  const given = z.array(claimedMessage).max(promptLimits.messages).safeParse(answer['messages']).data;
  if (!given || given.length === 0) throw new AnswerUnreadable('it has not the messages of a prompt');
  const description = lenient(z.string()).parse(answer['description']) ?? '';
  const messages: McpPromptMessage[] = [];
  for (const { role, content } of given) messages.push({ role, text: clean(await toMessageText(content)) });
  const characters = messages.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > promptLimits.characters) throw new AnswerUnreadable('its messages are too long');
  return { how: 'given', description: clean(readableLine(description, promptLimits.description)), messages };
}

/** Nothing of it is kept: what is no text is named. */
async function toMessageText(content: unknown): Promise<string> {
  const blocks = Array.isArray(content) ? content : [content];
  const { output, image } = await toResult(readAnswer({ content: blocks }), () => Promise.resolve('not shown'));
  return [output, image ? '[an image that is not shown]' : ''].filter((part) => part !== '').join('\n\n');
}
