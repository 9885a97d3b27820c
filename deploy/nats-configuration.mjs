/**
 * `npm run --silent nats-configuration -- ID ID …` prints the configuration of a NATS server for these executors: who may log in, and
 * what each may say and hear. Passwords come from the server's environment, where each has the name that `npm run helm-secrets` gives it.
 */
import { composeConfiguration } from './local/servers/nats-server-configuration.mjs';

const ids = process.argv.slice(2);
process.stdout.write(composeConfiguration(ids.length > 0 ? ids : undefined));
