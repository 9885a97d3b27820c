import type { OpenAPIObject } from '@nestjs/swagger';
import { createLogger } from '@rondo/platform';
import { environment } from '../config';
import { createGateway } from '../gateway-app';

const absent = '127.0.0.1:1';

/** `/openapi.json` of a gateway that has no servers and does not listen. Connections that it tries keep the process alive. */
export async function apiDocument(): Promise<OpenAPIObject> {
  const config = environment.parse({
    DATABASE_URL: `postgres://${absent}/rondo`,
    REDIS_URL: `redis://${absent}`,
    NATS_URL: `nats://${absent}`,
    DEMO_MODEL_URL: `http://${absent}`,
    RONDO_ADMIN_KEY: 'the key of a gateway that does not listen',
  });
  const { document } = await createGateway(config, createLogger({ name: 'gateway', level: 'silent' }));
  return document();
}
