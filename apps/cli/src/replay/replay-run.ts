import {
  type CompactionId,
  type MessageId,
  type ModelCallId,
  type NewFact,
  type RecordedFact,
  isTerminalFact,
} from '@rondo/contract';
import {
  type AgentPorts,
  type AgentRun,
  type IdGenerator,
  type Model,
  type ModelChunk,
  type ModelRequest,
  type TokenCounter,
  budgetOfModel,
  replay,
  runAgent,
} from '@rondo/domain';
import { type Difference, DifferenceError, factDifference, requestDifference } from './difference';
import { isSame } from '../json-object';
import { comparable } from './comparable-fact';
import { RecordedPlace, RecordedTools } from './recorded-tools';
import { type RecordedRequest, type Recording, toRecordedRequest } from './recording';
import { toTools } from './replay-tools';
import { replyChunks } from './reply-chunks';

/** How far a replay came, and where it parted from its recording. */
export interface Replayed {
  readonly difference: Difference | null;
  readonly requests: readonly RecordedRequest[];
  /** Facts that the engine wrote as recorded, or that were given to it. */
  readonly facts: number;
}

/**
 * Runs the agent loop over a recording: the model replies and tools answer what the log has, and each fact that the loop writes
 * is compared with the log before it goes on. Requests to the model are compared where `comparesRequests` is not false.
 *
 * The facts of other programs (a user's answer, a person's approval) are given to the loop as the log has them. A worker that
 * took the run over is another activation of the loop, here as there: it begins from the log so far.
 */
export async function replayRun(recording: Recording, options: { comparesRequests?: boolean } = {}): Promise<Replayed> {
  const facts = recording.facts.filter((fact) => !isBeside(fact));
  const replaying = new Replaying({ ...recording, facts }, options.comparesRequests ?? true);
  try {
    await replaying.run();
  } catch (error) {
    if (!(error instanceof DifferenceError)) throw error;
    return replaying.outcome(error.difference);
  }
  return replaying.outcome(null);
}

class Replaying {
  private readonly requests: RecordedRequest[] = [];
  private readonly place: RecordedPlace;

  constructor(
    private readonly recording: Recording,
    private readonly comparesRequests: boolean,
  ) {
    this.place = new RecordedPlace(recording.facts);
    this.place.at = toStart(recording.facts);
  }

  outcome(difference: Difference | null): Replayed {
    return { difference, requests: this.requests, facts: this.place.at };
  }

  async run(): Promise<void> {
    while (this.takeGiven()) await this.activate();
  }

  /** Goes on to the next fact of the loop. False at the end of the log. */
  private takeGiven(): boolean {
    const { place } = this;
    const isParked = place.last?.type === 'run.waiting';
    const epoch = place.last?.epoch;
    while (place.next && (isParked ? place.next.epoch === epoch : isGiven(place.next))) place.at += 1;
    while (place.next && isGiven(place.next)) place.at += 1;
    return place.next !== undefined;
  }

  private async activate(): Promise<void> {
    const { place } = this;
    const end = endOfActivation(place.facts, place.at);
    const tools = new RecordedTools(place);
    for await (const step of runAgent(this.agent(), this.ports(tools), createSignals())) {
      if ('delta' in step) continue;
      for (const fact of step.facts) {
        if (place.at === end) break;
        this.match(fact);
        tools.answerNext();
      }
      if (place.at === end) return;
    }
    const { next, last } = place;
    if (next) throw new DifferenceError(toEarlyEnd(next, last?.iteration ?? 0));
  }

  private agent(): AgentRun {
    const { run, lacks, earlier, facts } = this.recording;
    return {
      id: run.id,
      threadId: run.thread_id,
      settings: run.settings,
      tools: { ...toTools(run.settings, lacks), ...hashIn(facts) },
      createdAt: run.created_at,
      state: replay(facts.slice(0, this.place.at), earlier),
    };
  }

  private ports(tools: RecordedTools): AgentPorts {
    const { place } = this;
    return {
      model: new RecordedModel({ place, agent: this.agent(), onRequest: (request) => this.compare(request) }),
      tools,
      tokens: roughCounter,
      ids: new RecordedIds(place.facts, place.at),
      clock: place,
      resolveBudget: budgetOfModel,
    };
  }

  private compare(request: ModelRequest): void {
    const now = toRecordedRequest(request);
    const recorded = this.recording.requests[this.requests.length];
    const iteration = this.place.last?.iteration ?? 0;
    this.requests.push(now);
    if (!this.comparesRequests) return;
    const difference = recorded
      ? requestDifference(recorded, now, iteration)
      : { iteration, where: 'model call', problem: 'the recording does not have it', diff: [] };
    if (difference) throw new DifferenceError(difference);
  }

  private match(fact: NewFact): void {
    if (isTerminalFact(fact) && this.place.next?.type === 'iteration.restarted') this.place.at += 1; // withdraws what was shown of a reply that is in no fact
    const { next } = this.place;
    const now = comparable(fact);
    if (!next) throw new DifferenceError(factDifference(undefined, now));
    const recorded = comparable(next);
    if (!isSame(recorded, now)) throw new DifferenceError(factDifference({ seq: next.seq, ...recorded }, now));
    this.place.at += 1;
  }
}

const createSignals = () => ({ stop: new AbortController().signal, drain: new AbortController().signal });

const toEarlyEnd = (next: RecordedFact, iteration: number): Difference => ({
  iteration,
  where: `fact ${next.seq} (${next.type})`,
  problem: 'the engine ends or parks the run before it',
  diff: [],
});

function hashIn(facts: readonly RecordedFact[]): { hash?: string } {
  const started = facts.find(({ type }) => type === 'run.started');
  const hash = started?.type === 'run.started' ? started.data.tool_set : undefined;
  return hash === undefined ? {} : { hash };
}

/** Enough to see whether a request is near its limit; a run that came near it cannot be recorded. */
const roughCounter: TokenCounter = {
  countTexts: (texts) => Promise.resolve(texts.map(({ length }) => Math.ceil(length / 4))),
  imageTokens: () => 1_000,
};

const givenTypes: readonly RecordedFact['type'][] = [
  'run.created',
  'run.forked',
  'run.resumed',
  'budget.raised',
  'approval.decided',
  'tool.resolved',
  'tool.input_given',
];

/** Whether another program than the loop has written the fact: a gateway, or the worker around the loop. */
const isGiven = (fact: RecordedFact): boolean =>
  givenTypes.includes(fact.type) || (fact.type === 'message.created' && fact.data.message.type === 'user');

/** Another program has written the fact while the loop went on, which takes no notice of it. */
const isBeside = ({ type }: RecordedFact): boolean => type.startsWith('secret.');

/** The index of the first fact that may be the run's own: a fork begins with the facts of another run. */
const toStart = (facts: readonly RecordedFact[]): number =>
  facts.findLastIndex(({ type }) => type === 'run.forked') + 1;

/** The index after the last fact of the activation of the loop that begins at `start`. */
function endOfActivation(facts: readonly RecordedFact[], start: number): number {
  const epoch = facts[start]?.epoch ?? 0;
  const end = facts.findIndex((fact, index) => index > start && (fact.epoch > epoch || isGiven(fact)));
  return end < 0 ? facts.length : end;
}

interface RecordedModelParts {
  readonly place: RecordedPlace;
  readonly agent: AgentRun;
  /** Throws where the request is not the recorded one. */
  readonly onRequest: (request: ModelRequest) => void;
}

/** Replies what the log says that the model replied to the request at this place. */
class RecordedModel implements Model {
  constructor(private readonly parts: RecordedModelParts) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[]> {
    await Promise.resolve();
    const { place, agent, onRequest } = this.parts;
    onRequest(request);
    for (const chunk of replyChunks(place.facts.slice(place.at), agent)) {
      if (!signal.aborted || chunk.type === 'end') yield [chunk];
    }
    const iteration = place.last?.iteration ?? 0;
    throw new DifferenceError({
      iteration,
      where: 'model call',
      problem: 'the recording has no reply to it',
      diff: [],
    });
  }
}

/** Gives each message and model call of the loop the id that it had. What the recording lacks gets an id of its own. */
class RecordedIds implements IdGenerator {
  private readonly messages: MessageId[];
  private readonly modelCalls: ModelCallId[];
  private made = 0;

  /** `from` is the index of the first fact of the activation. */
  constructor(facts: readonly RecordedFact[], from: number) {
    const known = new Set(facts.slice(0, from).flatMap(listMessageIds));
    this.messages = [...new Set(facts.slice(from).flatMap(listMessageIds))].filter((id) => !known.has(id));
    this.modelCalls = facts
      .slice(from)
      .flatMap((fact) => (fact.type === 'usage.recorded' ? [fact.data.model_call_id] : []));
  }

  messageId(): MessageId {
    return this.messages.shift() ?? (`msg_new${++this.made}` as MessageId); // letters and digits after the prefix
  }

  modelCallId(): ModelCallId {
    return this.modelCalls.shift() ?? (`mdl_new${++this.made}` as ModelCallId); // as above
  }

  compactionId(): CompactionId {
    return `cmp_new${++this.made}` as CompactionId; // as above
  }
}

/** Ids that the loop asked for. Those of the parts of a reply follow from its own, and users' messages are not the loop's. */
function listMessageIds({ type, data }: RecordedFact): MessageId[] {
  if (type === 'message.created') {
    const { type: kind, id } = data.message;
    return kind === 'user' || kind === 'assistant' ? [] : [id];
  }
  if (type === 'tool.unknown') return data.message_id ? [data.message_id] : [];
  return type === 'iteration.started' ||
    type === 'iteration.restarted' ||
    type === 'tool.completed' ||
    type === 'tool.failed'
    ? [data.message_id]
    : [];
}
