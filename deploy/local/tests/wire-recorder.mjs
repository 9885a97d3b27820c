import { Redis } from 'ioredis';
import { connect } from 'nats';

/**
 * Records all messages between services: over NATS, and as jobs in Redis. `messages` says where each kind is sent, in the
 * form of libs/messaging/src/released; `schema` is a JSON Schema.
 *
 * @typedef {{ sentTo: string, schema: object }} SentMessage
 */
export class WireRecorder {
  #kinds;
  #answers = new Map();
  #closings = [];
  #listeners = new Set();
  /**
   * By kind.
   *
   * @type {Record<string, unknown[]>}
   */
  heard = {};

  /** @param {Readonly<Record<string, SentMessage>>} messages */
  constructor(messages) {
    this.#kinds = Object.entries(messages).map(([kind, { sentTo, schema }]) => ({
      kind,
      sentTo,
      pattern: new RegExp(`^${sentTo.replaceAll('.', '\\.').replaceAll('*', '[^.]+').replace('>', '.+')}$`),
      isText: schema.type === 'string',
    }));
    for (const { kind } of this.#kinds) this.heard[kind] = [];
  }

  /**
   * Resolves when every later message will be recorded.
   *
   * @param {{ natsUrl: string, redisUrl: string }} servers
   */
  async start({ natsUrl, redisUrl }) {
    const { host, username: user, password: pass } = new URL(natsUrl);
    const nats = await connect({ servers: host, user, pass });
    nats.subscribe('>', { callback: (error, message) => error === null && this.#hear(message) });
    await nats.flush();
    this.#closings.push(() => nats.close());

    const redis = new Redis(redisUrl);
    this.#closings.push(() => redis.disconnect());
    const monitor = await redis.monitor();
    this.#closings.push(() => monitor.disconnect());
    monitor.on('monitor', (_time, command) => this.#hearRedis(command));
  }

  /**
   * Resolves when a message of this kind has been recorded.
   *
   * @param {string} kind
   */
  async until(kind) {
    while (this.heard[kind].length === 0) await new Promise((resolve) => this.#listeners.add(resolve));
  }

  async close() {
    for (const close of this.#closings) await close();
  }

  #hear(message) {
    const { subject, reply, headers } = message;
    const found = this.#answers.get(subject) ?? this.#kinds.find(({ pattern }) => pattern.test(subject));
    const isFromServer = headers?.has('Nats-Stream') || headers?.code === 503;
    if (!found || isFromServer) return;
    const answer = this.#kinds.find(({ sentTo }) => sentTo === `answer to ${found.kind}`);
    if (answer && reply) this.#answers.set(reply, answer);
    const text = message.string();
    if (found.isText) this.#note(found.kind, text);
    else for (const line of text.split('\n')) this.#note(found.kind, withoutEnvelope(JSON.parse(line)));
  }

  /** BullMQ stores a job as a hash whose key begins with the queue's name. */
  #hearRedis([name, key = '', ...fields]) {
    const [, queue] = /^[^:]+:([^:]+):[^:]+$/.exec(key) ?? [];
    const found = this.#kinds.find(({ sentTo }) => sentTo === `queue ${queue}`);
    const at = fields.indexOf('data');
    if (/^hm?set$/i.test(name) && found && at >= 0) this.#note(found.kind, JSON.parse(fields[at + 1]));
  }

  #note(kind, message) {
    if (message === undefined) return;
    this.heard[kind].push(message);
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

/** Unwraps Nest's envelope. Its error responses and its end-of-response messages are skipped. */
function withoutEnvelope(message) {
  if (message.pattern !== undefined) return message.data;
  return message.isDisposed === undefined ? message : message.response;
}

const id = /^([a-z]+)_[0-9A-Za-z]{10,48}$/;
const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const digest = /^[0-9a-f]{64}$/;
const word = /^[a-z]+(?:[._][a-z]+)*$/;
const free = ['text', 'output', 'error', 'arguments_text', 'store', 'processes', 'message'];
const anything = ['arguments', 'metadata'];
const kindsOfShape = ['type', 'how', 'method'];

/**
 * A message without the values that differ between runs: it keeps the fields, their types, and the protocol's constants.
 *
 * @param {unknown} value
 * @returns {unknown}
 */
export function toExample(value, key = '') {
  if (typeof value === 'string') return exampleOfText(value, key);
  if (typeof value === 'number') return Number.isInteger(value) ? 1 : 0.5;
  if (Array.isArray(value)) return oneOfEachShape(value.map((one) => toExample(one, key)));
  if (typeof value !== 'object' || value === null) return value;
  if (anything.includes(key)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toExample(one, name)]));
}

function exampleOfText(text, key) {
  if (id.test(text)) return text.replace(id, '$1_1');
  if (moment.test(text)) return '2030-01-01T00:00:00.000Z';
  if (digest.test(text)) return '0'.repeat(64);
  return word.test(text) && !free.includes(key) ? text : 'text';
}

/**
 * The first message of each shape (fields and their types), in a stable order.
 *
 * @param {readonly unknown[]} examples
 * @returns {unknown[]}
 */
export function oneOfEachShape(examples) {
  const shapes = new Map();
  for (const example of [...examples].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))) {
    const shape = JSON.stringify(toShape(example));
    if (!shapes.has(shape)) shapes.set(shape, example);
  }
  return [...shapes.values()];
}

function toShape(value, key = '') {
  if (kindsOfShape.includes(key)) return value;
  if (Array.isArray(value)) return value.map((one) => toShape(one));
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.entries(value)
    .map(([name, one]) => [name, toShape(one, name)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
