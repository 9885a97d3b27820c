import { z } from 'zod';
import { SandboxError } from '../provider/sandbox-error';

const described = z.object({ message: z.string(), statusCode: z.number().optional() });

/** What came of a request to Daytona, without the request itself: that contains the API key. */
export interface DaytonaFailure {
  /** Missing where there was no answer. */
  readonly status: number | undefined;
  readonly message: string;
}

const longestMessage = 500;

export function toFailure(error: unknown, apiKey: string): DaytonaFailure {
  const known = described.safeParse(error);
  const message = known.success ? known.data.message : 'Daytona could not be asked.';
  return {
    status: known.success ? known.data.statusCode : undefined,
    message: message.replaceAll(apiKey, '[redacted]').slice(0, longestMessage),
  };
}

/** Daytona is away, overloaded, or changing the sandbox right now: the same request may succeed a moment later. */
export const mayPass = ({ status }: DaytonaFailure): boolean =>
  status === undefined || status === 408 || status === 409 || status === 429 || status >= 500;

export const isNotFound = ({ status }: DaytonaFailure): boolean => status === 404 || status === 410;

/** Fit for the model to read: it says whose failure it is, and what to do about it. */
export function unavailable({ status, message }: DaytonaFailure): SandboxError {
  return new SandboxError('unavailable', `${toExplanation(status)} ${message}`);
}

function toExplanation(status: number | undefined): string {
  if (status === 401 || status === 403) return 'Daytona refuses the API key of this deployment.';
  if (status === 402 || status === 429) return 'The account at Daytona has reached a limit. Try again later.';
  return 'Daytona has no sandbox for this thread at the moment. Try again later.';
}
