import { createHash } from 'node:crypto';
import { type SkillFile, runId, sha256, skillFile, skillId } from '@rondo/contract';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { hostingQueue } from '../connection/permissions';
import { answerRequests, request } from './sandbox-requests';

/** A version of a skill that a run names. */
const version = { run_id: runId, skill_id: skillId, version: z.number().int().positive() };

/** What an executor asks any worker about a skill of a run, since it reads no database. */
export const skillQuestion = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('files'), ...version }),
  /** The bytes of a file from `offset`, at most `skillPartBytes`. */
  z.object({ ask: z.literal('part'), ...version, path: z.string(), offset: z.number().int().nonnegative() }),
]);
export type SkillQuestion = z.infer<typeof skillQuestion>;

export const skillAnswer = z.discriminatedUnion('how', [
  z.object({ how: z.literal('files'), files: z.array(skillFile) }),
  z.object({ how: z.literal('part'), base64: z.string() }),
  /** The run does not name it, or it was deleted. */
  z.object({ how: z.literal('unknown') }),
]);
export type SkillAnswer = z.infer<typeof skillAnswer>;

/** Of a version: the paths, modes and hashes of its files, in their order. Executors compare what they were sent with it. */
export function hashSkillFiles(files: readonly SkillFile[]): SkillFile['sha256'] {
  const lines = files.map((file) => `${file.sha256} ${file.is_executable ? 'x' : '-'} ${file.path}\n`);
  return sha256.parse(createHash('sha256').update(lines.join('')).digest('hex'));
}

export const skillPartBytes = 256 * 1024;

/** Undefined where no worker answers in time. */
export const requestSkill = (
  nats: NatsLink,
  executorId: string,
  body: SkillQuestion,
): Promise<SkillAnswer | undefined> =>
  request(nats, nats.names.skillAsk(executorId), { body, answer: skillAnswer, timeoutMs: 10_000 });

/** A failure of `answer` is no answer. Returns a function that ends the subscription. */
export const answerSkills = (nats: NatsLink, answer: (question: SkillQuestion) => Promise<SkillAnswer>): (() => void) =>
  answerRequests(nats, nats.names.skillAsk('*'), { body: skillQuestion, queue: hostingQueue, work: answer });
