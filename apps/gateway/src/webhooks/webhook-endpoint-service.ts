import { type AccountId, type WebhookEndpoint, webhookEndpointId } from '@rondo/contract';
import type {
  EndpointAddress,
  EndpointChange,
  EndpointFields,
  SealedSecret,
  WebhookEndpoints,
} from '@rondo/persistence';
import type { SecretBox } from '@rondo/platform';
import { refuseField } from '../problems/api-error';
import { newWebhookSecret } from '../triggers/webhook-signature';
import { type EndpointRules, findUrlProblem } from './endpoint-destination';
import { endpointSecretPurpose } from './webhook-sender';

export interface WebhookEndpointServiceDependencies {
  readonly webhookEndpoints: WebhookEndpoints;
  readonly rules: EndpointRules;
  readonly secrets: SecretBox | undefined;
  readonly newId: () => string;
}

/** An endpoint with its newest secret, which is shown once. */
export type EndpointWithSecret = WebhookEndpoint & { readonly secret: string };

/** Webhook endpoints as the API shows and changes them. A URL that nothing can be sent to is refused when it is stored. */
export class WebhookEndpointService {
  constructor(private readonly dependencies: WebhookEndpointServiceDependencies) {}

  async create(accountId: AccountId, fields: EndpointFields): Promise<EndpointWithSecret> {
    const { webhookEndpoints, newId } = this.dependencies;
    const endpointId = webhookEndpointId.parse(`whe_${newId()}`);
    const { secret, stored } = this.newSecret({ accountId, endpointId });
    await this.requireUrl(fields.url);
    return { ...(await webhookEndpoints.create({ accountId, endpointId, fields, secret: stored })), secret };
  }

  async update(address: EndpointAddress, fields: EndpointChange['fields']): Promise<WebhookEndpoint> {
    if (fields.url !== undefined) await this.requireUrl(fields.url);
    return this.dependencies.webhookEndpoints.update({ ...address, fields });
  }

  /** The former secret signs for so long beside the new one. */
  async rotate(address: EndpointAddress, overlapS: number): Promise<EndpointWithSecret> {
    const { secret, stored } = this.newSecret(address);
    const expiresAt = new Date(Date.now() + overlapS * 1000);
    return { ...(await this.dependencies.webhookEndpoints.rotate(address, stored, expiresAt)), secret };
  }

  private async requireUrl(url: string): Promise<void> {
    const message = await findUrlProblem(url, this.dependencies.rules);
    if (message !== undefined) throw refuseField('url', message);
  }

  private newSecret({ accountId, endpointId }: EndpointAddress): { secret: string; stored: SealedSecret } {
    const { secrets } = this.dependencies;
    const message = 'needs SECRETS_KEY, which this deployment has not set';
    if (!secrets) throw refuseField('url', message);
    const secret = newWebhookSecret();
    const sealed = secrets.seal(secret, endpointSecretPurpose(accountId, endpointId));
    const createdAt = new Date().toISOString();
    return { secret, stored: { sealed, hint: secret.slice(-4), created_at: createdAt, expires_at: null } };
  }
}
