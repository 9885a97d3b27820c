import type { ToolDefinition } from '../tools/define-tool';
import { parametersOf } from '../tools/tool-parameters';
import type { ReplyDraft } from './reply-draft';
import { TextBuilder } from './text-builder';
import { readValue } from './typed-value';

/** A call while it is read. Only the first thing that is wrong with it is told. */
export class CallDraft {
  private readonly values = new Map<string, unknown>();
  private problem: string | undefined;
  private readonly written = new TextBuilder();

  constructor(
    private readonly reply: ReplyDraft,
    private readonly call: { name: string; tool: ToolDefinition | undefined; written: string; position: number },
  ) {
    this.written.add(call.written);
  }

  /** More of it, as the model writes it. */
  readonly append = (text: string): void => {
    this.written.add(text);
    this.reply.show({ type: 'call_arguments', index: this.reply.calls.length, name: this.call.name, text });
  };

  /** A value as written; the tool's schema says what it is. */
  set(parameter: string, text: string): void {
    if (this.values.has(parameter)) {
      this.fail(`The parameter "${parameter}" is given twice.`);
      return;
    }
    const known = this.call.tool && parametersOf(this.call.tool).get(parameter);
    const read = readValue(text, known?.types);
    if ('value' in read) this.values.set(parameter, read.value);
    else this.fail(`The parameter "${parameter}" ${read.problem}`);
  }

  /** `reason` is a sentence for the model. */
  fail(reason: string): void {
    this.problem ??= reason;
  }

  close(): void {
    const { name, position } = this.call;
    this.reply.calls.push({
      index: this.reply.calls.length,
      name,
      arguments: this.problem === undefined ? Object.fromEntries(this.values) : {},
      position,
      ...(this.problem !== undefined && { malformed: { reason: this.problem, written: this.written.toString() } }),
    });
  }
}
