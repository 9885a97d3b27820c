import { modelErrorCode } from '@rondo/contract';
import { type Model, type ModelChunk, type ModelEnd, splitModelName } from '@rondo/domain';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const outcomes = ['finished', 'aborted', 'broken', 'failed'] as const satisfies readonly ModelEnd['how'][];
const tokenKinds = ['input', 'cached', 'output'] as const;
/** Clients choose the names of models, so these are bounded; those beyond are `other`. */
const mostModels = 100;
const other = 'other';

/** How long model calls take, how they end, and what they use, wherever this process makes them. */
export class ModelMetrics {
  private readonly models = new Set<string>();
  private underWay = 0;
  private readonly calls = counter('calls_total', 'Model calls, by how they ended', ['provider', 'outcome']);
  private readonly errors = counter('errors_total', 'Failed requests to a provider, also those that were repeated', [
    'provider',
    'code',
  ]);
  private readonly tokens = counter('tokens_total', 'Tokens of model calls; cached ones are a part of the input', [
    'model',
    'kind',
  ]);
  private readonly cost = counter('cost_usd_total', 'Price of model calls whose price is known', ['model']);
  private readonly unpriced = counter('calls_unpriced_total', 'Billed model calls whose price is unknown', ['model']);
  private readonly seconds = new Histogram({
    name: 'rondo_model_call_seconds',
    help: 'Duration of model calls, with the pauses between attempts',
    labelNames: ['model', 'outcome'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    registers: [],
  });
  private readonly firstOutput = new Histogram({
    name: 'rondo_model_first_output_seconds',
    help: 'Time from the beginning of a model call to its first output',
    labelNames: ['model'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [],
  });

  /** `providers`: the names of the configured ones. */
  constructor(private readonly providers: readonly string[]) {
    for (const provider of [...providers, other]) {
      for (const outcome of outcomes) this.calls.inc({ provider, outcome }, 0);
      for (const code of modelErrorCode.options) this.errors.inc({ provider, code }, 0);
    }
  }

  registerOn(registry: Registry): void {
    registry.registerMetric(this.calls);
    registry.registerMetric(this.errors);
    registry.registerMetric(this.tokens);
    registry.registerMetric(this.cost);
    registry.registerMetric(this.unpriced);
    registry.registerMetric(this.seconds);
    registry.registerMetric(this.firstOutput);
    const running = () => this.underWay;
    new Gauge({
      name: 'rondo_model_calls_running',
      help: 'Model calls that run now',
      registers: [registry],
      collect() {
        this.set(running());
      },
    });
  }

  /** The same model, measured. */
  measureModel(model: Model): Model {
    return { stream: (request, signal) => this.measure(request.model, model.stream(request, signal)) };
  }

  private async *measure(name: string, reply: AsyncIterable<readonly ModelChunk[]>) {
    const model = this.toLabel(name);
    const provider = this.toProvider(name);
    const beganAt = performance.now();
    let firstOutputAt: number | undefined;
    let end: ModelEnd | undefined;
    this.underWay += 1;
    try {
      for await (const chunks of reply) {
        for (const chunk of chunks) {
          if (chunk.type === 'retried' && chunk.pacedBy === undefined) this.countError(provider, chunk.error.code);
          else if (chunk.type === 'end') end = chunk;
          else firstOutputAt ??= performance.now();
        }
        yield chunks;
      }
    } finally {
      this.underWay -= 1;
      const outcome = end?.how ?? 'aborted'; // a caller that leaves early has aborted it
      this.calls.inc({ provider, outcome });
      this.seconds.observe({ model, outcome }, (performance.now() - beganAt) / 1_000);
      if (firstOutputAt !== undefined) this.firstOutput.observe({ model }, (firstOutputAt - beganAt) / 1_000);
      if (end) this.countEnd({ model, provider }, end);
    }
  }

  private countEnd({ model, provider }: { model: string; provider: string }, end: ModelEnd): void {
    if (end.how === 'failed' || end.how === 'broken') this.countError(provider, end.error.code);
    if (!end.usage) return;
    const { input_tokens: input, cached_tokens: cached, output_tokens: output, cost_usd: cost } = end.usage;
    for (const [kind, count] of Object.entries({ input, cached, output }))
      this.tokens.inc({ model, kind }, amount(count));
    if (cost === null) this.unpriced.inc({ model });
    else this.cost.inc({ model }, amount(cost));
  }

  private countError(provider: string, code: string): void {
    const known: readonly string[] = modelErrorCode.options;
    this.errors.inc({ provider, code: known.includes(code) ? code : other });
  }

  private toProvider(name: string): string {
    const { provider } = splitModelName(name);
    return this.providers.includes(provider) ? provider : other;
  }

  private toLabel(name: string): string {
    if (this.models.has(name)) return name;
    const model = this.models.size < mostModels && this.toProvider(name) !== other ? name : other;
    if (!this.models.has(model)) this.begin(model);
    return model;
  }

  /** All series of a model begin at 0 with its first call, since a rate does not count the value that a series begins with. */
  private begin(model: string): void {
    this.models.add(model);
    for (const kind of tokenKinds) this.tokens.inc({ model, kind }, 0);
    for (const outcome of outcomes) this.seconds.zero({ model, outcome });
    this.firstOutput.zero({ model });
    this.cost.inc({ model }, 0);
    this.unpriced.inc({ model }, 0);
  }
}

/** What a provider reports may be anything, and a metric must not break a run. */
const amount = (reported: number): number => (Number.isFinite(reported) ? Math.max(0, reported) : 0);

const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
  new Counter({ name: `rondo_model_${name}`, help, labelNames, registers: [] });
