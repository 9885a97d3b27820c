import { readJson } from '@rondo/contract';
import { z } from 'zod';
import type { SandboxCommands } from '../provider/sandbox-commands';
import { CommandRecord } from '../provider/command-record';
import { DaytonaCommand, toKey } from './daytona-command';
import type { DaytonaShell } from './daytona-shell';

const text = z.string().max(100_000);
const count = z.number().int().positive();

/** What `toNote` has written, unless code in the sandbox has changed it. */
const note = z.object({
  identity: z.object({
    id: text,
    session: text,
    command: text,
    background: z.literal(true),
    run: text.optional(),
    openInput: z.boolean().optional(),
  }),
  limits: z.object({
    timeoutMs: count.optional(),
    graceMs: count.max(60_000),
    maxOutputBytes: count.max(256 * 1024 * 1024),
    keepBytes: count.max(1024 * 1024),
  }),
});

/** Attaches to the background jobs of a session, or of all (`*`), that another executor has started in the sandbox. */
export async function discoverJobs(
  session: string,
  { commands, shell, stop }: { commands: SandboxCommands; shell: DaytonaShell; stop: () => Promise<unknown> },
): Promise<void> {
  const answer = await shell.run('job', { session: session === '*' ? session : toKey(session) });
  for (const line of answer.split('\n')) {
    const parsed = note.safeParse(readJson(Buffer.from(line, 'base64').toString()));
    if (!parsed.success || commands.ledger.job(parsed.data.identity.session)) continue;
    const { identity, limits } = parsed.data;
    const record = new CommandRecord(identity, { ...limits, timeoutMs: limits.timeoutMs });
    const command = new DaytonaCommand(record, shell, stop);
    const started = command.attach().then(() => command);
    commands.ledger.add(identity.id, { record, started });
    await started;
  }
}
