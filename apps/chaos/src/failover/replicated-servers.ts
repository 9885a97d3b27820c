import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NatsCluster, RedisServers } from '@rondo/messaging/testing';
import { PostgresPair } from '@rondo/persistence/testing';
import type { StartedServers } from '@rondo/test-deployment';
import { ownerPassword } from '../../../../deploy/local/servers/credentials.mjs';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import type { TestBed } from '../test-bed/test-bed';

/** As a supervisor of Postgres takes to be sure. Sentinels and NATS decide by themselves. */
const promotedAfterMs = 2_000;
const callStream = 'TOOL_CALLS';

interface Parts {
  readonly postgres: PostgresPair;
  readonly redis: RedisServers;
  readonly nats: NatsCluster;
}

/** Two servers of Postgres, two of Redis with three sentinels, and three of NATS: one of each can be killed. */
export class ReplicatedServers implements StartedServers {
  private constructor(
    private readonly parts: Parts,
    private readonly sentinels: readonly number[],
    readonly env: StartedServers['env'],
  ) {}

  /** With the passwords of this deployment. The replica of Postgres is synchronous. */
  static async start(directory: string): Promise<ReplicatedServers> {
    const dataDir = join(repoRoot, '.data');
    const password = ownerPassword(directory, 'postgres');
    const postgres = await PostgresPair.start({ dataDir, isSynchronous: true, password });
    const redis = await RedisServers.open();
    const nats = await NatsCluster.start({ dataDir: directory });
    const secret = ownerPassword(directory, 'redis');
    const { sentinels } = await redis.startSentinels(secret);
    const hosts = sentinels.map((port) => `127.0.0.1:${port}`).join(',');
    return new ReplicatedServers({ postgres, redis, nats }, sentinels, {
      DATABASE_URL: postgres.url,
      REDIS_URL: `redis+sentinel://worker:${secret}@${hosts}/rondo`,
      NATS_URL: nats.findUrl(),
    });
  }

  async stop(): Promise<void> {
    const { postgres, redis, nats } = this.parts;
    await Promise.all([postgres.close(), redis.stop(), nats.stop()]);
  }

  /** Kills the primary of Postgres and promotes its replica. What the replica has not received by then is lost. */
  async failOverPostgres(testBed: TestBed): Promise<void> {
    note(testBed, 'postgres');
    await this.parts.postgres.failOver(promotedAfterMs);
  }

  /** The same after the replica has received nothing for a while. */
  async loseInPostgres(testBed: TestBed, forMs: number): Promise<void> {
    this.parts.postgres.stopReplication();
    await delay(forMs);
    await this.failOverPostgres(testBed);
  }

  addReplica(isSynchronous: boolean): Promise<void> {
    return this.parts.postgres.addReplica(isSynchronous);
  }

  /** Kills the primary, which joins the other one as its replica `awayMs` later. */
  async failOverRedis(testBed: TestBed, awayMs: number): Promise<void> {
    const { redis } = this.parts;
    const primary = await redis.findPrimary(this.sentinels[0] ?? 0);
    note(testBed, 'redis');
    await redis.kill(primary);
    await delay(awayMs);
    redis.startAgain(primary);
  }

  /** Kills the server that leads the queue of calls, which is back `awayMs` later. */
  async failOverNats(testBed: TestBed, awayMs: number): Promise<void> {
    const leader = await this.parts.nats.findLeader(callStream);
    note(testBed, 'nats');
    await leader.kill();
    await delay(awayMs);
    leader.up();
  }

  /** Kills a server for good. */
  async loseNatsServer(testBed: TestBed): Promise<void> {
    const { nats } = this.parts;
    const leader = await nats.findLeader(callStream);
    note(testBed, 'nats');
    await nats.nodes.find((node) => node !== leader)?.kill();
  }
}

function note(testBed: TestBed, server: 'postgres' | 'redis' | 'nats'): void {
  testBed.faults.note('kill -9', server);
  testBed.progress.faults += 1;
}
