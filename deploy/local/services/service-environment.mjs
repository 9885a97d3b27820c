import { listPassedVariables } from './service-variables.mjs';
import { secretsKeyFor } from '../servers/secret-variables.mjs';

/** What every process needs of the machine. */
const ordinary = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'NODE_ENV'];

/** What each service is told of the others, beside what it inherits. */
const given = {
  'demo-model': () => ({}),
  'tool-executor': ({
    NATS_URL,
    BWRAP_PATH,
    BROWSER_PATH,
    SANDBOX_ROOT,
    EXECUTOR_ID_FILE,
    PREVIEW_URL,
    SECRETS_KEY,
  }) => ({
    NATS_URL,
    SECRETS_KEY: SECRETS_KEY && secretsKeyFor('mcp', SECRETS_KEY),
    PREVIEW_URL,
    BWRAP_PATH,
    BROWSER_PATH,
    SANDBOX_ROOT,
    EXECUTOR_ID_FILE,
  }),
  'agent-worker': mind,
  summarizer: mind,
  gateway: ({ RONDO_ADMIN_KEY, DEMO_MODEL_URL, PREVIEW_URL, SECRETS_KEY, ...facts }, keys) => ({
    ...stores(facts),
    SECRETS_KEY,
    RONDO_ADMIN_KEY,
    DEMO_MODEL_URL,
    PREVIEW_URL,
    MODEL_KEYS_PRESENT: keys.join(','),
  }),
};

/** A developer's machine may lack control groups; the executor warns about it. */
const usual = { 'tool-executor': { SANDBOX_REQUIRE_LIMITS: '0' } };
/** They call models, so they get the keys that MODEL_PROVIDERS names. The gateway gets only the names of the keys that exist. */
const callsModels = ['agent-worker', 'summarizer'];

/** @type {readonly import('./services.mjs').ServiceName[]} */
export const serviceNames = Object.keys(given);

/**
 * The complete environment of a service: of `inherited`, the variables that it declares or its runtime reads, and its part of
 * `facts`. The executor runs commands of a model, so it gets no database URL and no model key.
 *
 * @typedef {Readonly<Record<string, string | undefined>>} Variables
 *
 * @param {import('./services.mjs').ServiceName} service
 * @param {{ inherited: Variables, facts: Variables }} variables
 * @returns {Record<string, string>}
 */
export function serviceEnvironment(service, { inherited, facts }) {
  const keys = modelKeys(inherited);
  const names = new Set([...ordinary, ...readPassed()[service], ...(callsModels.includes(service) ? keys : [])]);
  return withoutAbsent({
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    ...usual[service],
    ...Object.fromEntries(Object.entries(inherited).filter(([name]) => names.has(name))),
    ...given[service](facts, keys),
  });
}

let passedOnce;
const readPassed = () => (passedOnce ??= listPassedVariables('npm start'));

const keyVariable = /"(?:api_key|access_key|secret_key|session_token)_variable"\s*:\s*"([^"]+)"/g;

/** The variables with a provider's key that exist: those of the two that are built in, and those that MODEL_PROVIDERS names. */
function modelKeys(inherited) {
  const declared = [...(inherited.MODEL_PROVIDERS ?? '').matchAll(keyVariable)].map(([, name]) => name);
  const names = new Set(['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', ...declared]);
  return [...names].filter((name) => inherited[name]);
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
