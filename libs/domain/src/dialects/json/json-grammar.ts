import type { ToolDefinition } from '../../tools/define-tool';
import type { ReplyDraft } from '../reply-draft';
import { type Reading, type TextSource, notSpace } from '../text-source';
import { TextBuilder } from '../text-builder';
import { WordTrie } from '../word-trie';
import { Decision, unquoted } from './decision';
import { readJsonText, readWords } from './json-text';

const brace = new WordTrie(['{']);
const quote = new WordTrie(['"']);

/**
 * A decision as a JSON object, `{"tool_name", "parameters"}` or `{"tool_name": "none", "response"}`, whatever stands
 * around it: code fences and remarks are dropped, further objects are further calls. A response is shown as it streams.
 * A reply without a decision is shown as it is, and said to be malformed.
 */
export class JsonGrammar {
  private readonly remarks = new TextBuilder();
  private hasSpoken = false;
  private saysNone = false;
  private problem: string | undefined;

  constructor(
    private readonly source: TextSource,
    private readonly reply: ReplyDraft,
    private readonly tools: ReadonlyMap<string, ToolDefinition>,
  ) {}

  *read(): Reading {
    const { source } = this;
    if (this.tools.size === 0) {
      yield* source.passAll(this.reply.text);
      return;
    }
    while (this.problem === undefined && (yield* source.passUntil(brace, this.remarks.add))) {
      const opening = source.take(1) + (yield* source.readUntil(notSpace));
      if (yield* source.comes(quote)) yield* this.readObject(opening);
      else this.remarks.add(opening);
    }
    yield* source.passAll(this.remarks.add);
    this.conclude();
  }

  private readonly speak = (text: string): void => {
    this.reply.text(text);
    this.hasSpoken = true;
  };

  private *readObject(opening: string): Reading {
    const { source, reply, tools } = this;
    const written = new TextBuilder();
    written.add(opening);
    const decision = new Decision(reply, tools);
    source.startRecording(written.add);
    const isWhole = yield* this.readMembers(decision);
    source.stopRecording();

    if (!isWhole) decision.problem ??= source.isOver ? cutShort : notJson;
    if (decision.name !== undefined) this.decide(decision, written.toString(), isWhole);
    else {
      this.remarks.add(written.toString());
      if (source.isOver) this.problem = cutShort;
    }
  }

  private decide(decision: Decision, written: string, isWhole: boolean): void {
    if (!decision.isNone) {
      decision.call(written);
      if (!isWhole) this.problem = decision.problem;
    } else if (decision.problem === undefined) {
      this.saysNone = true;
      if (decision.response === undefined) return;
      this.beginAnswer();
      this.speak(unquoted(decision.response) ?? decision.response);
    } else {
      this.problem = decision.problem;
      this.remarks.add(written);
    }
  }

  private beginAnswer(): void {
    if (this.hasSpoken) this.speak('\n\n');
  }

  /** Up to the closing brace; false where it is no JSON object, or the stream ends. */
  private *readMembers(decision: Decision): Reading<boolean> {
    const { source } = this;
    for (;;) {
      let key = '';
      yield* source.readUntil(notSpace);
      const isKey = (yield* source.comes(quote)) && (yield* readJsonText(source, (text) => (key += text)));
      yield* source.readUntil(notSpace);
      if (!isKey || !(yield* source.skip(':'))) return false;

      yield* source.readUntil(notSpace);
      if (!(yield* this.readMember(decision, unquoted(key)))) return false;
      yield* source.readUntil(notSpace);
      if (yield* source.skip('}')) return true;
      if (!(yield* source.skip(','))) return false;
    }
  }

  private *readMember(decision: Decision, key: string | undefined): Reading<boolean> {
    const { source } = this;
    if (key === 'parameters') {
      decision.beginParameters();
      return yield* readJsonText(source, decision.addParameters);
    }
    if (key === 'response' && decision.isNone && (yield* source.skip('"'))) {
      this.beginAnswer();
      return yield* readWords(source, this.speak);
    }

    const text = new TextBuilder();
    const isWhole = yield* readJsonText(source, text.add);
    const value = text.toString();
    if (isWhole && (key === 'tool_name' || key === 'toolName')) decision.setName(value);
    if (isWhole && key === 'response' && value !== 'null') decision.response = value;
    return isWhole;
  }

  private conclude(): void {
    const { reply, remarks, saysNone, problem } = this;
    const malformed = reply.calls.find((call) => call.malformed)?.malformed;
    const reason = malformed?.reason ?? problem ?? (reply.calls.length === 0 && !saysNone ? noDecision : undefined);
    if (reason !== undefined) reply.verdict = { decision: 'malformed', reason };
    else reply.verdict = { decision: reply.calls.length > 0 ? 'tool' : 'none' };

    if (this.hasSpoken || reply.calls.length > 0) return;
    reply.text(saysNone ? remarks.toString().replaceAll(fence, '').trim() || noWords : remarks.toString());
  }
}

const fence = /^```\w*$/gm;
const noWords = '(The model gave no answer.)';
const cutShort = 'The reply ended before its JSON object did.';
const notJson = 'The reply is not valid JSON.';
const noDecision =
  'The reply must be one JSON object, {"tool_name": …, "parameters": {…}} or {"tool_name": "none", "response": "…"}.';
