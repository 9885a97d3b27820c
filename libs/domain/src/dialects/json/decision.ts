import type { ToolDefinition } from '../../tools/define-tool';
import { listParameters } from '../../tools/tool-parameters';
import { parseObject } from '../parse-object';
import type { ReplyDraft } from '../reply-draft';
import { TextBuilder } from '../text-builder';

/** One JSON object of a reply while it is read: a call, or an answer with the decision to call nothing. */
export class Decision {
  name: string | undefined;
  problem: string | undefined;
  /** A response that came before the decision, as JSON; it could not be shown while it streamed. */
  response: string | undefined;
  private parameters: TextBuilder | undefined;
  private unshown = '';

  constructor(
    private readonly reply: ReplyDraft,
    private readonly tools: ReadonlyMap<string, ToolDefinition>,
  ) {}

  get isNone(): boolean {
    return this.name === 'none';
  }

  setName(text: string): void {
    const name = unquote(text);
    if (this.name !== undefined) this.problem ??= 'The tool is named twice.';
    else if (name === undefined) this.problem ??= '"tool_name" must be a string.';
    this.name ??= name ?? 'unknown';
    this.showParameters();
  }

  beginParameters(): void {
    if (this.parameters !== undefined) this.problem ??= '"parameters" is given twice.';
    else this.parameters = new TextBuilder();
  }

  readonly addParameters = (text: string): void => {
    this.parameters?.add(text);
    this.unshown += text;
    this.showParameters();
  };

  /** Enters the call into the reply; `written` is the whole object. */
  call(written: string): void {
    const { reply, name = 'unknown' } = this;
    const read = this.problem === undefined ? this.readArguments(name) : { reason: this.problem };
    reply.content.interrupt();
    reply.calls.push({
      index: reply.calls.length,
      name,
      arguments: 'value' in read ? read.value : {},
      position: reply.content.blocks.length,
      ...('reason' in read && { malformed: { ...read, written } }),
    });
  }

  /** Missing parameters mean none, if the tool requires none. */
  private readArguments(name: string): ReturnType<typeof parseObject> {
    const written = this.parameters?.toString() ?? 'null';
    if (written !== 'null') return parseObject(written);

    const tool = this.tools.get(name);
    if (!tool || tool.input.safeParse({}).success) return { value: {} };
    const required = [...listParameters(tool).values()].filter((parameter) => parameter.required);
    return { reason: `"parameters" is missing; ${name} needs ${required.map(({ name: key }) => key).join(', ')}.` };
  }

  /** Parameters are shown once the tool is known. */
  private showParameters(): void {
    const { reply, name, unshown: text } = this;
    if (name === undefined || this.isNone) return;
    reply.show({ type: 'call_arguments', index: reply.calls.length, name, text });
    this.unshown = '';
  }
}

/** The string of a JSON text; undefined if the text is no JSON string. */
export function unquote(text: string): string | undefined {
  const parsed = parseObject(`{"string":${text}}`);
  return 'value' in parsed && typeof parsed.value['string'] === 'string' ? parsed.value['string'] : undefined;
}
