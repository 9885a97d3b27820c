import { setTimeout as delay } from 'node:timers/promises';
import type { CommandListeners, CommandOutcome, CommandRequest, ProcessView, Sandbox } from '../provider/sandbox';

let commands = 0;

/** Runs a command under a new id. */
export function run(
  sandbox: Sandbox,
  command: string,
  request: Partial<CommandRequest> & CommandListeners = {},
): Promise<CommandOutcome> {
  const { output, signal, ...rest } = request;
  commands += 1;
  const listeners = { ...(output ? { output } : {}), ...(signal ? { signal } : {}) };
  return sandbox.exec({ id: `call_${commands}`, command, timeoutMs: 60_000, graceMs: 300, ...rest }, listeners);
}

/** Waits until the background job of a session has written the text. */
export async function readUntil(
  sandbox: Sandbox,
  session: string,
  { text, offset = 0 }: { text: string; offset?: number },
): Promise<ProcessView> {
  for (;;) {
    const view = await sandbox.read(session, offset);
    if (view.output.includes(text)) return view;
    if (!view.running) {
      throw new Error(`the job ended without writing ${text}: ${JSON.stringify(view.outcome ?? view.output)}`);
    }
    await delay(10);
  }
}
