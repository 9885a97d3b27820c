import { type AccountId, type Secret, secretId, secretPurpose } from '@rondo/contract';
import type { SecretAddress, SecretChange, SecretFields, Secrets } from '@rondo/persistence';
import type { SecretBox } from '@rondo/platform';
import { refuseField } from '../problems/api-error';

export interface SecretServiceDependencies {
  readonly stored: Secrets;
  /** Absent: this deployment keeps no secrets. */
  readonly box: Pick<SecretBox, 'seal'> | undefined;
  readonly newId: () => string;
}

interface GivenSecret extends SecretFields {
  readonly name: string;
  readonly project_id: Secret['project_id'];
  readonly value: string;
}

type GivenChange = SecretChange['fields'] & { readonly value?: string | undefined };

/** Secrets as the API takes and changes them. A value is sealed before anything else sees it. */
export class SecretService {
  constructor(private readonly dependencies: SecretServiceDependencies) {}

  create(accountId: AccountId, { name, project_id: projectId, value, ...fields }: GivenSecret): Promise<Secret> {
    const { stored, newId } = this.dependencies;
    requireFuture(fields.expires_at);
    const id = secretId.parse(`sec_${newId()}`);
    const sealed = this.seal({ accountId, secretId: id }, value);
    return stored.create({ accountId, secretId: id, name, projectId, fields, sealed });
  }

  update(address: SecretAddress, { value, ...fields }: GivenChange): Promise<Secret> {
    const sealed = value === undefined ? undefined : this.seal(address, value);
    return this.dependencies.stored.update({ ...address, fields, sealed });
  }

  private seal({ accountId, secretId: id }: SecretAddress, value: string): string {
    const { box } = this.dependencies;
    const message = 'needs SECRETS_KEY, which this deployment has not set';
    if (!box) throw refuseField('value', message);
    return box.seal(value, secretPurpose(accountId, id));
  }
}

function requireFuture(expiresAt: string | null): void {
  if (expiresAt === null || Date.parse(expiresAt) > Date.now()) return;
  throw refuseField('expires_at', 'is in the past');
}
