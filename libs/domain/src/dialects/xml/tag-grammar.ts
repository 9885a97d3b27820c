import { memoize } from '../../memoize';
import type { ToolDefinition } from '../../tools/define-tool';
import { listParameters } from '../../tools/tool-parameters';
import type { CallDraft, ReplyDraft } from '../reply-draft';
import { type Reading, type TextSource, notSpace } from '../text-source';
import { WordTrie } from '../word-trie';
import { readBalancedValue } from './balanced-value';
import { OpenTag } from './open-tag';

const anyTag = new WordTrie(['<']);

/** The tools of a run by the tags that open a call: the tool's own tag, or its name. */
export type TagShapes = ReadonlyMap<string, { readonly tool: ToolDefinition; readonly shape: TagShape }>;

export const toTagShapes = memoize(
  (tools: readonly ToolDefinition[]): TagShapes =>
    new Map(
      tools.flatMap((tool) => {
        const entry = { tool, shape: toTagShape(tool) };
        return [
          [entry.shape.tag, entry],
          [tool.name, entry],
        ] as const;
      }),
    ),
);

/** Memoized with the shapes, because it is large: some hundred nodes for the tools of a profile. */
const toOpenings = memoize((tools: TagShapes) => new WordTrie([...tools.keys()].map((tag) => `<${tag}`)));

/** Calls as one tag per tool, among prose: `<create-file file_path="a.txt">…</create-file>`. No other tag opens one. */
export class TagGrammar {
  private readonly openings: WordTrie<string>;

  constructor(
    private readonly source: TextSource,
    private readonly reply: ReplyDraft,
    private readonly tools: TagShapes,
  ) {
    this.openings = toOpenings(tools);
  }

  *read(): Reading {
    const { source, reply } = this;
    while (!reply.isFull) {
      const opening = yield* source.passUntil(this.openings, reply.text);
      if (opening === undefined) return;
      reply.isInCall = true;
      yield* this.readCall(source.take(opening.length));
      reply.isInCall = false;
    }
  }

  private *readCall(opening: string): Reading {
    const { source, reply } = this;
    const tag = yield* OpenTag.read(source);
    const name = opening.slice(1);
    const entry = this.tools.get(name);
    if (tag.state === 'broken' || !entry) {
      reply.text(opening + tag.text);
      return;
    }
    const call = reply.open(entry.tool.name, entry.tool, opening + tag.text);
    source.startRecording(call.append);
    const isWhole = tag.state === 'closed' && (yield* this.readRest(call, tag, { name, shape: entry.shape }));
    source.stopRecording();

    if (!isWhole) call.fail(`The reply ended before the call did: </${name}> is missing.`);
    call.close();
  }

  private *readRest(call: CallDraft, tag: OpenTag, { name, shape }: { name: string; shape: TagShape }) {
    for (const [attribute, value] of tag.attributes) call.set(attribute, value);
    if (tag.isSelfClosing) return true;
    const { content, attributes, elements } = shape;
    if (content === undefined) return yield* this.readElements(call, name, [...attributes, ...elements]);
    return yield* this.readValue(call, content, name);
  }

  /** Reads up to the end of the call; false if the stream ends first. Attributes may be written as elements, too. */
  private *readElements(call: CallDraft, tag: string, elements: readonly string[]): Reading<boolean> {
    const { source } = this;
    const closing = `</${tag}>`;
    const words = new WordTrie([closing, ...elements.map((name) => `<${name}`)]);
    for (;;) {
      yield* source.readUntil(notSpace);
      const word = yield* source.comes(words);
      if (word === undefined && source.isOver) return false;
      if (word === closing) {
        source.take(closing.length);
        return true;
      }
      source.take(word?.length ?? 1);
      if (!word || !(yield* this.readElement(call, word.slice(1)))) {
        call.fail(`Only these elements may stand in <${tag}>: ${elements.join(', ') || 'none'}.`);
        yield* source.passUntil(anyTag, ignore);
      }
    }
  }

  /** False if the text is no element. */
  private *readElement(call: CallDraft, name: string): Reading<boolean> {
    const tag = yield* OpenTag.read(this.source);
    if (tag.state !== 'closed') return tag.state === 'cut';
    if (tag.isSelfClosing) call.set(name, '');
    else yield* this.readValue(call, name, name);
    return true;
  }

  /** Reads the content of an element as the value of a parameter; false if the stream ends first. */
  private *readValue(call: CallDraft, parameter: string, element: string): Reading<boolean> {
    const { text, end, problem } = yield* readBalancedValue(this.source, element);
    if (problem) call.fail(`The parameter "${parameter}" ${problem}`);
    if (end) call.set(parameter, text);
    return end === true;
  }
}

const ignore = (): void => undefined;

/** How a tool is written as one tag: which parameters are attributes, and whether one of them is the content. */
export interface TagShape {
  readonly tag: string;
  readonly attributes: readonly string[];
  readonly content: string | undefined;
  /** Parameters that are child elements; none if the content is a parameter. */
  readonly elements: readonly string[];
}

/** Uses the tool's own mapping if it has one; otherwise every parameter is an element, which can hold any text. */
export function toTagShape(tool: ToolDefinition): TagShape {
  const { tag = tool.name.replaceAll('_', '-'), attributes = [], content } = tool.xml ?? {};
  const others = [...listParameters(tool).keys()].filter((name) => name !== content && !attributes.includes(name));
  return content === undefined
    ? { tag, attributes, content, elements: others }
    : { tag, attributes: [...attributes, ...others], content, elements: [] };
}
