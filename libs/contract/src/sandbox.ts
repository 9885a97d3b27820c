import { z } from 'zod';

/** What a sandbox does, as its executor says. The API describes each. */
export const sandboxState = z.enum(['awake', 'asleep', 'archived', 'deleted', 'absent']);

/** What a person runs in a sandbox, outside of any run. The limits are those of the tool `execute_command`. */
export const requestedCommand = z.strictObject({
  command: z.string().min(1).max(100_000).describe('For bash. Its standard input is empty.'),
  cwd: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('Where it runs. Absent: where the last command that a person ran there ended; at first `/workspace`.'),
  timeout_s: z.number().int().min(1).max(600).default(60).describe('After so long it is killed.'),
});
export type RequestedCommand = z.infer<typeof requestedCommand>;

export const commandEnding = z
  .enum(['exited', 'timed_out', 'output_limit', 'out_of_memory', 'killed', 'not_started', 'unknown'])
  .describe(
    '`exited`: by itself. `timed_out`, `output_limit`, `out_of_memory`: killed at a limit. `killed`: otherwise, for example because its ' +
      'sandbox was stopped. `not_started`: it did not run. `unknown`: its sandbox or executor was lost, and so was what it did.',
  );

const started = z.object({ type: z.literal('command.started'), command_id: z.string() });
const output = z.object({
  type: z.literal('command.output'),
  text: z.string().describe('What it printed since, on both of its streams, with the colours of a terminal.'),
});
const ended = z.object({
  type: z.literal('command.ended'),
  ending: commandEnding,
  exit_code: z.number().int().nullable().describe('Null unless it has exited.'),
  cwd: z.string().nullable().describe('Where the next command runs. Null if that is not known.'),
  duration_ms: z.number().int().nullable(),
  output_end: z
    .string()
    .nullable()
    .describe('The end of what it printed, where that was more than is sent as it comes: 256 Ki characters.'),
  detail: z.string().nullable().describe('One sentence more about an ending that needs it.'),
});

/** What is seen of such a command: that it started, what it prints, and last how it ended. */
export const commandEvent = z.discriminatedUnion('type', [started, output, ended]);
export type CommandEvent = z.infer<typeof commandEvent>;
