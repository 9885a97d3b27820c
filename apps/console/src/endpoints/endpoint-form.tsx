import type { NewWebhookEndpoint, WebhookEndpoint } from '@rondo/client';
import { TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';

type EventName = NewWebhookEndpoint['events'][number];

/** What an endpoint can be told, and the words for it. */
const events: Record<EventName, string> = {
  'run.started': 'A run starts',
  'run.waiting': 'It waits',
  'run.resumed': 'It goes on',
  'run.completed': 'It is completed',
  'run.failed': 'It fails',
  'run.stopped': 'It is stopped',
  'approval.requested': 'A call needs an approval',
  'approval.decided': 'A person has decided',
  'usage.recorded': 'A model was called',
};
const names = Object.keys(events) as EventName[]; // the keys of this very record
const usual: readonly EventName[] = ['run.completed', 'run.failed', 'run.stopped'];

interface EndpointFormProps {
  readonly endpoint?: WebhookEndpoint;
  readonly save: (endpoint: NewWebhookEndpoint) => Promise<unknown>;
  readonly cancel: () => void;
}

export function EndpointForm({ endpoint, save, cancel }: EndpointFormProps) {
  const chosen = endpoint?.events ?? usual;
  const work = (fields: FormData) =>
    save({
      url: toText(fields, 'url'),
      description: toText(fields, 'description'),
      events: names.filter((name) => fields.getAll('events').includes(name)),
    });
  return (
    <Form work={work} button={endpoint ? 'Save' : 'Create'} label="Endpoint" cancel={cancel}>
      <TextField
        label="Send to"
        name="url"
        type="url"
        required
        placeholder="https://example.com/rondo"
        spellCheck={false}
        defaultValue={endpoint?.url}
        hint="A public address with https, unless the deployment names exceptions."
      />
      <TextField label="Description" name="description" defaultValue={endpoint?.description} />
      <fieldset>
        <legend>What is sent</legend>
        <div className="fields">
          {names.map((name) => (
            <label key={name} className="check">
              <input type="checkbox" name="events" value={name} defaultChecked={chosen.includes(name)} />
              <span>
                {events[name]} <code className="hint">{name}</code>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </Form>
  );
}
