import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import type { ClientProxy } from '@nestjs/microservices';
import { type Delta, eventId } from '@rondo/contract';
import { CachingTokenCounter, budgetsOf, honoursKeysAt, idsAndClock, leastInputPrice } from '@rondo/domain';
import { type Models, TiktokenCounter } from '@rondo/llm';
import { NatsLink, NatsRunFeed, NatsTools, OpenExecutors, QueueProbe, RunQueues } from '@rondo/messaging';
import {
  AccountSpending,
  Blobs,
  type Database,
  Outbox,
  PostgresRunStore,
  Sandboxes,
  isDatabaseUnavailable,
} from '@rondo/persistence';
import { type Logger, isoNow, newUlid } from '@rondo/platform';
import { Registry } from 'prom-client';
import { AccountBudgets } from './activation/account-budgets';
import { AgentRunner } from './activation/agent-runner';
import { config, modelProviders } from './config';
import { DATABASE, EXECUTORS, LOG, MODELS } from './connections.module';
import { ActiveRuns } from './activation/active-runs';
import { ImageCache } from './images/image-cache';
import { ImagesFromBlobs } from './images/images-from-blobs';
import { ImagesFromUrls } from './images/images-from-urls';
import { ImagesToBlobs } from './images/images-to-blobs';
import { ImagesModule } from './images/images.module';
import { DueRunPoller } from './activation/due-run-poller';
import { OutboxRelay } from './delivery/outbox-relay';
import { RunMetrics } from './maintenance/run-metrics';
import { RunProcessor } from './activation/run.processor';
import { SandboxPlacement } from './activation/sandbox-placement';
import { SignalsController } from './activation/signals.controller';

/** How runs are run. Plain classes are built by hand here, so they stay plain. */
@Module({
  imports: [ImagesModule, BullModule.registerQueue()], // none to add to by Nest, but it looks for processors
  controllers: [SignalsController],
  providers: [
    RunProcessor,
    ActiveRuns,
    {
      provide: NatsRunFeed,
      inject: [NatsLink],
      useFactory: (nats: NatsLink) => new NatsRunFeed(nats),
    },
    {
      provide: OutboxRelay,
      inject: [DATABASE, RunQueues, LOG],
      useFactory: (database: Database, runQueues: RunQueues, log: Logger) =>
        new OutboxRelay(new Outbox(database), runQueues, (error) => log.warn({ error }, 'outbox not published')),
    },
    {
      provide: PostgresRunStore,
      inject: [DATABASE, NatsRunFeed, OutboxRelay],
      useFactory: (database: Database, feed: NatsRunFeed, relay: OutboxRelay) =>
        new PostgresRunStore({
          database,
          mint: newUlid,
          leaseMs: config.LEASE_MS,
          reaper: { compactionMs: config.COMPACTION_PATIENCE_MS },
          onPromoted: (facts) => {
            feed.publish(facts);
            void relay.publish();
          },
        }),
    },
    {
      provide: Sandboxes,
      inject: [DATABASE],
      useFactory: (database: Database) => new Sandboxes(database, newUlid),
    },
    {
      provide: RunMetrics,
      inject: [Registry, ActiveRuns, PostgresRunStore],
      useFactory: (registry: Registry, held: ActiveRuns, store: PostgresRunStore) =>
        new RunMetrics(registry, { places: config.RUN_CONCURRENCY, held, store }),
    },
    {
      provide: SandboxPlacement,
      inject: [Sandboxes, NatsLink, EXECUTORS],
      useFactory: (sandboxes: Sandboxes, nats: NatsLink, executors: ClientProxy) =>
        new SandboxPlacement(sandboxes, new OpenExecutors(nats), executors),
    },
    {
      provide: AccountBudgets,
      inject: [DATABASE, LOG],
      useFactory: (database: Database, log: Logger) => {
        const spending = new AccountSpending(database);
        return new AccountBudgets({
          usd: config.ACCOUNT_BUDGET_USD,
          tokens: config.ACCOUNT_BUDGET_TOKENS,
          period: config.ACCOUNT_BUDGET_PERIOD,
          spentBy: (id, period) => spending.ofRun(id, period),
          nowMs: () => performance.now(),
          failed: (error) => log.warn({ error }, 'account budget not checked'),
        });
      },
    },
    {
      provide: AgentRunner,
      inject: [
        AccountBudgets,
        PostgresRunStore,
        NatsRunFeed,
        NatsLink,
        SandboxPlacement,
        ActiveRuns,
        OutboxRelay,
        Blobs,
        ImageCache,
        ImagesFromUrls,
        MODELS,
        LOG,
      ],
      useFactory: (
        accountBudgets: AccountBudgets,
        store: PostgresRunStore,
        feed: NatsRunFeed,
        nats: NatsLink,
        placement: SandboxPlacement,
        held: ActiveRuns,
        relay: OutboxRelay,
        blobs: Blobs,
        images: ImageCache,
        urlImages: ImagesFromUrls,
        model: Models,
        log: Logger,
      ) =>
        new AgentRunner({
          owner: config.WORKER_ID,
          store,
          feed,
          withImages: (claim, signal) => urlImages.shownIn(claim, signal),
          modelFor: ({ runId }) => new ImagesFromBlobs(model, images.of(runId)),
          tokens: new CachingTokenCounter(new TiktokenCounter()),
          budgetOf: budgetsOf(modelProviders),
          honoursKeys: honoursKeysAt(config.IDEMPOTENT_HOSTS ?? []),
          leastInputPrice: (name) => leastInputPrice(name, modelProviders),
          accountBudgets,
          clerk: idsAndClock(newUlid, isoNow),
          archiveOf: (claim) => store.archiveOf(claim),
          held,
          broke: (about) => log.error(about, 'run activation broke'),
          passes: isDatabaseUnavailable,
          handedOver: () => relay.publish(),
          journal: {
            frameMs: config.DELTA_FRAME_MS,
            newEventId: () => eventId.parse(`evt_${newUlid()}`),
            now: isoNow,
          },
          toolsFor: ({ runId, accountId, threadId, run, executorId }, journal) =>
            new ImagesToBlobs(
              new NatsTools({
                nats,
                runId,
                accountId,
                threadId,
                placement: async (thread) => executorId ?? placement.of(thread),
                onOutput: (delta: Delta) => journal.publishDelta(delta),
                toolTimeoutMs: run.settings.limits.tool_timeout_s * 1000,
              }),
              (image) => blobs.keep(runId, image),
            ),
        }),
    },
    {
      provide: DueRunPoller,
      inject: [RunProcessor, PostgresRunStore, AgentRunner, ActiveRuns, LOG],
      useFactory: (
        processor: RunProcessor,
        store: PostgresRunStore,
        runner: AgentRunner,
        held: ActiveRuns,
        log: Logger,
      ) =>
        new DueRunPoller({
          queue: new QueueProbe(() => processor.worker),
          store,
          held,
          concurrency: config.RUN_CONCURRENCY,
          activateNext: () => runner.activateNext(),
          failed: (error) => log.warn({ error }, 'run activation failed'),
        }),
    },
  ],
  exports: [ActiveRuns, DueRunPoller, NatsRunFeed, OutboxRelay, PostgresRunStore, RunProcessor, Sandboxes],
})
export class RunsModule {}
