import type { ToolDefinition } from '../../tools/define-tool';
import { wellFormedText } from '../../well-formed';
import type { ReplyDraft } from '../reply-draft';
import { TextBuilder } from '../text-builder';
import { type Reading, type TextSource, notSpace } from '../text-source';
import { WordTrie } from '../word-trie';
import { Decision, unquote } from './decision';
import { readJsonText, readStringValue } from './json-text';

const brace = new WordTrie(['{']);
const quote = new WordTrie(['"']);

/**
 * A decision as a JSON object, `{"tool_name", "parameters"}` or `{"tool_name": "none", "response"}`. Code fences and
 * remarks around it are dropped, and further objects are further calls. A response is shown while it streams. A reply
 * without a decision is shown as it is and reported as malformed.
 */
export class JsonGrammar {
  private readonly remarks = new TextBuilder();
  private hasAnswered = false;
  private choseNone = false;
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

  private readonly answer = (text: string): void => {
    this.reply.text(text);
    this.hasAnswered = true;
  };

  private *readObject(opening: string): Reading {
    const { source, reply, tools } = this;
    const written = new TextBuilder();
    written.add(opening);
    const decision = new Decision(reply, tools);
    source.startRecording(written.add);
    reply.isInCall = true;
    const isWhole = yield* this.readMembers(decision);
    reply.isInCall = false;
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
      this.choseNone = true;
      if (decision.response === undefined) return;
      this.beginAnswer();
      this.answer(wellFormedText(unquote(decision.response) ?? decision.response));
    } else {
      this.problem = decision.problem;
      this.remarks.add(written);
    }
  }

  private beginAnswer(): void {
    if (this.hasAnswered) this.answer('\n\n');
  }

  /** Reads up to the closing brace; false if the text is no JSON object or the stream ends. */
  private *readMembers(decision: Decision): Reading<boolean> {
    const { source } = this;
    for (;;) {
      let key = '';
      yield* source.readUntil(notSpace);
      const isKey = (yield* source.comes(quote)) && (yield* readJsonText(source, (text) => (key += text)));
      yield* source.readUntil(notSpace);
      if (!isKey || !(yield* source.skip(':'))) return false;

      yield* source.readUntil(notSpace);
      if (!(yield* this.readMember(decision, unquote(key)))) return false;
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
      return yield* readStringValue(source, this.answer);
    }

    const text = new TextBuilder();
    const isWhole = yield* readJsonText(source, text.add);
    const value = text.toString();
    if (isWhole && (key === 'tool_name' || key === 'toolName')) decision.setName(value);
    if (isWhole && key === 'response' && value !== 'null') decision.response = value;
    return isWhole;
  }

  private conclude(): void {
    const { reply, remarks, choseNone, problem } = this;
    const malformed = reply.calls.find((call) => call.malformed)?.malformed;
    const reason = malformed?.reason ?? problem ?? (reply.calls.length === 0 && !choseNone ? noDecision : undefined);
    if (reason !== undefined) reply.verdict = { decision: 'malformed', reason };
    else reply.verdict = { decision: reply.calls.length > 0 ? 'tool' : 'none' };

    if (this.hasAnswered || reply.calls.length > 0) return;
    reply.text(choseNone ? remarks.toString().replaceAll(fence, '').trim() || noAnswer : remarks.toString());
  }
}

const fence = /^```\w*$/gm;
const noAnswer = '(The model gave no answer.)';
const cutShort = 'The reply ended before its JSON object did.';
const notJson = 'The reply is not valid JSON.';
const noDecision =
  'The reply must be one JSON object, {"tool_name": …, "parameters": {…}} or {"tool_name": "none", "response": "…"}.';
