import { z } from 'zod';
import { callId } from './ids';
import { textLimits } from './text-limits';

/** What a program of `run_program` may do, whatever it is written to do. */
export const programLimits = {
  /** Characters of its source. */
  source: 50_000,
  /** Calls of tools in all. */
  calls: 200,
  /** Calls that it may wait for at a time. */
  callsAtOnce: 20,
  /** Characters of the answers to all of its calls: they are sent along each time that it is run again. */
  answers: 1_000_000,
} as const;

/** Which call of which program it is. */
export const placeInProgram = z.object({
  call_id: callId,
  /** 0 is the first call that the program made. */
  position: z.number().int().nonnegative(),
  /** Of the name and the arguments as the program wrote them: a program that is run again must ask for the same. */
  digest: z.string().max(64),
});
export type PlaceInProgram = z.infer<typeof placeInProgram>;

/** A call that a program asks for and waits for. */
export const programRequest = placeInProgram.omit({ call_id: true }).extend({
  name: z.string().max(textLimits.toolName),
  arguments: z.record(z.string(), z.unknown()),
});
export type ProgramRequest = z.infer<typeof programRequest>;

/** What a program is told of a call that it has made. */
export const programAnswer = placeInProgram.pick({ digest: true }).extend({
  success: z.boolean(),
  output: z.string(),
  error: z.string().exactOptional(),
  exit_code: z.number().int().exactOptional(),
});
export type ProgramAnswer = z.infer<typeof programAnswer>;
