import { readdirSync } from 'node:fs';
import { detectControlGroups } from './control-groups';

const mount = '/sys/fs/cgroup';
const groups = detectControlGroups(mount);
const ours = () =>
  readdirSync(mount, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes(`rondo-${process.pid}-`));

(groups.version === 'none' ? it.skip : it)('leaves no group behind where the kernel refuses a limit', () => {
  const before = ours();

  expect(() => groups.create({ memoryBytes: 2 ** 30, processes: -1_000, cpu: 1 })).toThrow('EINVAL');

  expect(ours()).toEqual(before);
});
