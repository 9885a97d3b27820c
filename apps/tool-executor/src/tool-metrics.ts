import type { ToolReply } from '@rondo/messaging';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { readyToolNamed } from './hands/all-hands';

/** How many calls run here, how long they take and how they end. */
export class ToolMetrics {
  private readonly running: Gauge;
  private readonly durations: Histogram<'tool' | 'outcome'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.running = new Gauge({ name: 'rondo_tool_calls_running', help: 'Tool calls that run now', registers });
    this.durations = new Histogram({
      name: 'rondo_tool_call_seconds',
      help: 'Duration of tool calls',
      labelNames: ['tool', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 600],
      registers,
    });
  }

  async measure(name: string, run: () => Promise<ToolReply>): Promise<ToolReply> {
    const end = this.durations.startTimer({ tool: readyToolNamed(name) ? name : 'unknown' });
    this.running.inc();
    try {
      const reply = await run();
      end({ outcome: outcomeOf(reply) });
      return reply;
    } finally {
      this.running.dec();
    }
  }
}

function outcomeOf(reply: ToolReply): string {
  if (reply.how !== 'answered') return reply.how;
  return reply.result.success ? 'completed' : 'failed';
}
