import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Run } from '@rondo/contract';
import { type RondoClient, RunningRondo, call, command, scriptInput, smallContext } from '@rondo/test-deployment';
import { PrometheusServer } from '../../../deploy/local/servers/prometheus.mjs';
import { readDashboard } from './dashboard-file';
import { alertRules, metricsIn, rulesPath } from './rule-file';

/** Where nothing is wrong these have no series. Their metrics exist. */
const emptyWithoutFault: Readonly<Record<string, string>> = {
  'Dependencies away, by process': 'every dependency answers',
  'Alerts that fire': 'no alert fires',
};

interface Expression {
  readonly name: string;
  readonly expr: string;
}

/** As Grafana sends them, with all namespaces and a short window. */
const shown: readonly Expression[] = readDashboard().panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    name: title,
    expr: expr.replaceAll('$namespace', '.*').replaceAll(/\$__(rate_interval|range)/g, '1m'),
  })),
);
const hasSeries = shown.filter(({ name }) => !(name in emptyWithoutFault));
const comparison = /\s+(>|==)\s+[\d.]+$/;
/** What alerts compare with a number. Those about something absent compare nothing. */
const compared: readonly Expression[] = alertRules()
  .map(({ alert, expr }) => ({ name: alert, expr }))
  .filter(({ expr }) => comparison.test(expr))
  .map(({ name, expr }) => ({ name, expr: expr.replace(comparison, '') }));

describe('a Prometheus that reads the running services', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let prometheus: PrometheusServer;

  beforeAll(async () => {
    rondo = await RunningRondo.start();
    client = rondo.client();
    prometheus = await PrometheusServer.start({
      directory: rondo.directory,
      packagesDirectory: resolve(__dirname, '../../../.data'),
      targets: rondo.services.all.filter(({ name }) => name !== 'demo-model'),
      rules: readFileSync(rulesPath, 'utf8'),
    });
  }, 300_000);

  afterAll(async () => {
    await prometheus.stop();
    await rondo.stop();
  });

  /** Those that have no series yet. */
  const readEmpty = async (expressions: readonly Expression[]): Promise<string[]> => {
    const series = await Promise.all(expressions.map(({ expr }) => prometheus.query(expr)));
    return expressions.flatMap(({ name, expr }, index) => (series[index]?.length ? [] : [`${name}: ${expr}`]));
  };

  /** A call whose result a gateway takes, and behind its run another one, which a gateway stops. */
  const runAtGateway = async () => {
    const run = await client.createRun({
      ...scriptInput('asks its caller', [{ calls: [call('get_weather', { city: 'Oslo' })] }, { text: 'Done.' }]),
      caller_tools: [{ name: 'get_weather', description: 'The weather.', effect_class: 'pure' }],
    });
    await client.waitForRun(run.id);
    const { waiting } = await client.json<Run>('GET', `/runs/${run.id}`);
    const queued = await client.json<Run>('POST', `/threads/${run.thread_id}/runs`, {
      input: 'Next.',
      on_active_run: 'queue',
    });
    await client.json('POST', `/runs/${queued.id}/stop`, {});
    await client.json('POST', `/tool-calls/${waiting?.tool_calls?.[0]?.tool_call_id}/result`, { output: 'Rain.' });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
  };

  it('has series for every expression of the dashboard and of the alerts', async () => {
    const tools = await client.createRun(
      scriptInput('tools', [{ calls: [command('echo measured')] }, { text: 'Done.', pace_ms: 5 }]),
    );
    const watched = client.watch(tools.id);
    const [failed, summarized] = await Promise.all([
      client.createRun({ model: 'demo/error-500', input: 'Fail.' }),
      client.createRun({
        model: 'demo/loop:turns=12,output_bytes=2000',
        input: 'Go on until you are done.',
        tools: ['execute_command'],
        context: { ...smallContext, summary_model: 'demo/summary' },
      }),
    ]);
    await runAtGateway();
    expect(await client.waitForRun(tools.id)).toMatchObject({ status: 'completed' });
    expect(await client.waitForRun(failed.id)).toMatchObject({ status: 'failed' });
    expect(await client.waitForRun(summarized.id)).toMatchObject({ status: 'completed' });
    expect(await watched).not.toHaveLength(0);

    const expressions = [...hasSeries, ...compared];
    for (let empty = await readEmpty(expressions); empty.length > 0; empty = await readEmpty(expressions)) {
      await new Promise((resolve) => setTimeout(resolve, 500)); // until Prometheus has read the services again
    }
  });

  it('has counted what these runs did', async () => {
    const value = async (expression: string) => Number((await prometheus.query(expression))[0]?.value[1]);
    /** Prometheus reads the last events a moment later. */
    const reached = async (expression: string, least: number) => {
      let found = await value(expression);
      for (; !(found >= least); found = await value(expression))
        await new Promise((resolve) => setTimeout(resolve, 200));
      return found;
    };

    expect(await reached('sum(rondo_runs_ended_total{status="completed"})', 3)).toBe(3);
    expect(await reached('sum(rondo_runs_ended_total{status="stopped"})', 1)).toBe(1); // by the gateway, since no worker had it
    expect(await reached('sum(rondo_tool_calls_total{tool="other",outcome="completed"})', 1)).toBe(1); // by its caller
    expect(await reached('sum(rondo_runs_ended_total{status="failed"})', 1)).toBe(1);
    expect(await reached('sum(rondo_tool_calls_total{tool="execute_command",outcome="completed"})', 13)).toBe(13);
    await reached('sum(rondo_compactions_total{outcome="summarized"})', 1);
    await reached('sum(rondo_model_calls_total{instance="summarizer",outcome="finished"})', 1);
    expect(await reached('sum(increase(rondo_runs_ended_total{reason="api_error"}[2m]))', 0.5)).toBeGreaterThan(0.5); // the first event
  });

  it('knows the metrics of expressions that are empty while nothing is wrong', async () => {
    const names = await prometheus.metricNames();
    const faults = [...shown.map(({ expr }) => expr), ...alertRules().map(({ expr }) => expr)];

    for (const metric of faults.flatMap(metricsIn)) expect(names).toContain(metric);
    await Promise.all(faults.map((expr) => prometheus.query(expr)));
  });
});
