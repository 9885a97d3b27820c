/** Named checks of what a service cannot work without. A check rejects while its thing is away. */
export type HealthChecks = Record<string, () => Promise<unknown>>;

const checkTimeoutMs = 2_000;

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
