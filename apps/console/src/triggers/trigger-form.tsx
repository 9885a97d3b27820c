import type { NewWebhookTrigger, SignatureScheme, WebhookTrigger } from '@rondo/client';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { RunFields } from './run-fields.tsx';
import { toChoice, overlaps, threads, toTriggeredRun } from './triggered-run.ts';

const signatures: readonly (readonly [SignatureScheme, string])[] = [
  ['standard', 'Standard Webhooks'],
  ['github', 'GitHub'],
];

const places = { part: 'run', codes: { agent_not_found: 'agent_id' } };

interface TriggerFormProps {
  /** Absent: a new one. */
  readonly trigger?: WebhookTrigger;
  readonly save: (trigger: NewWebhookTrigger) => Promise<unknown>;
  readonly cancel: () => void;
}

export function TriggerForm({ trigger, save, cancel }: TriggerFormProps) {
  const work = (fields: FormData) =>
    save({
      name: toText(fields, 'name'),
      signature: toChoice(fields, 'signature', signatures),
      overlap: toChoice(fields, 'overlap', overlaps),
      thread: toChoice(fields, 'thread', threads),
      run: toTriggeredRun(fields, trigger?.run),
    });
  return (
    <Form work={work} button={trigger ? 'Save' : 'Create'} label="Webhook" cancel={cancel} places={places}>
      <div className="fields">
        <TextField label="Name" name="name" required maxLength={200} defaultValue={trigger?.name} />
        <ChoiceField
          label="How requests are signed"
          name="signature"
          options={signatures}
          defaultValue={trigger?.signature}
        />
      </div>
      <RunFields
        run={trigger?.run}
        hint={
          <>
            May name <code>{'{{body.path.to.field}}'}</code>, <code>{'{{body}}'}</code> and{' '}
            <code>{'{{received_at}}'}</code>. What a sender writes reaches the model as text.
          </>
        }
      />
      <div className="fields">
        <ChoiceField
          label="While an earlier run goes on"
          name="overlap"
          options={overlaps}
          defaultValue={trigger?.overlap ?? 'allow'}
        />
        <ChoiceField label="Its runs are" name="thread" options={threads} defaultValue={trigger?.thread} />
      </div>
    </Form>
  );
}
