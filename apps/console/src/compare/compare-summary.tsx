import type { Run } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { measureRun } from '../run/run-details.ts';
import type { FedRun } from '../run/run-feed.ts';
import { useRunTitle } from '../runs/run-title.ts';
import { cost, count, duration, isUsageKnown } from '../ui/amounts.ts';
import { Status } from '../ui/status.tsx';

/** A run, and what is known of it so far. */
export interface ComparedRun {
  readonly run: Run;
  readonly fed: FedRun;
}

interface CompareSummaryProps {
  readonly a: ComparedRun;
  readonly b: ComparedRun;
}

/** The figures of both runs. */
export function CompareSummary({ a, b }: CompareSummaryProps) {
  return (
    <div className="table" tabIndex={0} role="region" aria-label="Figures of both runs">
      <table className="compare-figures">
        <thead>
          <tr>
            <td />
            {[a, b].map(({ run }, index) => (
              <th key={run.id} scope="col">
                {index === 0 ? 'A' : 'B'} <RunLink run={run} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Line
            name="Status"
            both={[a, b]}
            value={({ fed: { view } }) => <Status status={view.status} finishReason={view.finishReason} />}
          />
          <Line name="Model" both={[a, b]} value={({ run }) => run.model} />
          <Line name="Agent" both={[a, b]} value={({ run }) => toAgent(run)} />
          <Line name="Profile" both={[a, b]} value={({ run }) => run.profile} />
          <Line name="Iterations" both={[a, b]} value={({ fed }) => count(fed.view.iteration)} />
          <Line name="Tool calls" both={[a, b]} value={({ fed }) => count(countCalls(fed))} />
          <Line
            name="Tokens"
            both={[a, b]}
            value={({ fed: { view } }) =>
              isUsageKnown(view.usage) && `${count(view.usage.input_tokens)} in, ${count(view.usage.output_tokens)} out`
            }
          />
          <Line
            name="Cost"
            both={[a, b]}
            value={({ fed: { view } }) => isUsageKnown(view.usage) && cost(view.usage.cost_usd)}
          />
          <Line name="Time" both={[a, b]} value={toTime} />
        </tbody>
      </table>
    </div>
  );
}

/** Its title, below which both are told apart. */
function RunLink({ run }: Pick<ComparedRun, 'run'>) {
  const title = useRunTitle(run);
  return (
    <>
      <Link to="/runs/$runId" params={{ runId: run.id }} dir="auto">
        {title ?? run.id}
      </Link>
      <code title={run.id}>…{run.id.slice(-6)}</code>
    </>
  );
}

const toAgent = ({ settings: { agent }, agent_version: version }: Run): string =>
  agent.name === undefined ? 'none' : `${agent.name}${version === null ? '' : `, version ${version}`}`;
const countCalls = ({ view }: FedRun): number => view.rows.filter(({ kind }) => kind === 'tool_call').length;
const toTime = ({ fed: { details } }: ComparedRun): string =>
  details.lastAt === null ? '' : duration(measureRun(details, details.endedAt ?? details.lastAt));

interface LineProps {
  readonly name: string;
  readonly both: readonly ComparedRun[];
  readonly value: (compared: ComparedRun) => ReactNode;
}

function Line({ name, both, value }: LineProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {both.map((compared, index) => (
        <td key={index}>{value(compared)}</td>
      ))}
    </tr>
  );
}
