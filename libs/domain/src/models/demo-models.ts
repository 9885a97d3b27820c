/** A whole number from the first to the second, or names that are joined by `+`. */
type Parameter = readonly [least: number, most: number] | 'names';

interface DemoModel {
  readonly takes?: Readonly<Record<string, Parameter>>;
  /** Those without which it has nothing to do. */
  readonly needs?: readonly string[];
}

const most = 1_000_000;

/** Those that every demo model takes. */
const delivery: Readonly<Record<string, Parameter>> = {
  delay_ms: [0, 600_000],
  pace_ms: [0, 600_000],
  chunk_chars: [1, 100_000],
  context_limit: [1, most],
};

const agents: DemoModel = { takes: { agents: 'names' }, needs: ['agents'] };
const mostNames = 20;

/** The models of the demo server. A test compares them with the server itself. */
const models: ReadonlyMap<string, DemoModel> = new Map(
  Object.entries<DemoModel>({
    coder: {},
    site: {},
    plain: { takes: { tokens: [0, most] } },
    ask: {},
    parallel: { takes: { calls: [1, 100] } },
    thinking: {},
    long: { takes: { tokens: [0, most] } },
    summary: {},
    title: {},
    judge: {},
    scripted: {},
    loop: { takes: { turns: [1, most], identical: [0, 1], output_bytes: [0, 100_000] } },
    'slow-tool': { takes: { seconds: [0, 3_600] } },
    team: agents,
    pipeline: agents,
    length: { takes: { times: [1, 1_000] } },
    empty: {},
    'bad-json': {},
    'bad-arguments': {},
    'unknown-tool': {},
    'error-429': { takes: { times: [1, most], retry_after_s: [0, 3_600] } },
    'error-500': { takes: { times: [1, most] } },
    overloaded: { takes: { times: [1, most], after_chunks: [0, most] } },
    hang: { takes: { times: [1, most], after_chunks: [0, most] } },
    reset: { takes: { times: [1, most], after_chunks: [1, most] } },
    'reset-first': { takes: { times: [1, most] } },
  }),
);

/** The names of the models of the demo server, without parameters. */
export const demoModels: readonly string[] = [...models.keys()];

/**
 * Why the demo server has no such model, for people; undefined if it has. `id` is its name without the provider, such as
 * `plain:tokens=200,pace_ms=20`.
 */
export function whyNoDemoModel(id: string): string | undefined {
  const [name = ''] = id.split(':', 1);
  const model = models.get(name);
  if (!model) return `The models are: ${demoModels.join(', ')}.`;
  const pairs = id === name ? [] : id.slice(name.length + 1).split(',');
  const taken = { ...model.takes, ...delivery };
  const given = new Set<string>();
  for (const pair of pairs) {
    const [, parameter = '', value = ''] = /^([a-z_]+)=([^=]+)$/.exec(pair) ?? [];
    if (parameter === '') return `"${pair}" is not of the form name=value.`;
    if (given.has(parameter)) return `${parameter} is given twice.`;
    const accepted = Object.hasOwn(taken, parameter) ? taken[parameter] : undefined;
    if (accepted === undefined)
      return `${name} has no parameter ${parameter}. It has: ${Object.keys(taken).join(', ')}.`;
    const problem = whyNotAccepted(value, accepted);
    if (problem !== undefined) return `${parameter} ${problem}.`;
    given.add(parameter);
  }
  const lacking = model.needs?.find((parameter) => !given.has(parameter));
  return lacking === undefined ? undefined : `${name} needs the parameter ${lacking}.`;
}

function whyNotAccepted(value: string, accepted: Parameter): string | undefined {
  if (accepted === 'names') {
    const names = value.split('+');
    const isRight = names.length <= mostNames && names.every((name) => name !== '');
    return isRight ? undefined : `must be 1 to ${mostNames} names, joined by "+"`;
  }
  const [least, greatest] = accepted;
  const isRight = /^\d+$/.test(value) && Number(value) >= least && Number(value) <= greatest;
  return isRight ? undefined : `must be a whole number from ${least} to ${greatest}`;
}
