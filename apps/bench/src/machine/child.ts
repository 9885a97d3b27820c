import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A helper process of the benchmark. Its first message is its URL; then it answers each command with one report, in order. */
export class Child<Command extends string, Report> {
  private constructor(
    private readonly process: ChildProcess,
    readonly pid: number,
    readonly url: string,
  ) {}

  static async start<Command extends string, Report>(
    file: string,
    args: readonly string[] = [],
    execArgv: readonly string[] = [],
  ): Promise<Child<Command, Report>> {
    const child = fork(file, args, { execArgv: [...execArgv], serialization: 'advanced' });
    const [url] = (await once(child, 'message')) as [string];
    if (child.pid === undefined) throw new Error(`${file} could not be started`);
    return new Child(child, child.pid, url);
  }

  async ask(command: Command): Promise<Report> {
    this.process.send(command);
    const [report] = (await once(this.process, 'message')) as [Report]; // both ends are built from the same source
    return report;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.disconnect();
    await ended;
  }
}
