const ordinary = ['PATH', 'HOME', 'LANG', 'TZ', 'NODE_ENV', 'LOG_LEVEL'];

/**
 * What each service may know. The executor runs what a model asked for, so it gets no database, no model
 * key and nothing else of the user's environment; the gateway calls no model, so it learns only which keys exist.
 */
const needs = {
  'demo-model': {
    inherits: (name) => ordinary.includes(name) || name.startsWith('DEMO_'),
    given: () => ({}),
  },
  'tool-executor': {
    usual: { SANDBOX_REQUIRE_LIMITS: '0' }, // a machine of one's own may lack control groups; the executor warns
    inherits: (name) => ordinary.includes(name) || /^(SANDBOX_|TOOL_|METRICS_(TOKEN|OPEN)$)/.test(name),
    given: ({ NATS_URL, BWRAP_PATH, SANDBOX_ROOT, EXECUTOR_ID_FILE }) => ({
      NATS_URL,
      BWRAP_PATH,
      SANDBOX_ROOT,
      EXECUTOR_ID_FILE,
    }),
  },
  'agent-worker': { inherits: () => true, given: mind },
  summarizer: { inherits: () => true, given: mind },
  gateway: {
    inherits: (name, keys) => !keys.includes(name),
    given: ({ RONDO_ADMIN_KEY, DEMO_MODEL_URL, ...facts }, keys) => ({
      ...stores(facts),
      RONDO_ADMIN_KEY,
      DEMO_MODEL_URL,
      MODEL_KEYS_PRESENT: keys.join(','),
    }),
  },
};

export const serviceNames = Object.keys(needs);

/** The whole environment of a service: what it inherits of `inherited`, and its part of `facts`. */
export function serviceEnvironment(service, { inherited, facts }) {
  const { inherits, given, usual = {} } = needs[service];
  const keys = modelKeys(inherited);
  const kept = Object.entries(inherited).filter(([name]) => inherits(name, keys) && !/^(npm_|INIT_CWD$)/.test(name));
  return withoutAbsent({
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    ...usual,
    ...Object.fromEntries(kept),
    ...given(facts, keys),
  });
}

/** The variables that hold a provider's key, also those that MODEL_PROVIDERS names. */
function modelKeys(inherited) {
  const declared = [...(inherited.MODEL_PROVIDERS ?? '').matchAll(/"api_key_variable"\s*:\s*"([^"]+)"/g)];
  const names = declared.map(([, name]) => name);
  return Object.keys(inherited).filter((name) => inherited[name] && (/_API_KEY$/.test(name) || names.includes(name)));
}

function stores({ DATABASE_URL, REDIS_URL, NATS_URL }) {
  return { DATABASE_URL, REDIS_URL, NATS_URL };
}

function mind(facts) {
  return { ...stores(facts), DEMO_MODEL_URL: facts.DEMO_MODEL_URL };
}

function withoutAbsent(variables) {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}
