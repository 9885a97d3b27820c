import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of the bench's own, which answers every message with one, in order. Its first word is its address. */
export class Child<Order extends string, Report> {
  private constructor(
    private readonly process: ChildProcess,
    readonly pid: number,
    readonly url: string,
  ) {}

  static async start<Order extends string, Report>(
    file: string,
    args: readonly string[] = [],
    execArgv: readonly string[] = [],
  ): Promise<Child<Order, Report>> {
    const child = fork(file, args, { execArgv: [...execArgv], serialization: 'advanced' });
    const [url] = (await once(child, 'message')) as [string];
    if (child.pid === undefined) throw new Error(`${file} could not be started`);
    return new Child(child, child.pid, url);
  }

  async ask(order: Order): Promise<Report> {
    this.process.send(order);
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
