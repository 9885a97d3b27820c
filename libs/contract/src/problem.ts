import { z } from 'zod';

/** An RFC 9457 problem: the same object in HTTP errors, socket acks and `run.failed`. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: z.string(),
  detail: z.string().optional(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
});
export type Problem = z.infer<typeof problem>;

export const runError = z.object({ code: z.string(), message: z.string() });
export type RunError = z.infer<typeof runError>;

/** Why a run failed. Facts of older versions have only `code` and `message`; `message` equals `detail`. */
export const runFailure = problem.omit({ code: true, errors: true }).partial().extend(runError.shape);
export type RunFailure = z.infer<typeof runFailure>;

/** The failure as a problem with the status 500. */
export const toFailure = ({ code, message }: RunError): Required<RunFailure> => ({
  type: `urn:rondo:problem:${code}`,
  title: 'The run failed',
  status: 500,
  code,
  detail: message,
  message,
});
