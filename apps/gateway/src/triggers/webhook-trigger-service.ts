import { type AccountId, webhookTriggerId } from '@rondo/contract';
import type {
  SealedSecret,
  StoredWebhookTrigger,
  TriggerAddress,
  WebhookChange,
  WebhookFields,
  WebhookTriggers,
} from '@rondo/persistence';
import type { SecretBox } from '@rondo/platform';
import type { AccountQuotas } from '../billing/account-quotas';
import { webhookRoots } from './run-request';
import { type TriggerRules, changeFields, startsOtherRuns, withinThreads } from './trigger-rules';
import { secretPurpose } from './webhook-receiver';
import { newWebhookSecret } from './webhook-signature';
import { refuseField } from '../problems/api-error';

export interface WebhookTriggerServiceDependencies {
  readonly webhookTriggers: WebhookTriggers;
  readonly rules: TriggerRules;
  readonly quotas: Pick<AccountQuotas, 'within'>;
  readonly secrets: SecretBox | undefined;
  readonly newId: () => string;
}

/** A trigger with its newest secret, which is shown once. */
export type TriggerWithSecret = StoredWebhookTrigger & { readonly secret: string };

/** Webhook triggers as the API shows and changes them. */
export class WebhookTriggerService {
  constructor(private readonly dependencies: WebhookTriggerServiceDependencies) {}

  async create(accountId: AccountId, fields: WebhookFields): Promise<TriggerWithSecret> {
    const { webhookTriggers, rules, quotas, newId } = this.dependencies;
    await rules.require({ accountId, fields, roots: webhookRoots });
    const triggerId = webhookTriggerId.parse(`whk_${newId()}`);
    const { secret, stored } = this.newSecret({ accountId, triggerId });
    const made = await withinThreads(quotas, { accountId, fields }, (bounds) =>
      webhookTriggers.create({ accountId, triggerId, fields, secret: stored, bounds }),
    );
    return { ...made, secret };
  }

  async update(address: TriggerAddress, changes: WebhookChange['fields']): Promise<StoredWebhookTrigger> {
    const { webhookTriggers, rules, quotas } = this.dependencies;
    const { accountId } = address;
    const fields = changeFields<WebhookFields>(await webhookTriggers.get(address), changes);
    if (startsOtherRuns(changes)) {
      await rules.require({ accountId, fields, roots: webhookRoots });
    }
    return withinThreads(quotas, { accountId, fields }, (bounds) =>
      webhookTriggers.update({ ...address, fields, bounds }),
    );
  }

  /** The former secret is accepted for so long beside the new one. */
  async rotate(address: TriggerAddress, overlapS: number): Promise<TriggerWithSecret> {
    const { secret, stored } = this.newSecret(address);
    const expiresAt = new Date(Date.now() + overlapS * 1000);
    return { ...(await this.dependencies.webhookTriggers.rotate(address, stored, expiresAt)), secret };
  }

  private newSecret({ accountId, triggerId: id }: TriggerAddress): { secret: string; stored: SealedSecret } {
    const { secrets } = this.dependencies;
    if (!secrets) throw refuseField('signature', 'needs SECRETS_KEY, which this deployment has not set');
    const secret = newWebhookSecret();
    const sealed = secrets.seal(secret, secretPurpose(accountId, { id }));
    return {
      secret,
      stored: { sealed, hint: secret.slice(-4), created_at: new Date().toISOString(), expires_at: null },
    };
  }
}
