import { textLimits } from '@rondo/contract';
import { CodeContext } from './code-context';
import { parseObject } from './parse-object';

/**
 * Calls that a model of native tools has printed into its text, because its server does not know the notation of its
 * template: Hermes and Qwen, GLM, Llama, Mistral, Kimi, DeepSeek, and Harmony.
 */
export interface PrintedCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

export interface PrintedReply {
  readonly calls: readonly PrintedCall[];
  /** The text around the calls. */
  readonly text: string;
  /** The calls end the reply, so that they were meant to be made. */
  readonly endsWithCall: boolean;
}

/** Words by which printed calls begin. Nothing else begins one. */
export const printedCallOpenings = [
  '<tool_call>',
  '<function=',
  '<|python_tag|>',
  '[TOOL_CALLS]',
  '<|tool_calls_section_begin|>',
  '<|tool_call_begin|>',
  '<｜tool▁calls▁begin｜>',
  '<｜tool▁call▁begin｜>',
  '<|start|>assistant<|channel|>commentary',
  '<|channel|>commentary',
] as const;

/** Words by which they end. A call in the notation of Mistral ends with the reply. */
const endings = [
  '</tool_call>',
  '</function>',
  '<|eom_id|>',
  '<|eot_id|>',
  '<|tool_calls_section_end|>',
  '<|tool_call_end|>',
  '<｜tool▁calls▁end｜>',
  '<｜tool▁call▁end｜>',
  '<|call|>',
];

const toPattern = (words: readonly string[]): RegExp =>
  new RegExp(words.map((word) => word.replaceAll(/[[\]|]/g, '\\$&')).join('|'), 'g');

const openings: ReadonlySet<string> = new Set(printedCallOpenings);
const anyOpening = toPattern(printedCallOpenings);
const openingOrEnding = toPattern([...printedCallOpenings, ...endings]);

/** The beginning of a call that is printed, as far as it has arrived: in prose other words follow the opening. */
const callBeginning =
  /^(?:<tool_call>\s*(?:$|\{|<function=|[\w.-]+\s*(?:$|<))|\[TOOL_CALLS\]\s*(?:$|\[|[\w.-]+\s*(?:$|[[{]))|<(?!tool_call>))/;

interface Notation {
  /** Matches a whole call, or several, where it stands; `y`, so that it is tried at one place. */
  readonly form: RegExp;
  readonly read: (found: RegExpExecArray) => readonly (PrintedCall | undefined)[];
}

const notations: readonly Notation[] = [
  { form: /<tool_call>([^]*?)(?:<\/tool_call>|$)/y, read: ([, body = '']) => [readBody(body.trim())] },
  { form: /<function=[^]*?(?:<\/function>|$)/y, read: ([body]) => [readBody(body)] },
  { form: /<\|python_tag\|>([^]*?)(?:<\|eom_id\|>|<\|eot_id\|>|$)/y, read: ([, body = '']) => readList(body.trim()) },
  { form: /\[TOOL_CALLS\]\s*(\[[^]*\])\s*$/y, read: ([, body = '']) => readList(body) },
  {
    form: /\[TOOL_CALLS\]\s*([\w.-]+)\s*(?:\[ARGS\]\s*)?(\{[^]*?\})\s*(?=\[TOOL_CALLS\]|$)/y,
    read: ([, name = '', args = '']) => [toPrintedCall(name, args)],
  },
  {
    form: /<\|tool_calls_section_begin\|>([^]*?)(?:<\|tool_calls_section_end\|>|$)/y,
    read: ([, body = '']) => readKimi(body),
  },
  { form: /<\|tool_call_begin\|>[^]*?(?:<\|tool_call_end\|>|$)/y, read: ([body]) => readKimi(body) },
  { form: /<｜tool▁calls▁begin｜>([^]*?)(?:<｜tool▁calls▁end｜>|$)/y, read: ([, body = '']) => readDeepSeek(body) },
  { form: /<｜tool▁call▁begin｜>[^]*?(?:<｜tool▁call▁end｜>|$)/y, read: ([body]) => readDeepSeek(body) },
  {
    form: /(?:<\|start\|>assistant)?<\|channel\|>commentary\s+to=functions\.([\w.-]+)[^<]*(?:<\|constrain\|>\s*json\s*)?<\|message\|>([^]*?)(?:<\|call\|>|$)/y,
    read: ([, name = '', args = '']) => [toPrintedCall(name, args)],
  },
];

/**
 * Reads a whole text. A call in a block of code is shown, not made; what cannot be read as a call is text. `before` is what
 * stands before the text. The cost is linear: after so many openings the rest is text.
 */
export function readPrintedCalls(written: string, before = ''): PrintedReply {
  const calls: PrintedCall[] = [];
  const code = new CodeContext();
  code.add(before);
  let text = '';
  let end = 0;
  let looked = 0;
  let attempts = 0;
  for (const { index: at } of written.matchAll(anyOpening)) {
    if (at < end) continue;
    if ((attempts += 1) > maxAttempts) break;
    code.add(written.slice(looked, at));
    looked = at;
    const read = code.isInCode ? undefined : readAt(written, at);
    if (!read) continue;
    calls.push(...read.calls);
    text += written.slice(end, at);
    end = at + read.length;
    looked = end;
  }
  const rest = written.slice(end);
  return { calls, text: (text + rest).trim(), endsWithCall: calls.length > 0 && rest.trim() === '' };
}

const maxAttempts = 2 * textLimits.callsInReply;

/** Follows a text that arrives in pieces, and knows whether it ends within a printed call, whose arguments may be any text. */
export class PrintedCallPosition {
  private added = '';
  /** The end of the text, which may be the beginning of a word. */
  private tail = '';
  /** The text from the opening of the current call on. Its beginning says whether a call is printed or only spoken of. */
  private opened: string | undefined;

  add(text: string): void {
    this.added += text;
  }

  get isInCall(): boolean {
    this.look();
    return this.opened !== undefined && callBeginning.test(this.opened);
  }

  private look(): void {
    const text = this.tail + this.added;
    if (this.opened !== undefined) this.opened = (this.opened + this.added).slice(0, maxBeginning);
    let end = 0;
    for (const { 0: word, index } of text.matchAll(openingOrEnding)) {
      this.opened = openings.has(word) ? text.slice(index, index + maxBeginning) : undefined;
      end = index + word.length;
    }
    this.tail = text.slice(Math.max(end, text.length - maxBeginning));
    this.added = '';
  }
}

/** Longer than any opening with the beginning of its call, and than any ending. */
const maxBeginning = 100;

function readAt(written: string, at: number): { calls: readonly PrintedCall[]; length: number } | undefined {
  for (const { form, read } of notations) {
    form.lastIndex = at;
    const found = form.exec(written);
    const calls = found ? read(found) : [];
    const whole = calls.filter((call) => call !== undefined);
    if (found && whole.length > 0 && whole.length === calls.length) return { calls: whole, length: found[0].length };
  }
  return undefined;
}

/** `{"name", "arguments"}`, `<function=name>…`, or a name with `<arg_key>` elements. */
function readBody(body: string): PrintedCall | undefined {
  if (body.startsWith('{')) return readList(body)[0];
  const xml = /^<function=([^>\s]+)>([^]*?)(?:<\/function>)?$/.exec(body);
  if (xml?.[1] !== undefined) {
    const inner = (xml[2] ?? '').trim();
    if (inner.startsWith('{')) return toPrintedCall(xml[1], inner);
    return { name: xml[1], arguments: pairs(inner, '</parameter>', /<parameter=([^<>\s]+)>([^]*?)<\/parameter>/g) };
  }
  const glm = /^([\w.-]+)\s*(<arg_key>[^]*)?$/.exec(body);
  return glm?.[1] === undefined
    ? undefined
    : {
        name: glm[1],
        arguments: pairs(
          glm[2] ?? '',
          '</arg_value>',
          /<arg_key>([^<]*)<\/arg_key>\s*<arg_value>([^]*?)<\/arg_value>/g,
        ),
      };
}

/**
 * Values are text; the schema of the tool makes of it what it is. The text after the last closing tag is not searched, so
 * that each opening tag finds a closing one.
 */
const pairs = (text: string, closing: string, each: RegExp): Record<string, string> =>
  Object.fromEntries(
    [...text.slice(0, text.lastIndexOf(closing) + closing.length).matchAll(each)].map(([, key = '', value = '']) => [
      key.trim(),
      value.replace(/^\n|\n$/g, ''),
    ]),
  );

/** One object or a list of them, each with the name and the arguments of a call. */
function readList(text: string): readonly (PrintedCall | undefined)[] {
  const parsed = parseObject(`{"calls":${text.replace(/;\s*$/, '')}}`);
  return 'value' in parsed ? [parsed.value['calls']].flat().map(callIn) : [undefined];
}

function callIn(value: unknown): PrintedCall | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const given = value as Record<string, unknown>; // an object that is no array
  const { name, arguments: args = given['parameters'] ?? {} } = given;
  if (typeof name !== 'string') return undefined;
  if (typeof args === 'string') return toPrintedCall(name, args);
  return typeof args === 'object' && args !== null && !Array.isArray(args)
    ? { name, arguments: args as Record<string, unknown> }
    : undefined;
}

function toPrintedCall(name: string, args: string): PrintedCall | undefined {
  const plain = withoutFence(args.trim());
  const parsed = plain === '' ? { value: {} } : parseObject(plain);
  return 'value' in parsed ? { name, arguments: parsed.value } : undefined;
}

const withoutFence = (text: string): string =>
  (text.endsWith('```') ? text.slice(0, -3) : text).replace(/^```\w*/, '').trim();

const readKimi = (body: string): readonly (PrintedCall | undefined)[] =>
  [
    ...body.matchAll(
      /<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>([^]*?)(?:<\|tool_call_end\|>|$)/g,
    ),
  ].map(([, name = '', args = '']) => toPrintedCall(name, args));

const readDeepSeek = (body: string): readonly (PrintedCall | undefined)[] =>
  [
    ...body.matchAll(
      /<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>([\w.-]+)\s|([\w.-]+)<｜tool▁sep｜>)([^]*?)(?:<｜tool▁call▁end｜>|$)/g,
    ),
  ].map(([, first, second, args = '']) => toPrintedCall(first ?? second ?? '', args));
