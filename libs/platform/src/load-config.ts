import { z } from 'zod';

/** The environment does not fit the schema. The message names every wrong variable and none of their values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(error: z.ZodError) {
    const lines = error.issues.map(({ path, message }) => `  ${path.join('.') || '(environment)'}: ${message}`);
    super(`The environment is not complete:\n${lines.join('\n')}`);
  }
}

/** An empty variable counts as absent, since compose files and shells pass unset variables as empty. */
export function parseConfig<Schema extends z.ZodType>(schema: Schema, env: NodeJS.ProcessEnv): z.infer<Schema> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(present);
  if (!parsed.success) throw new ConfigError(parsed.error);
  return parsed.data;
}

/** For an app's `config.ts`: prints what is wrong and ends the process, so that it never runs half configured. */
export function loadConfig<Schema extends z.ZodType>(
  schema: Schema,
  env: NodeJS.ProcessEnv = process.env,
): z.infer<Schema> {
  try {
    return parseConfig(schema, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}
