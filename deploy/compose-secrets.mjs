/** `npm run --silent compose-secrets > compose.env` makes the secrets of a deployment with Docker Compose. */
import { newComposeSecrets } from './local/servers/secret-variables.mjs';

process.stdout.write(newComposeSecrets());
