import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import type { ClientProxy } from '@nestjs/microservices';
import {
  type Delta,
  RememberingCounter,
  budgetsOf,
  clerkOf,
  eventId,
  honoursKeysAt,
  leastInputPrice,
} from '@rondo/domain';
import { type Models, TiktokenCounter } from '@rondo/llm';
import { NatsLink, NatsRunFeed, NatsTools, OpenExecutors, QueueCanary, RunQueues } from '@rondo/messaging';
import {
  AccountSpending,
  Blobs,
  type Database,
  Outbox,
  PrismaRunStore,
  Sandboxes,
  isDatabaseUnavailable,
} from '@rondo/persistence';
import { type Logger, isoNow, newUlid } from '@rondo/platform';
import { Registry } from 'prom-client';
import { AccountBudgets } from './account-budgets';
import { AgentRunner } from './agent-runner';
import { config, modelProviders } from './config';
import { DATABASE, EXECUTORS, LOG, MODELS } from './connections.module';
import { HeldRuns } from './held-runs';
import { ImageShelf } from './image-shelf';
import { ImagesFromBlobs } from './images-from-blobs';
import { ImagesFromUrls } from './images-from-urls';
import { ImagesToBlobs } from './images-to-blobs';
import { ImagesModule } from './images.module';
import { Lookout } from './lookout';
import { OutboxRelay } from './outbox-relay';
import { RunMetrics } from './run-metrics';
import { RunProcessor } from './run.processor';
import { SandboxPlacement } from './sandbox-placement';
import { SignalsController } from './signals.controller';

/** How runs are run. Plain classes are built by hand here, so they stay plain. */
@Module({
  imports: [ImagesModule, BullModule.registerQueue()], // none to add to by Nest, but it looks for processors
  controllers: [SignalsController],
  providers: [
    RunProcessor,
    HeldRuns,
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
      provide: PrismaRunStore,
      inject: [DATABASE, NatsRunFeed, OutboxRelay],
      useFactory: (database: Database, feed: NatsRunFeed, relay: OutboxRelay) =>
        new PrismaRunStore({
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
      inject: [Registry, HeldRuns, PrismaRunStore],
      useFactory: (registry: Registry, held: HeldRuns, store: PrismaRunStore) =>
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
        PrismaRunStore,
        NatsRunFeed,
        NatsLink,
        SandboxPlacement,
        HeldRuns,
        OutboxRelay,
        Blobs,
        ImageShelf,
        ImagesFromUrls,
        MODELS,
        LOG,
      ],
      useFactory: (
        accountBudgets: AccountBudgets,
        store: PrismaRunStore,
        feed: NatsRunFeed,
        nats: NatsLink,
        placement: SandboxPlacement,
        held: HeldRuns,
        relay: OutboxRelay,
        blobs: Blobs,
        images: ImageShelf,
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
          tokens: new RememberingCounter(new TiktokenCounter()),
          budgetOf: budgetsOf(modelProviders),
          honoursKeys: honoursKeysAt(config.IDEMPOTENT_HOSTS ?? []),
          leastInputPrice: (name) => leastInputPrice(name, modelProviders),
          accountBudgets,
          clerk: clerkOf(newUlid, isoNow),
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
                onOutput: (delta: Delta) => journal.say(delta),
                toolTimeoutMs: run.settings.limits.tool_timeout_s * 1000,
              }),
              (image) => blobs.keep(runId, image),
            ),
        }),
    },
    {
      provide: Lookout,
      inject: [RunProcessor, PrismaRunStore, AgentRunner, HeldRuns, LOG],
      useFactory: (processor: RunProcessor, store: PrismaRunStore, runner: AgentRunner, held: HeldRuns, log: Logger) =>
        new Lookout({
          queue: new QueueCanary(() => processor.worker),
          store,
          held,
          concurrency: config.RUN_CONCURRENCY,
          activateNext: () => runner.activateNext(),
          failed: (error) => log.warn({ error }, 'run activation failed'),
        }),
    },
  ],
  exports: [HeldRuns, Lookout, NatsRunFeed, OutboxRelay, PrismaRunStore, RunProcessor, Sandboxes],
})
export class RunsModule {}
