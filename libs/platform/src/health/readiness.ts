/** Named checks of what a service needs, or is helped by. A check rejects while its thing is away. */
export type HealthChecks = Record<string, () => Promise<unknown>>;

const checkTimeoutMs = 2_000;
/** Whoever asks for readiness may wait a second and no more, and what is not needed must not cost it that. */
const aidTimeoutMs = 500;

export interface Readiness {
  /** What is away that the service cannot work without. */
  readonly failing: readonly string[];
  /** What is away that it works without, if not as well. */
  readonly degraded: readonly string[];
}

export async function readinessOf(needs: HealthChecks, aids: HealthChecks): Promise<Readiness> {
  const [failing, degraded] = await Promise.all([failingChecks(needs), failingChecks(aids, aidTimeoutMs)]);
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
