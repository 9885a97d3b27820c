import type { ToolReply } from '@rondo/messaging';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { handledToolNamed } from './tools/tool-handlers';

/** How many calls run here, how long they take and how they end. */
export class ToolMetrics {
  private running = 0;
  private readonly durations: Histogram<'tool' | 'outcome'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const running = () => this.running;
    new Gauge({
      name: 'rondo_tool_calls_running',
      help: 'Tool calls that run now',
      registers,
      collect() {
        this.set(running());
      },
    });
    this.durations = new Histogram({
      name: 'rondo_tool_call_seconds',
      help: 'Duration of tool calls',
      labelNames: ['tool', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 600],
      registers,
    });
  }

  async measure(name: string, run: () => Promise<ToolReply>): Promise<ToolReply> {
    const startedAt = performance.now();
    this.running += 1;
    try {
      const reply = await run();
      const labels = { tool: handledToolNamed(name) ? name : 'unknown', outcome: outcomeOf(reply) };
      this.durations.observe(labels, (performance.now() - startedAt) / 1_000);
      return reply;
    } finally {
      this.running -= 1;
    }
  }
}

function outcomeOf(reply: ToolReply): string {
  if (reply.how !== 'answered') return reply.how;
  return reply.result.success ? 'completed' : 'failed';
}
