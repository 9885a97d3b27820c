import { setTimeout as delay } from 'node:timers/promises';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { createSandboxProvider } from '../create-sandbox-provider';
import type {
  CommandListeners,
  CommandOutcome,
  CommandRequest,
  ProcessView,
  Sandbox,
  SandboxProvider,
} from '../sandbox';
import { removeTree } from '../embedded/files/remove-tree';
import { type GivenSandboxSettings, sandboxSettings, type SandboxSettings } from '../sandbox-settings';
import type { EgressRules } from '../embedded/egress/destination';

/** A provider on a throw-away root, with real bubblewrap. A machine without it fails the tests: isolation is not optional. */
export class SandboxFixture {
  provider: SandboxProvider;
  /** What was logged, without its data. */
  readonly said: string[] = [];
  private readonly log = {
    info: (_: object, text: string) => void this.said.push(text),
    warn: (_: object, text: string) => void this.said.push(text),
  };

  private constructor(
    readonly root: string,
    readonly settings: SandboxSettings,
    private readonly egress: Partial<EgressRules>,
  ) {
    this.provider = createSandboxProvider(settings, this.log, egress);
  }

  static async open(
    settings: Partial<GivenSandboxSettings> = {},
    egress: Partial<EgressRules> = {},
  ): Promise<SandboxFixture> {
    const root = await mkdtemp(join(tmpdir(), 'sandbox-spec-'));
    await chmod(root, 0o711);
    const parsed = sandboxSettings.parse({ root, bubblewrapPath: process.env['BWRAP_PATH'] ?? 'bwrap', ...settings });
    return new SandboxFixture(root, parsed, egress);
  }

  sandbox(threadId = `thr_${randomUUID()}`): Promise<Sandbox> {
    return this.provider.get(threadId);
  }

  /** As a restart of the program would: everything stops, and a new provider finds the same root. */
  async restart(): Promise<void> {
    await this.provider.close();
    this.provider = createSandboxProvider(this.settings, this.log, this.egress);
  }

  async close(): Promise<void> {
    await this.provider.close();
    await removeTree(this.root);
  }
}

let commands = 0;

/** Runs a command under an id of its own. */
export function run(
  sandbox: Sandbox,
  command: string,
  request: Partial<CommandRequest> & CommandListeners = {},
): Promise<CommandOutcome> {
  const { output, signal, ...rest } = request;
  commands += 1;
  const listeners = { ...(output ? { output } : {}), ...(signal ? { signal } : {}) };
  return sandbox.exec({ id: `call_${commands}`, command, timeoutMs: 20_000, graceMs: 300, ...rest }, listeners);
}

/** Waits until the job of a session has written the text. */
export async function readUntil(
  sandbox: Sandbox,
  session: string,
  { text, offset = 0 }: { text: string; offset?: number },
): Promise<ProcessView> {
  for (;;) {
    const view = await sandbox.read(session, offset);
    if (view.output.includes(text)) return view;
    if (!view.running) throw new Error(`the job ended without saying ${text}: ${view.output}`);
    await delay(10);
  }
}
