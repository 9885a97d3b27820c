import { nowMs } from '../clock';
import { type Contender, type Performance, type Task, newTag } from '../contender';
import { post } from '../http';
import { Child } from '../machine/child';
import { ProcessTable } from '../machine/process-usage';
import { modelNameOf } from '../model/plan';
import { taggedInput } from '../model/request';
import type { BareOrder } from './bare-server';

export class BareContender implements Contender {
  readonly name = 'bare';

  private constructor(private readonly process: Child<never, never>) {}

  static async start(file: string, modelUrl: string): Promise<BareContender> {
    return new BareContender(await Child.start(file, [`${modelUrl}/v1`]));
  }

  async perform({ plan, threadId, keep, onText }: Task): Promise<Performance> {
    const tag = newTag();
    const thread = threadId ?? (keep ? tag : '');
    const order: BareOrder = { model: modelNameOf(plan), input: taggedInput(tag), thread };
    const submittedMs = nowMs();
    await post(this.process.url, { body: order, onText: onText ? linesTo(onText) : () => undefined });
    return { tag, threadId: thread, submittedMs };
  }

  cpuMs() {
    return { loop: ProcessTable.read().cpuMs(this.process.pid) };
  }

  stop(): Promise<void> {
    return this.process.stop();
  }
}

/** Reads the events of the loop's front. */
function linesTo(onText: (text: string) => void): (part: string) => void {
  let rest = '';
  return (part) => {
    const lines = (rest + part).split('\n\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onText((JSON.parse(line.slice('data: '.length)) as { text: string }).text);
  };
}
