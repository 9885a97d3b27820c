import { toInboxes } from './nats-login';
import { signals } from './signals';
import { type WireNames, wireNames } from './subjects';

/** The services that connect to NATS. Each executor is a NATS user of its own, named by its id. */
export const natsServices = ['gateway', 'agent-worker', 'summarizer', 'tool-executor'] as const;
export type NatsService = (typeof natsServices)[number];

interface Traffic {
  readonly subject: string;
  readonly publish: readonly NatsService[];
  readonly subscribe: readonly NatsService[];
  /** Subscribers must join this queue group, so that each receives only its share. */
  readonly queue?: string;
}

/** One worker answers each question of an executor: about the threads that it hosts, about secrets and about skills. */
export const hostingQueue = 'workers';
const askedOfWorkers = { publish: ['tool-executor'], subscribe: ['agent-worker'], queue: hostingQueue } as const;

/** One gateway answers each question of an executor about a token for an MCP server. */
export const tokenQueue = 'gateways';
const askedOfGateways = { publish: ['tool-executor'], subscribe: ['gateway'], queue: tokenQueue } as const;

/** The services that may know of every run. */
const trusted = ['gateway', 'agent-worker', 'summarizer'] as const;

const names = wireNames();

/**
 * Which services may publish and subscribe to each subject. A subject that is missing here does not compile. `executor` is
 * an executor's id, or `*` for all executors.
 */
export const toTraffic = (executor: string) =>
  ({
    runEvents: {
      subject: names.runEvents('*'),
      publish: trusted,
      subscribe: ['gateway'],
    },
    threadRuns: { subject: names.threadRuns('*'), publish: ['agent-worker'], subscribe: ['gateway'] },
    toolCalls: { subject: names.toolCalls.of(executor), publish: ['agent-worker'], subscribe: [] },
    toolAsk: { subject: names.toolAsk(executor), publish: ['agent-worker'], subscribe: ['tool-executor'] },
    toolTakers: {
      subject: names.toolTakers.of(executor),
      publish: ['agent-worker', 'tool-executor'], // a worker withdraws a call
      subscribe: [],
    },
    toolResults: { subject: names.toolResults.of(executor), publish: ['tool-executor'], subscribe: [] },
    toolNews: { subject: names.toolNews(executor, '*'), publish: ['tool-executor'], subscribe: ['agent-worker'] },
    toolCancel: { subject: names.toolCancel(executor), publish: ['agent-worker'], subscribe: ['tool-executor'] },
    executorOpen: {
      subject: names.executorOpen(executor),
      publish: ['tool-executor'],
      subscribe: ['agent-worker', 'gateway'],
    },
    signOfLife: { subject: names.signOfLife, publish: ['agent-worker', 'summarizer'], subscribe: ['gateway'] },
    workAhead: { subject: names.workAhead, publish: ['gateway'], subscribe: trusted },
    sandboxEnd: { subject: names.sandboxEnd(executor), publish: ['agent-worker'], subscribe: ['tool-executor'] },
    sandboxForget: { subject: names.sandboxForget(executor), publish: ['agent-worker'], subscribe: ['tool-executor'] },
    sandboxAdopt: { subject: names.sandboxAdopt(executor), publish: ['agent-worker'], subscribe: ['tool-executor'] },
    sandboxThreads: { subject: names.sandboxThreads(executor), ...askedOfWorkers },
    secretAsk: { subject: names.secretAsk(executor), ...askedOfWorkers },
    skillAsk: { subject: names.skillAsk(executor), ...askedOfWorkers },
    mcpList: { subject: names.mcpList(executor), publish: ['agent-worker'], subscribe: ['tool-executor'] },
    mcpDiscover: { subject: names.mcpDiscover(executor), publish: ['gateway'], subscribe: ['tool-executor'] },
    mcpPrompts: { subject: names.mcpPrompts(executor), publish: ['gateway'], subscribe: ['tool-executor'] },
    mcpToken: { subject: names.mcpToken(executor), ...askedOfGateways },
    sandboxOpen: {
      subject: names.sandboxOpen(executor),
      publish: ['gateway', 'agent-worker'],
      subscribe: ['tool-executor'],
    },
    sandboxUp: {
      subject: names.sandboxUp(executor, '*'),
      publish: ['gateway', 'agent-worker'],
      subscribe: ['tool-executor'],
    },
    sandboxDown: {
      subject: names.sandboxDown(executor, '*'),
      publish: ['tool-executor'],
      subscribe: ['gateway', 'agent-worker'],
    },
    stop: { subject: signals.stop.pattern, publish: ['gateway'], subscribe: ['agent-worker', 'summarizer'] },
    steer: { subject: signals.steer.pattern, publish: ['gateway'], subscribe: ['agent-worker'] },
    live: { subject: signals.live.toPattern('*'), publish: ['gateway'], subscribe: ['agent-worker'] },
    place: {
      subject: signals.place.pattern,
      publish: ['agent-worker'],
      subscribe: ['tool-executor'],
      queue: signals.place.queue,
    },
  }) as const satisfies Record<keyof WireNames | keyof typeof signals, Traffic>;

const streams = [names.toolCalls, names.toolTakers, names.toolResults];
const calls = names.toolCalls.stream;

/**
 * Requests to JetStream: workers create, update and read the streams, executors pull their own calls. No service may delete a
 * stream. The client library asks for a stream before it updates it.
 */
const toJetstream = (executor: string): Record<NatsService, readonly string[]> => ({
  gateway: [],
  'agent-worker': streams.flatMap(({ stream, of }) => [
    `$JS.API.STREAM.CREATE.${stream}`,
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.UPDATE.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.${of(executor)}`,
  ]),
  summarizer: [],
  'tool-executor': [
    ...streams.map(({ stream }) => `$JS.API.STREAM.INFO.${stream}`),
    ...[names.toolTakers, names.toolResults].map(({ stream, of }) => `$JS.API.DIRECT.GET.${stream}.${of(executor)}`),
    // The consumer's filter is part of the subject, and the server compares both: an executor gets only its own calls.
    `$JS.API.CONSUMER.CREATE.${calls}.${executor}.${names.toolCalls.of(executor)}`,
    `$JS.API.CONSUMER.DELETE.${calls}.${executor}`,
    `$JS.API.CONSUMER.MSG.NEXT.${calls}.${executor}`,
    `$JS.ACK.${calls}.${executor}.>`,
  ],
});

/**
 * These services answer requests: they may publish one reply to the reply subject of each request. An MCP server whose command
 * installs it first may have 300 s (`MCP_START_S`) to answer the executor that asks it, which answers then.
 */
const answering: readonly NatsService[] = ['gateway', 'agent-worker', 'tool-executor'];
const answerWithin = { max: 1, expires: '315s' } as const;

/** What a service may do, in the form of a NATS server's configuration: everything that is not allowed is forbidden. */
export interface NatsPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  readonly allow_responses?: typeof answerWithin;
}

/** The permissions of a service, or of the executor with this id. */
export function natsPermissions(
  service: Exclude<NatsService, 'tool-executor'> | { executor: string },
): NatsPermissions {
  const [kind, user, executor] =
    typeof service === 'string'
      ? [service, service, '*']
      : (['tool-executor', service.executor, service.executor] as const);
  const traffic: Traffic[] = Object.values(toTraffic(executor));
  const subscribed = traffic.filter(({ subscribe }) => subscribe.includes(kind));
  return {
    publish: [
      ...traffic.filter(({ publish }) => publish.includes(kind)).map(({ subject }) => subject),
      ...toJetstream(executor)[kind],
    ],
    subscribe: [
      ...subscribed.map(({ subject, queue }) => (queue === undefined ? subject : `${subject} ${queue}`)),
      `${toInboxes(user)}.>`,
    ],
    ...(answering.includes(kind) && { allow_responses: answerWithin }),
  };
}

/** Stands for an executor's id in `allNatsPermissions`. */
const executorPlaceholder = 'EXECUTOR_ID';

/** The permissions of every service, from which `deploy/` makes a server's configuration. */
export const allNatsPermissions = (): Record<NatsService, NatsPermissions> => ({
  gateway: natsPermissions('gateway'),
  'agent-worker': natsPermissions('agent-worker'),
  summarizer: natsPermissions('summarizer'),
  'tool-executor': natsPermissions({ executor: executorPlaceholder }),
});
