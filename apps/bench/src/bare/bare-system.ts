import { nowMs } from '../clock';
import { type MeasuredSystem, type SubmittedRun, type Task, newTag } from '../measured-system';
import { post } from '../http';
import { Child } from '../machine/child';
import { ProcessTable } from '../machine/process-usage';
import { toModelName } from '../model/plan';
import { tagInput } from '../model/request';
import type { BareRequest } from './bare-server';

export class BareSystem implements MeasuredSystem {
  readonly name = 'bare';

  private constructor(private readonly process: Child<never, never>) {}

  static async start(file: string, modelUrl: string): Promise<BareSystem> {
    return new BareSystem(await Child.start(file, [`${modelUrl}/v1`]));
  }

  async runTask({ plan, threadId, keep, onText }: Task): Promise<SubmittedRun> {
    const tag = newTag();
    const thread = threadId ?? (keep ? tag : '');
    const request: BareRequest = { model: toModelName(plan), input: tagInput(tag), thread };
    const submittedMs = nowMs();
    await post(this.process.url, { body: request, onText: onText ? linesTo(onText) : () => undefined });
    return { tag, threadId: thread, submittedMs };
  }

  cpuMs() {
    return { loop: ProcessTable.read().cpuMs(this.process.pid) };
  }

  stop(): Promise<void> {
    return this.process.stop();
  }
}

/** Parses the events that `bare-server.ts` sends. */
function linesTo(onText: (text: string) => void): (part: string) => void {
  let rest = '';
  return (part) => {
    const lines = (rest + part).split('\n\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onText((JSON.parse(line.slice('data: '.length)) as { text: string }).text);
  };
}
