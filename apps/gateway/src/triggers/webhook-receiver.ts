import {
  type AccountId,
  type Execution,
  type WebhookTrigger,
  findInexactNumber,
  quoteInexactNumbers,
  runId,
  webhookTriggerId,
} from '@rondo/contract';
import {
  AlreadyFired,
  type Executions,
  type Firings,
  type ReceivedWebhook,
  type SealedSecret,
  type SigningTrigger,
  type WebhookTriggers,
  isDatabaseUnavailable,
} from '@rondo/persistence';
import type { SecretBox } from '@rondo/platform';
import type { RateLimiter } from '../auth/rate-limiter';
import { parseJson } from '../http/body';
import { ApiError } from '../problems/api-error';
import type { RunService } from '../runs/run-service';
import { RefusedFirings } from './refused-firing';
import { inputOfWebhook, runOfTrigger } from './run-request';
import { type SignedRequest, newWebhookSecret, verifyWebhookId } from './webhook-signature';

export interface WebhookReceiverDependencies {
  readonly webhookTriggers: Pick<WebhookTriggers, 'find'>;
  readonly firings: Firings;
  readonly executions: Pick<Executions, 'ofWebhook'>;
  readonly runService: Pick<RunService, 'create'>;
  /** Absent: no trigger can be stored. */
  readonly secrets: SecretBox | undefined;
  /** Per trigger, of webhooks whose signature is right. */
  readonly rate: RateLimiter;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
}

/** The JSON of a webhook. A number of which digits would be lost is a text: a run must not be told another one. */
function readBody(body: Buffer): unknown {
  const read = parseJson(body);
  const text = body.toString();
  return findInexactNumber(text) === undefined ? read : parseJson(Buffer.from(quoteInexactNumbers(text)));
}

/** What a secret of this trigger may be opened for. */
export const secretPurpose = (account: AccountId, { id }: Pick<WebhookTrigger, 'id'>): string =>
  `webhook trigger ${id} of ${account}`;

/** Starts runs for webhooks whose signature is right, once for each. */
export class WebhookReceiver {
  private readonly refused: RefusedFirings;

  constructor(private readonly dependencies: WebhookReceiverDependencies) {
    this.refused = new RefusedFirings(dependencies.firings, dependencies.onError);
  }

  /** Everything that is wrong before the signature is proven, an unknown id too, is the same refusal. */
  async receive(id: string, request: SignedRequest): Promise<Execution> {
    const { executions, rate } = this.dependencies;
    const receivedAt = new Date();
    const { accountId, trigger, webhookId } = await this.verify(id, request, receivedAt);
    rate.consume(trigger.id);
    if (trigger.is_paused) throw new ApiError('trigger_paused', 'This trigger is paused.');
    const earlier = await executions.ofWebhook(trigger.id, webhookId);
    if (earlier) return earlier;

    const input = inputOfWebhook(trigger, { webhookId, receivedAt, body: readBody(request.body) });
    const received = { accountId, trigger, webhookId, input };
    await this.start(received);
    const execution = await executions.ofWebhook(trigger.id, webhookId);
    if (!execution) throw new Error('the execution of a webhook was deleted at once');
    return execution;
  }

  private async verify(id: string, request: SignedRequest, now: Date) {
    const known = webhookTriggerId.safeParse(id);
    const found = known.success ? await this.dependencies.webhookTriggers.find(known.data) : undefined;
    const scheme = found?.trigger.signature ?? ('x-hub-signature-256' in request.headers ? 'github' : 'standard');
    const toleranceS = found?.trigger.tolerance_s ?? 0;
    const secrets = found ? this.openSecrets(found, now) : [newWebhookSecret()]; // the same work for an unknown id
    const webhookId = verifyWebhookId(request, { scheme, secrets, toleranceS, now });
    if (!found || webhookId === undefined) {
      throw new ApiError('unauthorized', 'The signature is missing, wrong or too old.');
    }
    return { ...found, webhookId };
  }

  private openSecrets({ accountId, trigger, secrets }: SigningTrigger, now: Date): string[] {
    const isValid = ({ expires_at: until }: SealedSecret) => until === null || Date.parse(until) > now.getTime();
    const purpose = secretPurpose(accountId, trigger);
    return secrets.filter(isValid).flatMap(({ sealed }) => this.dependencies.secrets?.open(sealed, purpose) ?? []);
  }

  private async start(received: ReceivedWebhook): Promise<void> {
    const { firings, runService, newId } = this.dependencies;
    const { accountId, trigger, input } = received;
    const id = runId.parse(`run_${newId()}`);
    try {
      const alongside = firings.fireWebhook(received, id);
      await runService.create(accountId, runOfTrigger(trigger, input), { id, alongside });
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error; // answered 503, so the sender tries again
      if (error instanceof AlreadyFired) return;
      const outcome = await this.refused.of(trigger, { error, attempts: 1, now: await firings.now() });
      await firings.recordWebhook(received, outcome);
    }
  }
}
