import type { SlotLimits, ToolCallConsumer, ToolReply } from '@rondo/messaging';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SandboxCopies, SandboxHealth, SandboxProvider, SandboxSlots } from './sandboxes';
import { toolHandlerFor } from './tools/tool-handlers';

const outcomes = ['completed', 'failed', 'unknown', 'stopped'];

/** How many tool calls run here, how long they take and how they end. The calls during which it dies are counted by the workers. */
export class ToolCallMetrics {
  private running = 0;
  private readonly seen = new Set<string>();
  private readonly durations = new Histogram({
    name: 'rondo_tool_call_seconds',
    help: 'Duration of tool calls',
    labelNames: ['tool', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 600],
    registers: [],
  });

  register(registry: Registry): void {
    registry.registerMetric(this.durations);
    gauge(registry, { name: 'rondo_tool_calls_running', help: 'Tool calls that run now', read: () => this.running });
  }

  async measure(name: string, run: () => Promise<ToolReply>): Promise<ToolReply> {
    const startedAt = performance.now();
    const tool = toolHandlerFor(name) ? name : 'unknown';
    this.beginAtZero(tool);
    this.running += 1;
    try {
      const reply = await run();
      this.durations.observe({ tool, outcome: toOutcome(reply) }, (performance.now() - startedAt) / 1_000);
      return reply;
    } finally {
      this.running -= 1;
    }
  }

  /** At the first call of a tool: all tools would be two thousand series, and no alarm needs them. */
  private beginAtZero(tool: string): void {
    if (this.seen.has(tool)) return;
    this.seen.add(tool);
    for (const outcome of outcomes) this.durations.zero({ tool, outcome });
  }
}

function toOutcome(reply: ToolReply): string {
  if (reply.how !== 'answered') return reply.how;
  return reply.result.success ? 'completed' : 'failed';
}

interface ExecutorUsage {
  readonly slots: SlotLimits;
  readonly load: () => ToolCallConsumer['load'];
  readonly sandboxSlots: Pick<SandboxSlots, 'max' | 'awake' | 'waiting'>;
  readonly sandboxHealth: Pick<SandboxHealth, 'unusable'>;
  readonly sandboxes: Pick<SandboxProvider, 'countPrepared' | 'copies' | 'freeDisk'>;
}

/**
 * How much of the executor is in use. Calls that wait while slots are free belong to accounts or threads that have their
 * share. An executor without a usable sandbox is alive and ready, so alarms watch `rondo_sandbox_usable`.
 */
export class ExecutorGauges {
  constructor(private readonly usage: ExecutorUsage) {}

  register(registry: Registry): void {
    const { slots, load, sandboxSlots, sandboxHealth, sandboxes } = this.usage;
    const gauges: readonly GaugeReading[] = [
      { name: 'rondo_tool_slots', help: 'Tool calls that may run at the same time', read: () => slots.total },
      { name: 'rondo_tool_slots_in_use', help: 'Tool calls that have a slot now', read: () => load().running },
      { name: 'rondo_tool_calls_waiting', help: 'Tool calls that wait for a slot', read: () => load().waiting },
      {
        name: 'rondo_sandbox_usable',
        help: 'Whether sandboxes can be booted here (1) or tools are refused (0)',
        read: async () => ((await sandboxHealth.unusable()) === undefined ? 1 : 0),
      },
      { name: 'rondo_sandboxes_max', help: 'Sandboxes that may be awake', read: () => sandboxSlots.max },
      { name: 'rondo_sandboxes_awake', help: 'Sandboxes that are awake now', read: () => sandboxSlots.awake },
      {
        name: 'rondo_sandboxes_warm',
        help: 'Sandboxes that are booted for no thread yet',
        read: () => sandboxes.countPrepared().ready,
      },
      {
        name: 'rondo_sandboxes_warm_used',
        help: 'Threads whose first sandbox was a warm one, since the start',
        read: () => sandboxes.countPrepared().bound,
      },
      {
        name: 'rondo_sandbox_places_waiting',
        help: 'Tool calls that wait for a sandbox to be put to sleep',
        read: () => sandboxSlots.waiting,
      },
    ];
    for (const reading of gauges) gauge(registry, reading);
    if (sandboxes.freeDisk) registerDisk(registry, sandboxes.freeDisk);
    if (sandboxes.copies) registerCopies(registry, sandboxes.copies);
  }
}

function registerDisk(registry: Registry, disk: NonNullable<SandboxProvider['freeDisk']>): void {
  gauge(registry, {
    name: 'rondo_disk_free_bytes',
    help: 'Free space of the disk with the workspaces',
    read: () => disk.freeBytes(),
  });
  gauge(registry, {
    name: 'rondo_disk_low',
    help: 'Whether commands and writes are refused because the disk with the workspaces is nearly full (1)',
    read: async () => ((await disk.refusal()) === undefined ? 0 : 1),
  });
}

/** Copies of workspaces, and those of lost executors that were restored from one here. */
function registerCopies(registry: Registry, copies: SandboxCopies): void {
  counter(registry, {
    name: 'rondo_workspace_copies_total',
    help: 'Copies of workspaces that were saved, or could not be',
    label: 'result',
    read: () => ({ saved: copies.counts.saved, failed: copies.counts.failed }),
  });
  counter(registry, {
    name: 'rondo_workspaces_restored_total',
    help: 'Workspaces of lost executors that are here now, with the files of a copy or with none',
    label: 'files',
    read: () => ({ copy: copies.counts.restored, none: copies.counts.restoredEmpty }),
  });
}

interface CounterReading {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  /** By the label's value. */
  readonly read: () => Readonly<Record<string, number>>;
}

function counter(registry: Registry, { name, help, label, read }: CounterReading): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, total] of Object.entries(read())) this.inc({ [label]: value }, total);
    },
  });
}

interface GaugeReading {
  readonly name: string;
  readonly help: string;
  readonly read: () => number | Promise<number>;
}

function gauge(registry: Registry, { name, help, read }: GaugeReading): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read());
    },
  });
}
