/** Checks by the name of the dependency; a check rejects while its dependency is away. */
export type HealthChecks = Record<string, () => Promise<unknown>>;

const checkTimeoutMs = 2_000;
/** Probes often time out after a second, so an optional dependency that hangs must not delay the answer for longer. */
const optionalTimeoutMs = 500;

/** A dependency that answers and cannot be used. The message is a sentence for everyone who reads `/health/ready`. */
export class UnusableDependency extends Error {
  override readonly name = 'UnusableDependency';
}

export interface Readiness {
  /** Required dependencies that are away or cannot be used. */
  readonly failing: readonly string[];
  /** Optional dependencies that are away. */
  readonly degraded: readonly string[];
  /** Of those in `failing` that can say it: why they cannot be used. */
  readonly reasons: Readonly<Record<string, string>>;
}

export async function readReadiness(required: HealthChecks, optional: HealthChecks): Promise<Readiness> {
  const [asked, degraded] = await Promise.all([
    runChecks(required, checkTimeoutMs),
    failingChecks(optional, optionalTimeoutMs),
  ]);
  const failing = asked.filter(({ passes }) => !passes);
  const reasons = failing.flatMap(({ name, reason }) => (reason === undefined ? [] : [[name, reason]]));
  return {
    failing: failing.map(({ name }) => name),
    degraded,
    reasons: Object.fromEntries(reasons) as Readiness['reasons'],
  };
}

/** The names of the checks that fail, or that take longer than two seconds. */
export async function failingChecks(checks: HealthChecks, timeoutMs = checkTimeoutMs): Promise<string[]> {
  const outcomes = await runChecks(checks, timeoutMs);
  return outcomes.filter(({ passes }) => !passes).map(({ name }) => name);
}

interface Outcome {
  readonly passes: boolean;
  readonly reason?: string;
}

function runChecks(checks: HealthChecks, timeoutMs: number) {
  return Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, ...(await runCheck(check, timeoutMs)) })),
  );
}

async function runCheck(check: () => Promise<unknown>, timeoutMs: number): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => (timer = setTimeout(resolve, timeoutMs, { passes: false })));
  const asked = check().then(
    (): Outcome => ({ passes: true }),
    (error: unknown): Outcome =>
      error instanceof UnusableDependency ? { passes: false, reason: error.message } : { passes: false },
  );
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

const details = { not_live: 'Not live', not_ready: 'Not reachable' };

export interface HealthFailure {
  readonly code: keyof typeof details;
  readonly failing: readonly string[];
  readonly reasons?: Readonly<Record<string, string>>;
}

/** What a probe that fails is answered with. */
export function toProblem({ code, failing, reasons = {} }: HealthFailure) {
  const unexplained = failing.filter((name) => reasons[name] === undefined);
  const sentences = [
    ...(unexplained.length > 0 ? [`${details[code]}: ${unexplained.join(', ')}.`] : []),
    ...Object.values(reasons),
  ];
  return { type: 'about:blank', title: 'Service Unavailable', status: 503, code, detail: sentences.join(' '), failing };
}
