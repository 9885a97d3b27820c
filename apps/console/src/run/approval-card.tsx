import type { Approval, ApprovalDecision, RunRow } from '@rondo/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useId, useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { age, moment } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { AreaField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { Modal } from '../ui/modal.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { useUnsaved } from '../ui/unsaved.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

/** The calls of one run that a person decides about: one by one, or all as they are shown. */
export function ApprovalCards({ ids }: { readonly ids: readonly string[] }) {
  const [edited, setEdited] = useState<readonly string[]>([]);
  /** What it returns is called when the card shows the arguments of the call again. */
  const edit = useCallback((id: string) => {
    setEdited((before) => [...before, id]);
    return () => setEdited((before) => before.filter((one) => one !== id));
  }, []);
  return (
    <>
      {ids.length > 1 && edited.length === 0 && <ApproveAll ids={ids} />}
      {ids.map((id) => (
        <ApprovalCard key={id} id={id} onEdit={edit} />
      ))}
    </>
  );
}

function ApproveAll({ ids }: { readonly ids: readonly string[] }) {
  const queries = useQueryClient();
  const decide = useDecide();
  const mayWrite = useMay('write');
  if (!mayWrite) return null;
  /** About exactly what the cards show: a call with other arguments is refused by its hash. */
  const approveAll = async () => {
    const shown = ids.flatMap((id) => queries.getQueryData<Approval>(['approval', id]) ?? []);
    if (shown.length < ids.length) throw new Error('Not all of the calls are shown yet. Try again in a moment.');
    for (const approval of shown) if (approval.outcome === null) await decide(approval, { decision: 'approve' });
  };
  return (
    <p className="actions">
      <ConfirmedAction
        className="primary"
        name={`Approve all ${ids.length}`}
        question={`Send these ${ids.length} calls with the arguments that are shown?`}
        work={approveAll}
      />
    </p>
  );
}

type Decide = (approval: Approval, decision: Omit<ApprovalDecision, 'arguments_hash'>) => Promise<void>;

function useDecide(): Decide {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  return async (approval, decision) => {
    await rondo.approvals.decide(approval.id, { ...decision, arguments_hash: approval.arguments_hash });
    await Promise.all(['approval', 'inbox'].map((name) => refreshKey([name])));
  };
}

interface EditProps {
  /** Told that the card shows other arguments than those of the call. */
  readonly onEdit: (id: string) => () => void;
}

/** A call that is not sent before a person has decided, with exactly the arguments that it would have. */
function ApprovalCard({ id, onEdit }: EditProps & { readonly id: string }) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['approval', id],
    queryFn: ({ signal }) => rondo.approvals.get(id, { signal }),
  });
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Loading what="the call" />;
  if (data.outcome === null) return <OpenApproval approval={data} onEdit={onEdit} />;
  return <p className="hint">Decided: {data.outcome}.</p>;
}

const effects: Record<Approval['effect_class'], string> = {
  pure: 'It changes nothing.',
  idempotent: 'Doing it twice is the same as once.',
  keyed: 'It is done once, however often it is sent.',
  unsafe: 'It may change something that cannot be undone.',
};

function OpenApproval({ approval, onEdit }: EditProps & { readonly approval: Approval }) {
  const [edited, setEdited] = useState<string | null>(null);
  const isEdited = edited !== null;
  useEffect(() => (isEdited ? onEdit(approval.id) : undefined), [isEdited, onEdit, approval.id]);
  useUnsaved(edited !== null && edited !== printArguments(approval));
  const now = useNow();
  return (
    <div role="group" className="approval" aria-label={`Approval of ${approval.name}`}>
      <header>
        <code className="call-name">{approval.name}</code>
        <span className="hint">
          {effects[approval.effect_class]} Asked {age(approval.requested_at, now)}; denied automatically on{' '}
          {moment(approval.expires_at)}.
        </span>
      </header>
      {edited === null ? (
        <pre tabIndex={0} aria-label="Arguments">
          {printArguments(approval)}
        </pre>
      ) : (
        <ArgumentsField text={edited} onChange={setEdited} />
      )}
      <Decisions approval={approval} edited={edited} setEdited={setEdited} />
    </div>
  );
}

const printArguments = (approval: Approval): string => JSON.stringify(approval.arguments, null, 2);

function ArgumentsField({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const field = useId();
  return (
    <>
      <label htmlFor={field}>Arguments, as JSON</label>
      <textarea
        dir="auto"
        id={field}
        className="code"
        rows={Math.min(16, text.split('\n').length + 1)}
        spellCheck={false}
        autoFocus
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </>
  );
}

/** What an approval of a secret's first use has as its name: there is nothing to change. */
const useSecret = 'use_secret';

interface DecisionsProps {
  readonly approval: Approval;
  readonly edited: string | null;
  readonly setEdited: (text: string | null) => void;
}

function Decisions({ approval, edited, setEdited }: DecisionsProps) {
  const decideAbout = useDecide();
  const [isDenying, setDenying] = useState(false);
  const mayWrite = useMay('write');
  const decide = (decision: Omit<ApprovalDecision, 'arguments_hash'>) => decideAbout(approval, decision);
  if (!mayWrite) return null;
  if (edited !== null) {
    const send = async () => decide({ decision: 'edit', arguments: parseArguments(edited) });
    return (
      <div className="actions">
        <Action className="primary" work={send}>
          Approve with these arguments
        </Action>
        <button onClick={() => setEdited(null)}>Leave as it was</button>
      </div>
    );
  }
  return (
    <div className="actions">
      <Action className="primary" work={() => decide({ decision: 'approve' })}>
        Approve
      </Action>
      <button className="danger" onClick={() => setDenying(true)}>
        Deny
      </button>
      {isDenying && <DenyDialog name={approval.name} decide={decide} onClose={() => setDenying(false)} />}
      {approval.name !== useSecret && <button onClick={() => setEdited(printArguments(approval))}>Edit</button>}
    </div>
  );
}

interface DenyDialogProps {
  readonly name: string;
  readonly decide: (decision: Omit<ApprovalDecision, 'arguments_hash'>) => Promise<void>;
  readonly onClose: () => void;
}

/** A denial cannot be taken back, and the model does better with its reason. */
function DenyDialog({ name, decide, onClose }: DenyDialogProps) {
  const deny = (fields: FormData) => {
    const reason = toText(fields, 'reason');
    return decide({ decision: 'deny', ...(reason !== '' && { reason }) });
  };
  return (
    <Modal title={`Deny this call of ${name}?`} onClose={onClose}>
      {(close) => (
        <Form work={(fields) => deny(fields).then(close)} button="Deny the call" cancel={close}>
          <AreaField label="Reason" name="reason" rows={3} autoFocus hint="The model is told it. It may be empty." />
        </Form>
      )}
    </Modal>
  );
}

/** The arguments of a call, from what a person wrote. */
function parseArguments(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error('This is not JSON.', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('Arguments are an object.');
  return value as Record<string, unknown>; // any object is one
}

/** The secrets that commands of the run would use, and that a person has not decided about. The run goes on meanwhile. */
export function SecretApprovals({ rows }: { readonly rows: readonly RunRow[] }) {
  const facts = rows.flatMap((row) => (row.kind === 'note' ? row.fact : []));
  const decided = new Set(facts.flatMap((fact) => (fact.type === 'secret.decided' ? fact.data.approval_id : [])));
  const open = facts.flatMap((fact) =>
    fact.type === 'secret.requested' && !decided.has(fact.data.approval_id) ? fact.data.approval_id : [],
  );
  if (open.length === 0) return null;
  return (
    <section className="answer" aria-label="A request with a secret waits for your decision">
      <ApprovalCards ids={open} />
    </section>
  );
}
