import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, toFindings } from '../experiment';
import { FailoverLoad } from '../failover/failover-load';
import { ReplicatedServers } from '../failover/replicated-servers';
import { type Bar, type Findings, atLeast, never, within } from '../scorecard/findings';
import { type Spread, findSpread } from '../scorecard/spread';
import { type ExaminedRun, examine } from '../test-bed/examine';
import { listPlannedEffects } from '../test-bed/planned-effects';
import type { Scale, TestBed, TestBedRequest } from '../test-bed/test-bed';

const sizes = {
  full: { live: 200, iterations: 20, paceMs: 400, rounds: 3, pauseMs: 30_000, lagMs: 1_500 },
  small: { live: 8, iterations: 6, paceMs: 80, rounds: 1, pauseMs: 6_000, lagMs: 1_000 },
};
type Size = (typeof sizes)['full'];

const places = { TOOL_CONCURRENCY: '200', TOOL_CONCURRENCY_PER_ACCOUNT: '200' };
const standstillMs = 10_000;
/** Of a kill: its standstills begin within this time. */
const aroundMs = 15_000;
const servers = ['postgres', 'redis', 'nats'] as const;

class Failover implements Experiment {
  readonly name = 'failover';
  readonly title =
    'Servers of which there is more than one, under runs that are watched: the primary of a synchronous pair of Postgres is killed and its ' +
    'replica promoted, the primary of Redis is replaced by sentinels, the server that leads the calls is killed in a cluster of NATS, and at last ' +
    'another one for good. Then the primary of an asynchronous pair is killed, whose replica lacks the last facts: nothing of that may stay unnoticed. ' +
    'A standstill is the longest time in which the watcher of a run that was live at the kill received nothing of it, neither a fact nor a piece of a reply.';

  private servers: ReplicatedServers | undefined;

  deployment(): TestBedRequest {
    return {
      servers: async (directory) => (this.servers = await ReplicatedServers.start(directory)),
      settings: { 'agent-worker': { NATS_STREAM_REPLICAS: '3' }, 'tool-executor': places },
    };
  }

  async run(testBed: TestBed, { name, quietMs }: Scale): Promise<Findings> {
    const size = sizes[name];
    const kept = new FailoverLoad(testBed, { ...size, about: 'synchronous' });
    await kept.during(() => this.failOver(testBed, size), quietMs);
    const examination = await examine(testBed, kept.runs);
    const differing = kept.watched.flaws(examination.runs);
    const standstills = servers.map((server) => findStandstill(testBed, server, kept));

    const lossy = new FailoverLoad(testBed, { ...size, about: 'asynchronous' });
    await lossy.during(() => this.loseFacts(testBed, size), quietMs);
    const losses = await auditLosses(testBed, lossy, quietMs);

    const { facts, runs } = kept.watched.lost;
    return toFindings(testBed, examination, {
      size: `${size.live} runs live at any time; ${size.rounds} failovers each of Postgres, Redis and NATS and a server of NATS lost; ${size.rounds} failovers to a replica ${size.lagMs / 1_000} s behind`,
      counts: { 'streams watched': kept.watched.size, connections: kept.watched.connections, ...losses.counts },
      times: Object.fromEntries(standstills.map(({ server, spread }) => [`standstill, ${server}`, spread])),
      bars: [
        never('facts shown and lost', facts),
        never('runs accepted and lost', runs),
        never('streams that differ from their logs', differing.length),
        never('calls unknown, though no executor died', examination.unknown),
        ...standstills.map(({ server, spread }) => within(`standstill p95, ${server}`, spread?.p95, standstillMs)),
        ...standstills.map(({ server, spread }) =>
          atLeast(`runs live at the kills, ${server}`, {
            seen: spread?.count ?? 0,
            wanted: size.live * size.rounds * 0.75,
          }),
        ),
        ...losses.bars,
      ],
      details: [...examination.details, ...differing.slice(0, 5), ...losses.details],
    });
  }

  private async failOver(testBed: TestBed, { rounds, pauseMs }: Size): Promise<void> {
    for (let round = 1; round <= rounds; round += 1) {
      await delay(pauseMs);
      await this.servers?.failOverPostgres(testBed);
      await delay(pauseMs);
      await this.servers?.addReplica(round < rounds);
      await this.servers?.failOverRedis(testBed, pauseMs);
      await this.servers?.failOverNats(testBed, pauseMs);
    }
    await delay(pauseMs);
    await this.servers?.loseNatsServer(testBed);
    await delay(pauseMs);
  }

  /** The replica that is there was made for it. */
  private async loseFacts(testBed: TestBed, { rounds, pauseMs, lagMs }: Size): Promise<void> {
    for (let round = 1; round <= rounds; round += 1) {
      await delay(pauseMs);
      await this.servers?.loseInPostgres(testBed, lagMs);
      await delay(pauseMs);
      if (round < rounds) await this.servers?.addReplica(false);
    }
  }
}

export const failover: Experiment = new Failover();

interface Standstill {
  readonly server: (typeof servers)[number];
  readonly spread: Spread | undefined;
}

function findStandstill(testBed: TestBed, server: Standstill['server'], { watched }: FailoverLoad): Standstill {
  const kills = testBed.faults.times('kill -9', server);
  return { server, spread: findSpread(kills.flatMap((at) => watched.standstills(at, aroundMs))) };
}

/** What was lost may be lost, but each one who saw it must have been told, and nothing may be done again. */
async function auditLosses(
  testBed: TestBed,
  { watched, runs: launched, tagsOfGone }: FailoverLoad,
  quietMs: number,
): Promise<Pick<Findings, 'counts' | 'bars' | 'details'>> {
  const byStream = watched.lost.facts;
  const untold = await watched.readRewinds();
  await watched.waitForEnds(quietMs);
  const examination = await examine(testBed, launched);
  const { runs } = examination;
  const differing = watched.flaws(runs);
  const effects = listUntoldEffects(testBed, runs);
  const nameAsynchronous = (bars: readonly Bar[]) => bars.map((bar) => ({ ...bar, what: `asynchronous: ${bar.what}` }));
  return {
    counts: {
      'asynchronous: runs': runs.length,
      'facts taken back by streams': byStream,
      'facts taken back by REST': watched.lost.facts - byStream,
      'runs gone': tagsOfGone.size,
      'asynchronous: calls unknown': examination.unknown,
    },
    bars: nameAsynchronous([
      atLeast('facts shown and lost', { seen: watched.lost.facts, wanted: 1 }),
      never('streams that differ from their logs after what they were told', differing.length),
      never('rewinds of streams that verify does not tell', untold.length),
      never('effects that their log does not tell, or not as often', effects.length),
      never('runs not terminal after the quiet', examination.nonTerminal),
      never('runs that did not complete', examination.notCompleted),
      never('flaws of logs', examination.gaps + examination.duplicateSeq + examination.otherFlaws),
      never('effects that the log has and the server has not', examination.missingEffects),
    ]),
    details: [...differing, ...untold, ...effects].slice(0, 10),
  };
}

/** The model plays its script again where the log lacks its turn, but each effect must be one that some call of the log had. */
function listUntoldEffects(testBed: TestBed, runs: readonly ExaminedRun[]): string[] {
  const told = new Map<string, number>();
  for (const { tag } of runs.flatMap(({ facts }) => listPlannedEffects(facts))) told.set(tag, (told.get(tag) ?? 0) + 1);
  const existing = new Set(runs.map(({ tag }) => tag));
  return [...testBed.effects.ledger.countEffects()]
    .filter(([tag, times]) => existing.has(tag.split('/', 1)[0] ?? '') && times > (told.get(tag) ?? 0))
    .map(([tag, times]) => `${tag} took effect ${times} times, and its log has ${told.get(tag) ?? 0} calls`);
}
