import { serviceSettings } from '../services/service-settings';
import { sandboxSettings } from '../sandboxes/provider/sandbox-settings';
import { listLackedNeeds, listLackedParts, listOfferedParts } from './lacked-needs';
import { createToolServices } from './tool-services';

const bare = createToolServices(serviceSettings());
const full = createToolServices(
  serviceSettings({ SEARXNG_URL: 'http://searxng:8080', RAPIDAPI_KEY: 'a key', TRANSCRIPTION_API_KEY: 'a key' }),
);

const withBrowser = { SANDBOX_PROVIDER: 'embedded', BROWSER_PATH: process.execPath } as const;

describe('what an executor lacks', () => {
  it('is what is not configured, by the variable to set', () => {
    expect(listLackedNeeds({ ...withBrowser }, bare)).toEqual({
      search_engine: expect.stringContaining('SEARXNG_URL'),
      data_providers: expect.stringContaining('RAPIDAPI_KEY'),
      previews: expect.stringContaining('PREVIEW_URL'),
      sites: expect.stringContaining('PREVIEW_URL'),
      transcription: expect.stringContaining('TRANSCRIPTION_URL'),
    });
    expect(listLackedNeeds({ ...withBrowser, PREVIEW_URL: 'http://*.localhost:3000' }, full)).toEqual({});
  });

  it('is what its sandboxes cannot honour of an environment', () => {
    expect(listLackedParts({ SANDBOX_PROVIDER: 'embedded', SANDBOX_UNSAFE_HOST: false, SECRETS_KEY: 'a key' })).toEqual(
      {
        'environment.image': expect.stringContaining('embedded'),
        'environment.packages': expect.stringContaining('embedded'),
      },
    );
    expect(listLackedParts({ SANDBOX_PROVIDER: 'embedded', SANDBOX_UNSAFE_HOST: true })).toMatchObject({
      'environment.size': 'sandboxes that are not isolated cannot do it',
    });
    const daytona = { SANDBOX_PROVIDER: 'daytona', SANDBOX_UNSAFE_HOST: false } as const;
    expect(listLackedParts(daytona)).toHaveProperty(['environment.size'], expect.stringContaining('DAYTONA_IMAGE'));
    expect(listLackedParts({ ...daytona, DAYTONA_IMAGE: 'debian:12' })).not.toHaveProperty(['environment.size']);
  });

  it('is more than it offers to environments, which is what its sandboxes can do', () => {
    const common = { root: '/x', images: ['python'], packages: { kinds: ['pip'] } };
    const docker = { provider: 'docker', docker: { image: 'node:24' } };
    const size = { cpus: 3, memory_mb: 2048 };
    expect(listOfferedParts(sandboxSettings.parse({ ...common, ...docker }), { size })).toEqual({
      size,
      images: ['python', 'docker.io/library/node:24'],
      packages: ['pip'],
    });
    const daytona = sandboxSettings.parse({
      ...common,
      provider: 'daytona',
      daytona: { apiUrl: 'http://127.0.0.1', apiKey: 'k', deployment: 'd' },
    });
    expect(listOfferedParts(daytona, { size, sizeStep: { cpus: 1 } })).toMatchObject({ size_step: { cpus: 1 } });
  });

  it('is not a preview where the service of the sandboxes has its own', () => {
    expect(listLackedNeeds({ SANDBOX_PROVIDER: 'daytona', DAYTONA_BROWSER_PATH: '/usr/bin/chromium' }, full)).toEqual({
      sites: expect.stringContaining('PREVIEW_URL'),
    });
  });

  it('is the internet where sandboxes reach no address at all', () => {
    expect(listLackedNeeds({ ...withBrowser, SANDBOX_EGRESS: 'none' }, full)).toHaveProperty('internet');
    const internal = ['git.internal:3000'];
    expect(
      listLackedNeeds({ ...withBrowser, SANDBOX_EGRESS: 'none', SANDBOX_INTERNAL_HOSTS: internal }, full),
    ).not.toHaveProperty('internet');
  });

  it.each([
    ['is not named', { SANDBOX_PROVIDER: 'embedded' } as const],
    ['is not there', { SANDBOX_PROVIDER: 'embedded', BROWSER_PATH: '/nowhere/chromium' } as const],
    ['is not in the image', { SANDBOX_PROVIDER: 'docker', BROWSER_PATH: process.execPath } as const],
    ['cannot be in a sandbox', { SANDBOX_PROVIDER: 'daytona', BROWSER_PATH: process.execPath } as const],
  ])('is the browser where it %s', (_, config) => {
    expect(listLackedNeeds(config, full)).toHaveProperty('browser');
    expect(listLackedNeeds({ ...withBrowser }, full)).not.toHaveProperty('browser');
    const inImage = { SANDBOX_PROVIDER: 'docker', DOCKER_BROWSER_PATH: '/usr/bin/chromium' } as const;
    expect(listLackedNeeds(inImage, full)).not.toHaveProperty('browser');
  });
});
