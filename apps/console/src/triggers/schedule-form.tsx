import type { MissedPolicy, NewSchedule, Schedule } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useContext, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { momentIn } from '../ui/amounts.ts';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { problemText } from '../ui/problem-text.ts';
import { RefusalsContext, placeRefusals } from '../ui/refusals.ts';
import { RunFields } from './run-fields.tsx';
import { toChoice, overlaps, threads, toTriggeredRun } from './triggered-run.ts';

const missedPolicies: readonly (readonly [MissedPolicy, string])[] = [
  ['once', 'make up for the newest'],
  ['skip', 'skip them'],
  ['all', 'make up for each'],
];

const places = { part: 'run', codes: { agent_not_found: 'agent_id' } };

interface ScheduleFormProps {
  /** Absent: a new one. */
  readonly schedule?: Schedule;
  readonly save: (schedule: NewSchedule) => Promise<unknown>;
  readonly cancel?: () => void;
}

export function ScheduleForm({ schedule, save, cancel }: ScheduleFormProps) {
  const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [cron, setCron] = useState(schedule?.cron ?? '0 9 * * 1-5');
  const [zone, setZone] = useState(schedule?.time_zone ?? ownZone);
  const work = (fields: FormData) =>
    save({
      name: toText(fields, 'name'),
      cron,
      time_zone: zone,
      missed: toChoice(fields, 'missed', missedPolicies),
      overlap: toChoice(fields, 'overlap', overlaps),
      thread: toChoice(fields, 'thread', threads),
      run: toTriggeredRun(fields, schedule?.run),
    });
  return (
    <Form work={work} button={schedule ? 'Save' : 'Create'} label="Schedule" cancel={cancel} places={places}>
      <TextField label="Name" name="name" required maxLength={200} defaultValue={schedule?.name} />
      <When {...{ cron, zone, setCron, setZone }} />
      <RunFields
        run={schedule?.run}
        hint={
          <>
            May name <code>{'{{due_at}}'}</code> and <code>{'{{schedule.name}}'}</code>.
          </>
        }
      />
      <Policies schedule={schedule} />
    </Form>
  );
}

function Policies({ schedule }: { readonly schedule: Schedule | undefined }) {
  return (
    <div className="fields">
      <ChoiceField
        label="Times that were missed"
        name="missed"
        options={missedPolicies}
        defaultValue={schedule?.missed}
      />
      <ChoiceField
        label="While an earlier run goes on"
        name="overlap"
        options={overlaps}
        defaultValue={schedule?.overlap}
      />
      <ChoiceField label="Its runs are" name="thread" options={threads} defaultValue={schedule?.thread} />
    </div>
  );
}

interface WhenProps {
  readonly cron: string;
  readonly zone: string;
  readonly setCron: (cron: string) => void;
  readonly setZone: (zone: string) => void;
}

/** When it is due, with the next times of what is written, in its zone, so that reading cron is not needed. */
function When({ cron, zone, setCron, setZone }: WhenProps) {
  const rondo = useRondo();
  const sent = useContext(RefusalsContext);
  const { data, error } = useQuery({
    queryKey: ['due times', cron, zone],
    queryFn: () => rondo.schedules.dueTimes({ cron, time_zone: zone, count: 3 }),
    enabled: cron.trim() !== '' && zone.trim() !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
  const { refusals, rest } = placeRefusals(error, ['cron', 'time_zone']);
  return (
    <>
      <RefusalsContext value={{ ...sent, ...refusals }}>
        <div className="fields">
          <TextField
            label="When, as a cron expression"
            name="cron"
            className="code"
            required
            spellCheck={false}
            value={cron}
            onChange={({ currentTarget }) => setCron(currentTarget.value)}
          />
          <TextField
            label="Time zone"
            name="time_zone"
            required
            spellCheck={false}
            value={zone}
            onChange={({ currentTarget }) => setZone(currentTarget.value)}
          />
        </div>
      </RefusalsContext>
      {rest !== null && <p className="problem">{problemText(rest)}</p>}
      {error === null && (
        <p className="hint" role="status">
          Next: {data ? `${data.data.map((at) => momentIn(at, zone)).join(' · ')}, ${zone}` : ' '}
        </p>
      )}
    </>
  );
}
