import { z } from 'zod';

const count = z.number().int().nonnegative();
const base64 = z.string(); // Decoding ignores what does not belong, and a pattern would be slow on megabytes.
const shortText = z.string().max(8_192);

/** The messages of the agent. It runs beside hostile code, so everything is bounded and unknown fields are refused. */
export const agentMessage = z.union([
  z.strictObject({ id: count, ok: z.literal(true), result: z.unknown() }),
  z.strictObject({ id: count, ok: z.literal(false), error: z.strictObject({ code: shortText, message: shortText }) }),
  z.strictObject({ event: z.literal('output'), command: count, data: base64 }),
  z.strictObject({
    event: z.literal('ended'),
    command: count,
    reason: z.enum(['exit', 'timeout', 'output-limit', 'killed', 'oom']),
    exitCode: count.max(255).optional(),
    signal: shortText.optional(),
    dead: z.boolean().optional(),
    failure: shortText.optional(),
    cwd: shortText,
  }),
  z.strictObject({ event: z.literal('stream.data'), stream: count, data: base64 }),
  /** The server has taken everything that was sent to it so far. */
  z.strictObject({ event: z.literal('stream.drained'), stream: count }),
  z.strictObject({ event: z.literal('stream.ended'), stream: count }),
  /** The last event of a stream. */
  z.strictObject({ event: z.literal('stream.closed'), stream: count, failure: shortText.optional() }),
]);
export type AgentMessage = z.infer<typeof agentMessage>;
export type OutputEvent = Extract<AgentMessage, { event: 'output' }>;
export type EndedEvent = Extract<AgentMessage, { event: 'ended' }>;
export type StreamEvent = Extract<AgentMessage, { stream: number }>;
export type AgentEvent = Extract<AgentMessage, { event: string }>;

const fileKind = z.enum(['file', 'directory', 'link', 'other']);
const nothing = z.strictObject({});

/** The answers, by call. */
export const agentAnswers = {
  configure: nothing,
  run: z.strictObject({ cwd: shortText }),
  input: nothing,
  'stream.open': nothing,
  'stream.write': nothing,
  'stream.consumed': nothing,
  'stream.end': nothing,
  'stream.close': nothing,
  freeze: nothing,
  thaw: nothing,
  kill: z.strictObject({ wasRunning: z.boolean(), dead: z.boolean() }),
  'file.read': z.strictObject({ content: base64, size: count, identity: shortText }),
  'file.write': nothing,
  'file.append': nothing,
  'file.finish': nothing,
  'file.discard': nothing,
  'file.delete': nothing,
  'file.list': z.strictObject({
    entries: z
      .array(
        z.strictObject({ path: shortText, kind: fileKind, size: count, unreadable: z.literal(true).exactOptional() }),
      )
      .max(10_000),
    truncated: z.boolean(),
  }),
  'file.stat': z.discriminatedUnion('found', [
    z.strictObject({ found: z.literal(false) }),
    z.strictObject({ found: z.literal(true), kind: fileKind, size: count, permissions: count, modifiedAt: shortText }),
  ]),
};
export type AgentCall = keyof typeof agentAnswers;
export type AgentAnswer<C extends AgentCall> = z.infer<(typeof agentAnswers)[C]>;
