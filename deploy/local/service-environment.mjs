import { secretsKeyFor } from './secret-variables.mjs';

const ordinary = ['PATH', 'HOME', 'LANG', 'TZ', 'NODE_ENV', 'LOG_LEVEL'];

/**
 * The variables that each service gets. The executor runs commands of a model, so it gets no database URL, no model key and
 * nothing else of the user's environment. The gateway calls no model, so it gets only the names of the keys that exist.
 */
const needs = {
  'demo-model': {
    inherits: (name) => ordinary.includes(name) || name.startsWith('DEMO_'),
    given: () => ({}),
  },
  'tool-executor': {
    usual: { SANDBOX_REQUIRE_LIMITS: '0' }, // a developer's machine may lack control groups; the executor warns about it
    inherits: (name) => ordinary.includes(name) || /^(SANDBOX_|TOOL_|OTEL_|METRICS_(TOKEN|OPEN)$)/.test(name),
    given: ({ NATS_URL, BWRAP_PATH, BROWSER_PATH, SANDBOX_ROOT, EXECUTOR_ID_FILE, PREVIEW_URL, SECRETS_KEY }) => ({
      NATS_URL,
      SECRETS_KEY: SECRETS_KEY && secretsKeyFor('mcp', SECRETS_KEY),
      PREVIEW_URL,
      BWRAP_PATH,
      BROWSER_PATH,
      SANDBOX_ROOT,
      EXECUTOR_ID_FILE,
    }),
  },
  'agent-worker': { inherits: opensNoSecrets, given: mind },
  summarizer: { inherits: opensNoSecrets, given: mind },
  gateway: {
    inherits: (name, keys) => !keys.includes(name),
    given: ({ RONDO_ADMIN_KEY, DEMO_MODEL_URL, PREVIEW_URL, SECRETS_KEY, ...facts }, keys) => ({
      ...stores(facts),
      SECRETS_KEY,
      RONDO_ADMIN_KEY,
      DEMO_MODEL_URL,
      PREVIEW_URL,
      MODEL_KEYS_PRESENT: keys.join(','),
    }),
  },
};

export const serviceNames = Object.keys(needs);

/** The complete environment of a service: its variables of `inherited`, and its part of `facts`. */
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

/** The variables with a provider's key, including those that MODEL_PROVIDERS names. */
function modelKeys(inherited) {
  const declared = [
    ...(inherited.MODEL_PROVIDERS ?? '').matchAll(
      /"(?:api_key|access_key|secret_key|session_token)_variable"\s*:\s*"([^"]+)"/g,
    ),
  ];
  const names = declared.map(([, name]) => name);
  return Object.keys(inherited).filter((name) => inherited[name] && (/_API_KEY$/.test(name) || names.includes(name)));
}

/** What users entrust to the deployment is sealed by the gateway and opened by executors only. */
function opensNoSecrets(name) {
  return name !== 'SECRETS_KEY';
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
