import { Controller, StreamableFile } from '@nestjs/common';
import { skills as routes } from '@rondo/contract/api';
import { Skills } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { SkillUploads } from './skill-uploads';

@Controller()
export class SkillsController {
  constructor(
    private readonly skills: Skills,
    private readonly uploads: SkillUploads,
  ) {}

  @Route(routes.createSkill)
  createSkill({ caller, request }: RouteInput<typeof routes.createSkill>) {
    return this.uploads.receive(caller, request);
  }

  @Route(routes.listSkills)
  listSkills({ address, query }: RouteInput<typeof routes.listSkills>) {
    return this.skills.list({ ...address, ...query });
  }

  @Route(routes.getSkill)
  getSkill({ address }: RouteInput<typeof routes.getSkill>) {
    return this.skills.get(address);
  }

  @Route(routes.deleteSkill)
  deleteSkill({ address }: RouteInput<typeof routes.deleteSkill>) {
    return this.skills.delete(address);
  }

  @Route(routes.listSkillVersions)
  listSkillVersions({ address, query }: RouteInput<typeof routes.listSkillVersions>) {
    return this.skills.listVersions({ ...address, ...query });
  }

  @Route(routes.getSkillVersion)
  getSkillVersion({ address }: RouteInput<typeof routes.getSkillVersion>) {
    return this.skills.getVersion(address);
  }

  @Route(routes.listSkillFiles)
  async listSkillFiles({ address }: RouteInput<typeof routes.listSkillFiles>) {
    return { data: await this.skills.listFiles(address) };
  }

  @Route(routes.readSkillFile)
  async readSkillFile({ address, query }: RouteInput<typeof routes.readSkillFile>) {
    const bytes = await this.skills.readFile(address, query.path);
    // Hostile bytes: a browser must never render them with the origin of the API.
    return new StreamableFile(bytes, {
      type: 'application/octet-stream',
      length: bytes.length,
      disposition: 'attachment',
    });
  }

  @Route(routes.readSkillArchive)
  async readSkillArchive({ caller, address }: RouteInput<typeof routes.readSkillArchive>) {
    const bytes = await this.uploads.pack(caller, address);
    return new StreamableFile(bytes, { type: 'application/zip', length: bytes.length, disposition: 'attachment' });
  }
}
