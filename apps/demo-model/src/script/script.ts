import { z } from 'zod';
import { firstIssue, Refusal } from '../refusal';
import { type Conversation, type Progress, toProgress } from './script-conversation';
import type { Turn } from './turn';

/** A model that follows a plan. Its reply depends on the conversation and on nothing else (no clock, no memory). */
export interface Script {
  readonly description: string;
  reply(conversation: Conversation, parameters: Readonly<Record<string, string>>): Turn;
  /** Throws a Refusal where `reply` would, whatever the conversation is. */
  checkParameters(parameters: Readonly<Record<string, string>>): void;
}

/** A script's parameters come from the model's name, so they arrive as strings. */
export const wholeNumber = (range: { min?: number; max?: number } = {}) =>
  z
    .string()
    .regex(/^\d+$/, 'is not a whole number')
    .transform(Number)
    .pipe(
      z
        .int()
        .min(range.min ?? 0)
        .max(range.max ?? 1_000_000),
    );

const delivery = z.object({
  delay_ms: wholeNumber({ max: 600_000 }).optional(),
  pace_ms: wholeNumber({ max: 600_000 }).optional(),
  chunk_chars: wholeNumber({ min: 1, max: 100_000 }).optional(),
  context_limit: wholeNumber({ min: 1 }).optional(),
});

interface Definition<Shape extends z.ZodRawShape> {
  readonly description: string;
  /** Tools that the script needs; without them its reply says that they are missing. */
  readonly tools?: readonly string[] | ((conversation: Conversation) => readonly string[]);
  readonly parameters?: Shape;
  play(progress: Progress, parameters: z.output<z.ZodObject<Shape>>, conversation: Conversation): Turn;
}

/** Every script also accepts `delay_ms`, `pace_ms`, `chunk_chars` and `context_limit`, which apply to each of its turns. */
export function defineScript<Shape extends z.ZodRawShape>(definition: Definition<Shape>): Script {
  // TypeScript cannot infer in a generic that an absent shape is the empty one.
  const own = z.strictObject(definition.parameters ?? ({} as Shape));

  const readParameters = (given: Readonly<Record<string, string>>) => {
    const pacing = delivery.safeParse(given);
    if (!pacing.success) throw badParameter(pacing.error);
    const rest = Object.entries(given).filter(([name]) => !(name in delivery.shape));
    const parameters = own.safeParse(Object.fromEntries(rest));
    if (!parameters.success) throw badParameter(parameters.error);
    return { pacing, parameters };
  };

  return {
    description: definition.description,
    checkParameters: readParameters,
    reply(conversation, given) {
      const { pacing, parameters } = readParameters(given);
      const { tools = [] } = definition;
      const needed = typeof tools === 'function' ? tools(conversation) : tools;
      const missing = needed.filter((tool) => !conversation.offeredTools.includes(tool));
      if (missing.length > 0) return { text: `I cannot play this script without the tools ${missing.join(', ')}.` };
      return { ...definition.play(toProgress(conversation), parameters.data, conversation), ...pacing.data };
    },
  };
}

function badParameter(error: z.ZodError) {
  const { path, message } = firstIssue(error);
  return badModel([...path.map(String), message].join(' '));
}

interface ModelName {
  readonly script: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const shape = /^(?:demo\/)?([a-z0-9-]+)(?::(.*))?$/s;
const pairShape = /^([a-z_]+)=([^=]+)$/;

/** `plain`, `demo/plain` and `plain:tokens=200,pace_ms=20` name the script `plain`. */
export function parseModelName(model: string): ModelName {
  const [, script, list] = shape.exec(model) ?? [];
  if (script === undefined)
    throw new Refusal('not_found', `The model '${model}' does not exist.`, { parameter: 'model' });
  if (list === undefined) return { script, parameters: {} };

  const pairs = list.split(',').map((pair): [string, string] => {
    const [, name, value] = pairShape.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw badModel(`'${pair}' is not of the form name=value`);
    return [name, value];
  });
  const parameters = Object.fromEntries(pairs);
  if (Object.keys(parameters).length < pairs.length) throw badModel('a parameter is given twice');
  return { script, parameters };
}

const badModel = (reason: string): Refusal =>
  new Refusal('invalid_request', `Invalid model name: ${reason}.`, { parameter: 'model' });
