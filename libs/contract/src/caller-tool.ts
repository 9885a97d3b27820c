import { z } from 'zod';
import { argumentsJsonSchema, findArgumentsProblem } from './arguments-schema';
import { callId } from './ids';
import { inlineImage } from './image';
import { textLimits } from './text-limits';
import { effectClass } from './tool-call';

/** Of a tool that names none. */
export const usualCallerTimeoutS = 3_600;
const longestCallerTimeoutS = 30 * 86_400;
const mostCallerTools = 128;
/** Of all tools of a caller together, so that they cannot fill the prompt. */
const allCharacters = 200_000;

const parameters = argumentsJsonSchema.superRefine((schema, context) => {
  const problem = findArgumentsProblem(schema);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** A tool that the program runs which started the run, or another one with a key of its account. */
export const callerTool = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
    .refine((name) => name !== '__proto__', 'is no name of a tool')
    .describe('Not that of a tool or group of tools that there is.'),
  description: z.string().min(1).max(textLimits.toolDescription).describe('What the model reads of it.'),
  parameters: parameters.optional().describe('The JSON Schema of its arguments, an object. Absent: it has none.'),
  timeout_s: z
    .number()
    .int()
    .min(1)
    .max(longestCallerTimeoutS)
    .optional()
    .describe(`How long a call waits for its result, in seconds. Default: ${usualCallerTimeoutS}.`),
  effect_class: effectClass
    .optional()
    .describe(
      'How harmful a second execution of a call is, and with it what a missing result means. Default: `unsafe`.',
    ),
});
export type CallerTool = z.infer<typeof callerTool>;

export const callerTools = z
  .array(callerTool)
  .max(mostCallerTools)
  .superRefine((tools, context) => {
    tools.forEach(({ name }, index) => {
      if (tools.findIndex((tool) => tool.name === name) < index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `tool "${name}" is named twice` });
    });
    if (JSON.stringify(tools).length > allCharacters)
      context.addIssue({ code: 'custom', message: `must have at most ${allCharacters} characters as JSON in all` });
  });

/** A call that waits for a result of its caller. After `expires_at` none is taken any more. */
export const awaitedCall = z.object({
  tool_call_id: callId,
  name: z.string(),
  requested_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
export type AwaitedCall = z.infer<typeof awaitedCall>;

/** Half of a surrogate pair is no text. */
const characters = z
  .string()
  .max(textLimits.block)
  .overwrite((text) => text.toWellFormed());

/** What a caller says of a call: its output, its image, or both; or why it failed. Without the rule, which is `saysSomething`. */
export const callerResultFields = z.strictObject({
  output: characters
    .optional()
    .describe(`What the model reads; more than ${textLimits.toolOutput} characters are left out.`),
  error: characters.min(1).optional().describe('Why the call failed. The model reads it instead of an output.'),
  image: inlineImage.optional().describe('Shown to the model beside the output.'),
});

/** Either why it failed, or what it gave. */
export const saysSomething = ({ output, error, image }: z.infer<typeof callerResultFields>): boolean =>
  (error !== undefined) !== (output !== undefined || image !== undefined);
export const saysNothing = { path: ['output'], message: 'give an output, an image, or both; or else an error' };

export const callerResult = callerResultFields.refine(saysSomething, saysNothing);
export type CallerResult = z.infer<typeof callerResult>;
