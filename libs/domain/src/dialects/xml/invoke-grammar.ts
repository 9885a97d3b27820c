import type { ToolDefinition } from '../../tools/define-tool';
import type { CallDraft, ReplyDraft } from '../reply-draft';
import { type Reading, type TextSource, notSpace } from '../text-source';
import { WordTrie } from '../word-trie';
import { OpenTag } from './open-tag';
import { type ParameterEnd, readParameterValue } from './parameter-value';

const blockStart = '<function_calls>';
const blockEnd = '</function_calls>';
const invokeStart = '<invoke';
const invokeEnd = '</invoke>';
const parameterStart = '<parameter';

const inProse = new WordTrie([blockStart, blockEnd, invokeStart]);
const inBlock = new WordTrie([invokeStart]);
const anyTag = new WordTrie(['<']);
const inInvoke = new WordTrie([parameterStart, invokeEnd, blockEnd]);

/** The name of a call without a readable name. */
const unnamed = 'unknown';

/**
 * Calls in blocks, `<function_calls><invoke name="…"><parameter name="…">…`, among prose.
 *
 * A block is recognized when an `<invoke` follows its start. In a block any name is a call, so that the model is told
 * about a wrong name. Outside of a block only the name of a tool opens a call. Everything else is prose.
 */
export class InvokeGrammar {
  private isInBlock = false;

  constructor(
    private readonly source: TextSource,
    private readonly reply: ReplyDraft,
    private readonly tools: ReadonlyMap<string, ToolDefinition>,
  ) {}

  *read(): Reading {
    const { source, reply } = this;
    while (!reply.isFull) {
      switch (yield* source.passUntil(inProse, reply.text)) {
        case blockStart:
          yield* this.readBlockStart();
          break;
        case blockEnd:
          this.readBlockEnd();
          break;
        case invokeStart:
          reply.isInCall = true;
          yield* this.readInvoke();
          reply.isInCall = false;
          break;
        case undefined:
          return;
      }
    }
  }

  private *readBlockStart(): Reading {
    const { source, reply } = this;
    const written = source.take(blockStart.length) + (yield* source.readUntil(notSpace));
    if (yield* source.comes(inBlock)) this.isInBlock = true;
    else if (source.isOver) closeAsCut(reply.open(unnamed, undefined, written + source.takeRest()));
    else reply.text(written);
  }

  private readBlockEnd(): void {
    const written = this.source.take(blockEnd.length);
    if (!this.isInBlock) this.reply.text(written);
    this.isInBlock = false;
  }

  private *readInvoke(): Reading {
    const { source, reply, tools } = this;
    const opening = source.take(invokeStart.length);
    const tag = yield* OpenTag.read(source);
    const name = tag.attributes.get('name') ?? '';
    if (!this.isCall(tag, name)) {
      reply.text(opening + tag.text);
      return;
    }
    const isReadable = tag.state === 'closed' && name !== '';
    const call = reply.open(isReadable || tools.has(name) ? name : unnamed, tools.get(name), opening + tag.text);
    if (tag.state !== 'cut' && !isReadable) call.fail('A call must be opened by <invoke name="…">.');

    source.startRecording(call.append);
    const isWhole = tag.state !== 'cut' && (tag.isSelfClosing || (yield* this.readParameters(call)));
    source.stopRecording();
    if (isWhole) call.close();
    else closeAsCut(call);

    if (this.isInBlock) yield* this.readSpaceInBlock();
  }

  private isCall(tag: OpenTag, name: string): boolean {
    const isTag = tag.text !== '' || tag.state === 'cut';
    return this.isInBlock ? isTag : this.tools.has(name) && tag.state !== 'broken';
  }

  /** White space after a call belongs to the block, unless prose follows. */
  private *readSpaceInBlock(): Reading {
    if (this.reply.isFull) return;
    const space = yield* this.source.readUntil(notSpace);
    if (!(yield* this.source.comes(inProse)) && !this.source.isOver) this.reply.text(space);
  }

  /** Reads up to the end of the call; false if the stream ends first. */
  private *readParameters(call: CallDraft): Reading<boolean> {
    const { source } = this;
    for (;;) {
      yield* source.readUntil(notSpace);
      switch (yield* source.comes(inInvoke)) {
        case invokeEnd:
          source.take(invokeEnd.length);
          return true;
        case blockEnd:
          source.take(blockEnd.length);
          this.isInBlock = false;
          call.fail(`The call was not closed by ${invokeEnd}.`);
          return true;
        case parameterStart:
          source.take(parameterStart.length);
          yield* this.readParameter(call, yield* OpenTag.read(source));
          break;
        case undefined:
          if (source.isOver) return false;
          call.fail('Only <parameter name="…"> elements may stand in <invoke>.');
          source.take(1);
          yield* source.passUntil(anyTag, ignore);
      }
    }
  }

  /** Reads a parameter and those after it: the end of a value is recognized by the next parameter. */
  private *readParameter(call: CallDraft, first: OpenTag): Reading {
    let tag: OpenTag | undefined = first;
    while (tag && tag.state !== 'cut') {
      const name: string = tag.attributes.get('name') ?? '';
      if (tag.state === 'broken' || name === '') {
        call.fail('A parameter must be opened by <parameter name="…">.');
        return;
      }
      tag = (yield* this.readValue(call, name, tag.isSelfClosing)).next;
    }
  }

  private *readValue(call: CallDraft, name: string, isSelfClosing: boolean): Reading<ParameterEnd> {
    const nothing = { text: '', end: {}, problem: undefined };
    const { text, end, problem } = isSelfClosing ? nothing : yield* readParameterValue(this.source);
    if (problem) call.fail(`The parameter "${name}" ${problem}`);
    if (end) call.set(name, text);
    return end ?? {};
  }
}

const ignore = (): void => undefined;

function closeAsCut(call: CallDraft): void {
  call.fail(`The reply ended before the call did: ${invokeEnd} is missing.`);
  call.close();
}
