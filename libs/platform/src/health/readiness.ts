/** Checks by the name of the dependency; a check rejects while its dependency is away. */
export type HealthChecks = Record<string, () => Promise<unknown>>;

const checkTimeoutMs = 2_000;
/** Probes often time out after a second, so an optional dependency that hangs must not delay the answer for longer. */
const optionalTimeoutMs = 500;

export interface Readiness {
  /** Required dependencies that are away. */
  readonly failing: readonly string[];
  /** Optional dependencies that are away. */
  readonly degraded: readonly string[];
}

export async function readinessOf(required: HealthChecks, optional: HealthChecks): Promise<Readiness> {
  const [failing, degraded] = await Promise.all([failingChecks(required), failingChecks(optional, optionalTimeoutMs)]);
  return { failing, degraded };
}

/** The names of the checks that fail, or that take longer than two seconds. */
export async function failingChecks(checks: HealthChecks, timeoutMs = checkTimeoutMs): Promise<string[]> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, passes: await passes(check, timeoutMs) })),
  );
  return outcomes.filter(({ passes }) => !passes).map(({ name }) => name);
}

async function passes(check: () => Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, timeoutMs, false)));
  const asked = check().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
