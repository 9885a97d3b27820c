import type { Message, Opaque } from '@rondo/contract';
import { pairCalls } from '../context/pair-calls';
import { memoize } from '../memoize';
import type { ModelMessage, ModelTool } from '../models/model';
import { type ToolDefinition, byName, shownSchema } from '../tools/define-tool';
import type {
  DecodedCall,
  DecodedReply,
  Dialect,
  DialectSettings,
  ReplyChunk,
  ReplyDecoder,
  ReplyPiece,
  ReplyVerdict,
  ToolOffer,
} from './dialect';
import { ObjectEnd, parseObject } from './parse-object';
import { PrintedCallPosition, type PrintedReply, printedCallOpenings, readPrintedCalls } from './printed-calls';
import { ReplyContent } from './reply-content';
import { TextBuilder } from './text-builder';
import { type Reading, TextSource } from './text-source';
import { WordTrie } from './word-trie';

/** The tool calls of the provider's API: nothing to add to the prompt, and only the JSON of arguments to parse. */
export const nativeDialect = {
  name: 'native',
  offer: (tools: readonly ToolDefinition[]): ToolOffer => ({ instructions: '', tools: listModelTools(tools) }),
  encode: (conversation: readonly Message[]): readonly ModelMessage[] => pairCalls(conversation),
  decoder: (tools: readonly ToolDefinition[], settings?: Pick<DialectSettings, 'printed_calls'>): ReplyDecoder =>
    new NativeDecoder(byName(tools), settings?.printed_calls ?? false),
} satisfies Dialect;

/** The same objects for the same tools in all runs: adapters find by them what they have made of a tool before. */
const listModelTools = memoize((tools: readonly ToolDefinition[]): readonly ModelTool[] => tools.map(toModelTool));

const toModelTool = memoize((tool: ToolDefinition): ModelTool => ({
  name: tool.name,
  description: tool.description,
  schema: shownSchema(tool),
}));

/**
 * A call is complete as soon as its arguments are one whole object, so that it can be sent while the reply continues; a call
 * without arguments is complete at the end of the reply. What follows the object is no part of the call: it is reported as
 * a malformed one.
 *
 * Calls that the model prints into its text are read at its end, if its facts say that it does that; until then the text
 * from the first of them on is held back. Otherwise a reply that ends with such a call is malformed.
 */
class NativeDecoder implements ReplyDecoder {
  calls: readonly DecodedCall[] = [];
  readonly isFull = false;
  private readonly reply = new ReplyContent();
  private readonly written = new Map<number, WrittenCall>();
  private readonly source = new TextSource();
  private readonly held = new TextBuilder();
  private readonly position = new PrintedCallPosition();
  private readonly reading = this.readText();
  private shown = '';

  constructor(
    private readonly tools: ReadonlyMap<string, ToolDefinition>,
    private readonly readsPrinted: boolean,
  ) {
    this.reading.next();
  }

  get content(): DecodedReply['content'] {
    return this.reply.blocks;
  }

  get isInCall(): boolean {
    return this.position.isInCall;
  }

  push(chunk: ReplyChunk): readonly ReplyPiece[] {
    switch (chunk.type) {
      case 'text':
        if (!this.readsPrinted) this.showText(chunk.text);
        else if (this.source.feed(chunk.text)) this.reading.next(true);
        return this.takeShown();
      case 'reasoning':
        this.reply.add(chunk.type, chunk.text);
        return [{ type: chunk.type, text: chunk.text }];
      case 'reasoning_end':
        this.reply.seal(chunk);
        return [];
      case 'call_start':
        this.written.set(chunk.index, { ...beginning(chunk), written: '', surplus: '', end: new ObjectEnd() });
        return [];
      case 'call_arguments':
        return this.extendCall(chunk.index, chunk.text);
      case 'call_end':
        this.endCall(chunk);
        return [];
    }
  }

  end(isCutOff = false): DecodedReply {
    const written = [...this.written].sort(([a], [b]) => a - b).map(([, call]) => call);
    const isCut = (index: number) => isCutOff && index === written.length - 1;
    const calls = written.map((call, index) => this.calls[index] ?? decodeCall(index, call, isCut(index)));
    const surplus = written.filter((call, index) => hasSurplus(call) && !calls[index]?.malformed).map(readSurplus);
    this.calls = [...calls, ...surplus.map((call, index) => ({ index: calls.length + index, ...call }))];
    const rest = this.readsPrinted ? this.endPrinted() : [];
    const isPrintedCall = this.calls.length === 0 && this.readPrinted(this.textSoFar())?.endsWithCall === true;
    return { content: this.content, calls: this.calls, rest, ...(isPrintedCall && { verdict: printed }) };
  }

  /** Shows the text up to the first printed call and holds back the rest. */
  private *readText(): Reading {
    yield* this.source.passUntil(openings, this.showText);
    yield* this.source.passAll(this.hold);
  }

  private readonly hold = (text: string): void => {
    this.held.add(text);
    this.position.add(text);
  };

  private readonly showText = (text: string): void => {
    this.reply.add('text', text);
    this.shown += text;
  };

  private takeShown(): ReplyPiece[] {
    const text = this.shown;
    this.shown = '';
    return text === '' ? [] : [{ type: 'text', text }];
  }

  private endPrinted(): ReplyPiece[] {
    this.reading.next(false);
    const held = this.held.toString();
    const found = this.written.size === 0 ? this.readPrinted(held, this.textSoFar()) : undefined;
    this.showText(found?.text ?? held);
    const rest = this.takeShown();
    if (!found) return rest;
    this.calls = found.calls.map((call, index) => ({ index, ...call }));
    return [
      ...rest,
      ...this.calls.map(({ index, name, arguments: args }) => ({
        type: 'call_arguments' as const,
        ...{ index, name, text: JSON.stringify(args) },
      })),
    ];
  }

  private textSoFar(): string {
    return this.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  }

  /** Undefined where there is none, or only ones of tools that the run does not have. */
  private readPrinted(text: string, before = ''): PrintedReply | undefined {
    if (openings.find(text, 0) < 0) return undefined;
    const read = readPrintedCalls(text, before);
    return read.calls.some(({ name }) => this.tools.has(name)) ? read : undefined;
  }

  private extendCall(index: number, text: string): readonly ReplyPiece[] {
    const call = this.written.get(index);
    if (!call) return [];
    const length = call.isWhole ? 0 : call.end.in(text);
    call.written += text.slice(0, length);
    call.surplus += length === undefined ? '' : text.slice(length);
    call.isWhole ||= length !== undefined;
    if (call.isWhole && length !== 0) this.completeInOrder();
    return [{ type: 'call_arguments', index, name: call.name, text }];
  }

  /** A call that is complete already may have been sent, so a problem with it comes too late: it had one whole object. */
  private endCall({ index, opaque, problem }: Extract<ReplyChunk, { type: 'call_end' }>): void {
    const call = this.written.get(index);
    if (!call) return;
    if (opaque) call.opaque = opaque;
    if (problem !== undefined) call.problem = problem;
    if (opaque) this.calls = this.calls.map((one) => (one.index === index ? { ...one, opaque } : one));
  }

  /**
   * Completes the next calls whose arguments are whole and can be read. Calls are complete in their order. What is said before one
   * may be stored with it, so that more text begins anew.
   */
  private completeInOrder(): void {
    for (let next = this.written.get(this.calls.length); next?.isWhole; next = this.written.get(this.calls.length)) {
      const call = decodeCall(this.calls.length, next);
      if (call.malformed) return;
      this.calls = [...this.calls, call];
      this.reply.interrupt();
    }
  }
}

const openings = new WordTrie(printedCallOpenings);

const printed: ReplyVerdict = {
  decision: 'malformed',
  reason: 'You wrote a tool call as text, which calls nothing. Call tools with the tool calls of the API.',
  isPrintedCall: true,
};

interface WrittenCall {
  readonly name: string;
  opaque?: Opaque;
  /** Why it cannot be told what the model wrote. */
  problem?: string;
  /** Its arguments, up to the end of the first object. */
  written: string;
  /** What follows that object. */
  surplus: string;
  isWhole?: boolean;
  readonly end: ObjectEnd;
}

const beginning = ({
  name,
  opaque,
}: Extract<ReplyChunk, { type: 'call_start' }>): Pick<WrittenCall, 'name' | 'opaque'> => ({
  name,
  ...(opaque && { opaque }),
});

const hasSurplus = ({ surplus }: WrittenCall): boolean => surplus.trim() !== '';

const readSurplus = ({ name, surplus: written }: WrittenCall): Omit<DecodedCall, 'index'> => ({
  name,
  arguments: {},
  malformed: { reason: 'There was text after the JSON object of the arguments: one call has one object.', written },
});

/**
 * No text, and null, mean no arguments, unless the call was cut off: they may just have been about to come. Some servers encode the
 * object twice. Anything else that is not one JSON object is malformed; it is not repaired by guessing.
 */
function decodeCall(
  index: number,
  { name, written, surplus, opaque, problem }: WrittenCall,
  isCut = false,
): DecodedCall {
  const call = { index, name, arguments: {}, ...(opaque && { opaque }) };
  if (problem !== undefined) return { ...call, malformed: { reason: problem, written: written + surplus } };
  if (isCut && written.trim() === '') return { ...call, malformed: { reason: 'It has no arguments.', written } };
  if (/^\s*(?:null|"(?:null)?")?\s*$/.test(written)) return call;

  const parsed = parseObject(/^\s*"/.test(written) ? decodeOnce(written) : written);
  return 'value' in parsed
    ? { ...call, arguments: parsed.value }
    : { ...call, malformed: { ...parsed, written: written + surplus } };
}

/** The text that a JSON string holds; the text itself if it is none. */
function decodeOnce(written: string): string {
  const parsed = parseObject(`{"text":${written}}`);
  return 'value' in parsed && typeof parsed.value['text'] === 'string' ? parsed.value['text'] : written;
}
