import { runSettings } from '@rondo/contract';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type NatsPermissions, allNatsPermissions } from '../connection/permissions';
import { lostRights } from './lost-rights';
import { settingsFlaws, settingsStructure } from './settings-changes';

/** The previous version, as `npm run record-release` has recorded it. */
const released = JSON.parse(readFileSync(join(__dirname, '../../../../deploy/released-version.json'), 'utf8')) as {
  nats: Record<string, NatsPermissions>;
  settings: object;
};

describe('this version', () => {
  it('lets the services of the previous version use NATS as before', () => {
    expect(Object.keys(released.nats)).toHaveLength(4);
    expect(lostRights(released.nats, allNatsPermissions())).toEqual([]);
  });

  it('continues runs with any settings of the previous version', () => {
    expect(settingsFlaws(released.settings, settingsStructure())).toEqual([]);
  });
});

describe('lostRights', () => {
  const rights = (subjects: readonly string[]) => ({ gateway: { publish: subjects, subscribe: [] } });

  it.each([
    ['run.*.events', ['run.*.events', 'runs.stop']],
    ['run.1.events', ['run.*.events']],
    ['run.*.events', ['run.>']],
    ['tool.call.*.>', ['tool.call.>']],
    ['threads workers', ['threads workers']],
  ])('finds none where %s is covered by %j', (before, now) => {
    expect(lostRights(rights([before]), rights(now))).toEqual([]);
  });

  it.each([
    ['run.*.events', ['run.1.events']],
    ['run.*.events', ['run.*']],
    ['run.>', ['run.*']],
    ['run', ['run.>']],
    ['threads workers', ['threads']],
    ['runs.stop', []],
  ])('finds %s where only %j is granted', (before, now) => {
    expect(lostRights(rights([before]), rights(now))).toEqual([
      `gateway may not publish ${before} any more: go on granting it for one version`,
    ]);
  });
});

describe('settingsFlaws', () => {
  const flawsAfter = (now: z.ZodType) => settingsFlaws(settingsStructure(), z.toJSONSchema(now, { io: 'input' }));

  it('lets settings be added', () => {
    expect(flawsAfter(runSettings.extend({ quorum: z.number().optional() }))).toEqual([]);
  });

  it('refuses that one is taken out of the schema, also deep inside, or required from now on', () => {
    const limits = runSettings.shape.limits.omit({ max_run_depth: true });

    expect(flawsAfter(runSettings.extend({ limits, quorum: z.number() }))).toEqual([
      'message.quorum: is required now; the version before may not send it: make it optional',
      'settings.limits.max_run_depth: is gone; runs of the previous version have it: keep it in the schema',
    ]);
  });
});
