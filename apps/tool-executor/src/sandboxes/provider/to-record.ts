import { z } from 'zod';
import type { CommandRequest } from './sandbox';
import { SandboxError } from './sandbox-error';
import type { SandboxSettings } from './sandbox-settings';
import { CommandRecord } from './command-record';

const maximumCommandBytes = 100_000;
const defaultSession = 'default';

/** Ids and session names are sent to the agent; a command becomes an argument, whose length the kernel limits. */
const requestShape = z.object({
  id: z.string().min(1).max(200),
  session: z.string().min(1).max(100).optional(),
  command: z.string().refine((text) => Buffer.byteLength(text) <= maximumCommandBytes && !text.includes('\0'), {
    message: `a command has at most ${maximumCommandBytes} bytes, none of them zero`,
  }),
});

/** The record of a command that is about to start. Rejects what the agent or the kernel would not take. */
export function toRecord(request: CommandRequest, background: boolean, settings: SandboxSettings): CommandRecord {
  const shape = requestShape.safeParse(request);
  if (!shape.success) throw new SandboxError('invalid_request', z.prettifyError(shape.error));
  const { id, command, session = defaultSession } = shape.data;
  const { run, openInput } = request;
  return new CommandRecord(
    { id, command, session, background, run, openInput },
    {
      timeoutMs: request.timeoutMs ?? (background ? undefined : settings.commandTimeoutMs),
      graceMs: request.graceMs ?? settings.graceMs,
      maxOutputBytes: request.maxOutputBytes ?? (background ? settings.backgroundOutputBytes : settings.outputBytes),
      keepBytes: request.keepBytes ?? settings.keepBytes,
    },
  );
}
