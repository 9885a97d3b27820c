import { z } from 'zod';
import { ConfigError, parseConfig } from './load-config';

const schema = z.object({
  DATABASE_URL: z.url(),
  PORT: z.coerce.number().int().positive().default(3000),
  TOKEN: z.string().min(20),
});

describe('parseConfig', () => {
  it('gives parsed values and defaults', () => {
    const config = parseConfig(schema, { DATABASE_URL: 'postgresql://host/db', TOKEN: 'x'.repeat(20), HOME: '/root' });

    expect(config).toEqual({ DATABASE_URL: 'postgresql://host/db', PORT: 3000, TOKEN: 'x'.repeat(20) });
  });

  it('treats an empty variable as absent', () => {
    const config = parseConfig(schema, { DATABASE_URL: 'postgresql://host/db', TOKEN: 'x'.repeat(20), PORT: '' });

    expect(config.PORT).toBe(3000);
  });

  it('names every wrong variable at once, and no value (I12)', () => {
    const attempt = () => parseConfig(schema, { DATABASE_URL: 'hunter2', PORT: 'many', TOKEN: 'short' });

    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(/DATABASE_URL: .*\n {2}PORT: .*\n {2}TOKEN: /);
    expect(attempt).not.toThrow(/hunter2|short/);
  });
});
