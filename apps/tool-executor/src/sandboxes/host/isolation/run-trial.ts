import { randomUUID } from 'node:crypto';
import { bootAgent } from '../agent/boot-agent';
import { HostSandbox } from '../host-sandbox';
import type { Launcher } from '../agent/launcher';
import type { IsolationSite } from './isolation';
import { toMessage } from '@rondo/platform';

/** Runs a command in a sandbox of its own. Undefined when it succeeded, else why it did not. */
export async function runTrial(
  launcher: Launcher,
  { workspaces, settings, egress }: IsolationSite,
  command = 'true',
): Promise<string | undefined> {
  const threadId = `probe-${randomUUID()}`;
  const sandbox = new HostSandbox(threadId, settings, {
    boot: async () => bootAgent(launcher, await workspaces.open(threadId), settings.bootTimeoutMs),
    usage: (watched) => workspaces.usage(threadId, watched),
  });
  try {
    const outcome = await sandbox.exec({ id: 'probe', command });
    return outcome.exitCode === 0 ? undefined : `A trial command ended with ${outcome.ending}. ${outcome.output}`;
  } catch (error) {
    return toMessage(error);
  } finally {
    egress.remove(threadId);
    try {
      await sandbox.stop();
    } finally {
      await workspaces.remove(threadId);
    }
  }
}
