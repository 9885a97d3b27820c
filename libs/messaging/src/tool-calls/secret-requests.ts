import {
  accountId,
  approvalId,
  callId,
  runId,
  secretId,
  secretName,
  secretPolicy,
  secretRequest,
  secretUse,
  secretUseId,
} from '@rondo/contract';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { hostingQueue } from '../connection/permissions';
import { answerRequests, request } from './sandbox-requests';

/** What an executor asks any worker about the secrets of a run, since it reads no database. */
export const secretQuestion = z.discriminatedUnion('ask', [
  /** Which of the names that the run may use there are, and where they may go. */
  z.object({ ask: z.literal('grants'), run_id: runId }),
  /** The sealed value for one request. What is asked is recorded before it is answered. */
  z.object({
    ask: z.literal('open'),
    account_id: accountId,
    /** Null: for a server that no run uses yet. */
    run_id: runId.nullable(),
    call_id: callId.nullable(),
    name: secretName,
    via: secretUse.shape.via,
    request: secretRequest,
  }),
  /** What the host answered to that request. */
  z.object({ ask: z.literal('note'), use_id: secretUseId, status: z.number().int() }),
]);
export type SecretQuestion = z.infer<typeof secretQuestion>;

const grantedSecret = secretPolicy.extend({ name: secretName });
export type GrantedSecret = z.infer<typeof grantedSecret>;

export const secretAnswer = z.discriminatedUnion('how', [
  z.object({ how: z.literal('granted'), secrets: z.array(grantedSecret) }),
  z.object({
    how: z.literal('opened'),
    use_id: secretUseId,
    secret_id: secretId,
    account_id: accountId,
    /** For this account and this secret, see `secretPurpose`. */
    sealed: z.string(),
    placement: secretPolicy.shape.placement,
  }),
  /** `reason`: of the person who denied it. */
  z.object({
    how: z.literal('refused'),
    refusal: secretUse.shape.refusal.unwrap(),
    reason: z.string().exactOptional(),
  }),
  /** A person has to allow the run's first use. The executor asks again. */
  z.object({ how: z.literal('awaits'), approval_id: approvalId }),
  z.object({ how: z.literal('noted') }),
]);
export type SecretAnswer = z.infer<typeof secretAnswer>;

/** Undefined where no worker answers in time: then nothing may be sent. */
export const requestSecret = (
  nats: NatsLink,
  executorId: string,
  body: SecretQuestion,
): Promise<SecretAnswer | undefined> => request(nats, nats.names.secretAsk(executorId), { body, answer: secretAnswer });

/** A failure of `answer` is no answer. Returns a function that ends the subscription. */
export function answerSecrets(
  nats: NatsLink,
  answer: (question: SecretQuestion, executorId: string) => Promise<SecretAnswer>,
): () => void {
  return answerRequests(nats, nats.names.secretAsk('*'), { body: secretQuestion, queue: hostingQueue, work: answer });
}
