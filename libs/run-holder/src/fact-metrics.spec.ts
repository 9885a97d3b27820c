import type { RecordedFact, RunEvent } from '@rondo/contract';
import { Registry } from 'prom-client';
import { FactMetrics } from './fact-metrics';

/** Only what is counted: the rest of a fact does not matter here. */
const fact = (type: string, data: object) => ({ seq: 1, type, data }) as unknown as RecordedFact;

async function pageAfter(...events: RunEvent[]) {
  const registry = new Registry();
  const metrics = new FactMetrics();
  metrics.registerOn(registry);
  const published: RunEvent[] = [];
  metrics.countFacts({ publish: (batch) => published.push(...batch) }).publish(events);
  expect(published).toEqual(events);
  return registry.metrics();
}

describe('FactMetrics', () => {
  it('begins every known series at 0', async () => {
    const page = await pageAfter();

    expect(page).toContain('rondo_runs_ended_total{status="failed",reason="rate_limit"} 0');
    for (const reason of ['max_duration_exceeded', 'model_not_allowed', 'sandbox_unavailable', 'rewind_failed'])
      expect(page).toContain(`rondo_runs_ended_total{status="failed",reason="${reason}"} 0`);
    expect(page).toContain('rondo_runs_ended_total{status="completed",reason="complete"} 0');
    expect(page).toContain('rondo_runs_parked_total{reason="approval"} 0');
    expect(page).toContain('rondo_tool_calls_total{tool="execute_command",outcome="unknown"} 0');
  });

  it('counts how runs end and what they wait for', async () => {
    const page = await pageAfter(
      fact('run.completed', { finish_reason: 'complete' }),
      fact('run.failed', { error: { code: 'no_progress' } }),
      fact('run.stopped', {}),
      fact('run.waiting', { reason: 'ask' }),
    );

    expect(page).toContain('rondo_runs_ended_total{status="completed",reason="complete"} 1');
    expect(page).toContain('rondo_runs_ended_total{status="failed",reason="no_progress"} 1');
    expect(page).toContain('rondo_runs_ended_total{status="stopped",reason="stopped"} 1');
    expect(page).toContain('rondo_runs_parked_total{reason="ask"} 1');
  });

  it('counts the arguments that were made to fit the schema of a tool', async () => {
    const adjusted = [
      { path: 'timeout', change: 'parsed' },
      { path: 'folder', change: 'null_left_out' },
    ];
    const page = await pageAfter(
      fact('tool.planned', { tool_call: { adjusted } }),
      fact('tool.planned', { tool_call: {} }),
    );

    expect(page).toContain('rondo_tool_arguments_adjusted_total{change="parsed"} 1');
    expect(page).toContain('rondo_tool_arguments_adjusted_total{change="null_left_out"} 1');
    expect(page).toContain('rondo_tool_arguments_adjusted_total{change="unknown_left_out"} 0');
  });

  it('counts a call whose executor died, which no executor can count', async () => {
    const page = await pageAfter(fact('tool.unknown', { name: 'execute_command', message_id: 'msg_1' }));

    expect(page).toContain('rondo_tool_calls_total{tool="execute_command",outcome="unknown"} 1');
  });

  it('counts a call once that is repeated, or that a person rules on, after its outcome was unknown', async () => {
    const page = await pageAfter(
      fact('tool.unknown', { name: 'read_file' }),
      fact('tool.completed', { name: 'read_file' }),
      fact('tool.unknown', { name: 'execute_command' }),
      fact('run.waiting', { reason: 'tool_unknown' }),
      fact('tool.failed', { name: 'execute_command' }),
    );

    expect(page).toContain('rondo_tool_calls_total{tool="read_file",outcome="unknown"} 0');
    expect(page).toContain('rondo_tool_calls_total{tool="read_file",outcome="completed"} 1');
    expect(page).toContain('rondo_tool_calls_total{tool="execute_command",outcome="unknown"} 0');
    expect(page).toContain('rondo_tool_calls_total{tool="execute_command",outcome="failed"} 1');
    expect(page).toContain('rondo_runs_parked_total{reason="tool_unknown"} 1');
  });

  it('has one series for all tools that are not built in', async () => {
    const page = await pageAfter(fact('tool.completed', { name: 'mcp_a' }), fact('tool.failed', { name: 'mcp_b' }));

    expect(page).not.toContain('mcp_');
    expect(page).toContain('rondo_tool_calls_total{tool="other",outcome="completed"} 1');
    expect(page).toContain('rondo_tool_calls_total{tool="other",outcome="failed"} 1');
  });
});
