/** `npm run --silent helm-secrets > rondo.env` makes what the Secret of a Helm release holds (docs/kubernetes.md). */
import { newHelmSecrets } from './local/secret-variables.mjs';

process.stdout.write(newHelmSecrets());
