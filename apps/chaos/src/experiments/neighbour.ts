import { readFileSync } from 'node:fs';
import { type Experiment } from '../experiment';
import { hostileLoads } from '../neighbour/hostile-loads';
import { attack } from '../neighbour/hostile-process';
import { MeasuredTenant, type Waits } from '../neighbour/measured-tenant';
import { createTenant } from '../neighbour/tenant';
import { type Bar, type Findings, inWords, never } from '../scorecard/findings';
import type { TestBed } from '../test-bed/test-bed';

const minutes = { full: 60, small: 2 };
/** The share of the time before the hostile tenant begins. */
const quietShare = 1 / 6;
/** How much longer a wait of the ordinary tenant may be at its 95th percentile. */
const mostFactor = 1.5;
const gatewayMb = 512;

/** The limits of a deployment as they are by default, for a gateway of 512 MB behind a proxy. */
const gateway = {
  RATE_LIMIT_PER_SECOND: '500',
  HANDSHAKES_PER_SECOND: '100',
  TRUSTED_PROXY_HOPS: '1',
  NODE_OPTIONS: '--max-old-space-size=320',
};

export const neighbour: Experiment = {
  name: 'neighbour',
  title:
    'A hostile tenant beside an ordinary one, on one gateway of 512 MB. The hostile one does at the same time: ' +
    `${hostileLoads.map(({ name }) => name).join('; ')}. The ordinary one must hardly notice.`,

  deployment: () => ({
    instances: ['demo-model', 'agent-worker', 'tool-executor', 'summarizer', 'gateway'],
    settings: { gateway },
  }),

  async run(testBed, scale): Promise<Findings> {
    const forMs = (scale.minutes ?? minutes[scale.name]) * 60_000;
    const ordinary = await MeasuredTenant.start(testBed);
    const hostile = await createTenant(testBed, 'hostile', '203.0.113.66');
    const memory = watchMemory(testBed);
    await ordinary.workUntil(AbortSignal.timeout(5_000)); // what is slow only the first time
    const quiet = await ordinary.workUntil(AbortSignal.timeout(forMs * quietShare));

    const attackedMs = forMs * (1 - quietShare);
    const [attacked] = await Promise.all([
      ordinary.workUntil(AbortSignal.timeout(attackedMs)),
      attack(hostile, attackedMs),
    ]);

    const { mostMb, restarts } = memory.stop();
    return {
      size: `${Math.round(forMs / 6_000) / 10} minutes, of which the first sixth was quiet`,
      faults: {},
      counts: { 'megabytes of the gateway at most': mostMb },
      times: {
        ...toTimes('quiet', quiet),
        ...toTimes('attacked', attacked),
      },
      bars: [
        ...(['run', 'file', 'socket'] as const).map((what) => factorBar(what, quiet, attacked)),
        never('requests and runs of the ordinary tenant that failed', ordinary.failures.length),
        never('restarts of the gateway', restarts),
        memoryBar(mostMb),
      ],
      details: ordinary.failures.slice(0, 10),
    };
  },
};

const toTimes = (phase: string, { run, file, socket }: Waits): Findings['times'] => ({
  [`run, ${phase}`]: run,
  [`file, ${phase}`]: file,
  [`socket, ${phase}`]: socket,
});

function factorBar(what: keyof Waits, quiet: Waits, attacked: Waits): Bar {
  const [before, after] = [quiet[what]?.p95, attacked[what]?.p95];
  const factor = before === undefined || after === undefined ? NaN : after / before;
  return {
    about: 'time',
    what: `p95 of a ${what}, beside the hostile tenant and without it`,
    wanted: `≤ ${mostFactor} ×`,
    measured: `${factor.toFixed(2)} × (${inWords(after ?? NaN)}, ${inWords(before ?? NaN)})`,
    met: factor <= mostFactor,
  };
}

const memoryBar = (mostMb: number): Bar => ({
  about: 'truth',
  what: 'resident memory of the gateway',
  wanted: `≤ ${gatewayMb} MB`,
  measured: `${mostMb} MB`,
  met: mostMb <= gatewayMb,
});

/** Reads the gateway's memory four times a second; a new process id is a restart. */
function watchMemory({ rondo }: TestBed) {
  const program = rondo.services.get('gateway');
  const pids = new Set<number>();
  let mostMb = 0;
  const timer = setInterval(() => {
    if (program.pid === undefined) return;
    pids.add(program.pid);
    mostMb = Math.max(mostMb, residentMb(program.pid));
  }, 250);
  return {
    stop: () => {
      clearInterval(timer);
      return { mostMb, restarts: Math.max(0, pids.size - 1) };
    },
  };
}

function residentMb(pid: number): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
  } catch {
    return 0; // it has just ended
  }
}
