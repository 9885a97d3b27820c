import type { WebhookEndpoint, WebhookEndpointWithSecret } from '@rondo/client';
import { useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { ahead } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { useNow } from '../ui/use-now.ts';

interface EndpointSecretsProps {
  readonly endpoint: WebhookEndpoint;
  readonly refresh: () => Promise<unknown>;
}

/** The ends of the secrets that sign what is sent, and the way to a new one. */
export function EndpointSecrets({ endpoint, refresh }: EndpointSecretsProps) {
  const rondo = useRondo();
  const now = useNow();
  const mayWrite = useMay('write');
  const [rotated, setRotated] = useState<WebhookEndpointWithSecret | null>(null);
  const rotate = async () => {
    setRotated(await rondo.webhookEndpoints.rotateSecret(endpoint.id));
    await refresh();
  };
  return (
    <section className="section">
      <h2>Secrets</h2>
      <ul>
        {endpoint.secrets.map(({ hint, expires_at: end }) => (
          <li key={hint}>
            <code>…{hint}</code> {end !== null && <span className="hint">signs, too, until {ahead(end, now)}</span>}
          </li>
        ))}
      </ul>
      {rotated && (
        <SecretOnce name="The new secret of this endpoint" secret={rotated.secret} close={() => setRotated(null)} />
      )}
      {mayWrite && !rotated && (
        <div className="actions">
          <ConfirmedAction
            name="New secret"
            className=""
            question="Make a new secret? For a day, what is sent is signed with the present one, too."
            work={rotate}
          />
        </div>
      )}
    </section>
  );
}
