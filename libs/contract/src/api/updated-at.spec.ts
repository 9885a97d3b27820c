import { z } from 'zod';
import { apiRoutes } from './all-routes';
import type { RouteDefinition } from './route';

const routes: readonly (readonly [string, RouteDefinition])[] = Object.entries(apiRoutes);
/** Façades speak the protocols of others. */
const ours = routes.filter(([, { path }]) => path.startsWith('/v1/'));

function fieldsAnswered({ answers }: RouteDefinition): readonly string[] {
  const bodies = Object.values(answers).flatMap((answer) => ('body' in answer ? [answer.body] : []));
  return bodies.flatMap((body) => (body instanceof z.ZodObject ? Object.keys(body.shape) : []));
}

/** What has a time of its creation and can be read by its id, and why there is no time of its last change. */
const unchanging: Readonly<Record<string, string>> = {
  getAgentVersion: 'its definition never changes, only the note',
  getSkillVersion: 'its files never change',
  getUploadedFile: 'its bytes never change',
  getRun: 'every change is a fact of its log, with its own time',
  getMcpConnection: 'it says when it was connected, and until when its token is valid',
  getSandbox: 'it says when it was used last',
  getWebhookDelivery: 'it says when each attempt was, and the next one is',
  getPublicProject: 'a shared page shows when it was made',
  getPublicThread: 'a shared page shows when it was made',
  getPublicRun: 'a shared page shows when it was made',
};

/** Routes that change something, and do not answer with the time of it. */
const untimed: Readonly<Record<string, string>> = {
  updateAgentVersion: 'only the note of a version changes; the audit log has who and when',
  setAccountTier: 'it answers with a balance, as of now; the audit log has who and when',
  writeMemoryEntry: 'it makes a version, with the time of its creation',
  writeFile: 'commands change files, too, and no service sees it',
};

describe('a resource of the API', () => {
  it.each(ours.filter(([, { method }]) => method === 'PATCH' || method === 'PUT'))(
    'that %s changes has the time of its last change, or a reason',
    (name, route) => {
      expect([name, fieldsAnswered(route).includes('updated_at') || name in untimed]).toEqual([name, true]);
    },
  );

  it('has no reason that is not needed', () => {
    const names = Object.keys({ ...unchanging, ...untimed });
    const timed = ours.filter(([name, route]) => names.includes(name) && fieldsAnswered(route).includes('updated_at'));
    expect(timed.map(([name]) => name)).toEqual([]);
    expect(names.filter((name) => !(name in apiRoutes))).toEqual([]);
  });

  const read = ours.filter(
    ([, route]) => route.method === 'GET' && route.path.endsWith('}') && fieldsAnswered(route).includes('created_at'),
  );
  it.each(read)('that %s reads has the time of its last change, or a reason', (name, route) => {
    expect([name, fieldsAnswered(route).includes('updated_at') || name in unchanging]).toEqual([name, true]);
  });
});
