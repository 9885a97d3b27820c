import { existsSync } from 'node:fs';
import { serviceSettings } from '../services/service-settings';
import { browserPrograms } from './browser/launch-browser';
import { lackedNeeds } from './lacked-needs';
import { createToolServices } from './tool-services';

const bare = createToolServices(serviceSettings());
const full = createToolServices(serviceSettings({ SEARXNG_URL: 'http://searxng:8080', RAPIDAPI_KEY: 'a key' }));

/** Its images bring the browser. */
const elsewhere = { SANDBOX_PROVIDER: 'daytona' } as const;

describe('what an executor lacks', () => {
  it('is what is not configured, by the variable to set', () => {
    expect(lackedNeeds({ ...elsewhere }, bare)).toEqual({
      search_engine: expect.stringContaining('SEARXNG_URL'),
      data_providers: expect.stringContaining('RAPIDAPI_KEY'),
      previews: expect.stringContaining('PREVIEW_URL'),
    });
    expect(lackedNeeds({ ...elsewhere, PREVIEW_URL: 'http://*.localhost:3000' }, full)).toEqual({});
  });

  it('is the internet where sandboxes reach no address at all', () => {
    expect(lackedNeeds({ ...elsewhere, SANDBOX_EGRESS: 'none' }, full)).toHaveProperty('internet');
    const internal = ['git.internal:3000'];
    expect(
      lackedNeeds({ ...elsewhere, SANDBOX_EGRESS: 'none', SANDBOX_INTERNAL_HOSTS: internal }, full),
    ).not.toHaveProperty('internet');
  });

  it('is the browser where the host has none that a sandbox would find', () => {
    const isThere = browserPrograms.some((program) => existsSync(program));

    expect('browser' in lackedNeeds({ SANDBOX_PROVIDER: 'embedded' }, full)).toBe(!isThere);
    expect(lackedNeeds({ ...elsewhere }, full)).not.toHaveProperty('browser');
  });
});
