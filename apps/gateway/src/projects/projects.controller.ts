import { Controller } from '@nestjs/common';
import { projects as routes } from '@rondo/contract/api';
import { Projects } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class ProjectsController {
  constructor(private readonly projects: Projects) {}

  @Route(routes.createProject)
  createProject({ address, body, promised }: RouteInput<typeof routes.createProject>) {
    const { name, is_public: isPublic, sandbox } = body;
    return this.projects.create({ ...address, name, isPublic, sharesWorkspace: sandbox === 'project', promised });
  }

  @Route(routes.listProjects)
  listProjects({ address, query }: RouteInput<typeof routes.listProjects>) {
    return this.projects.list({ ...address, ...query });
  }

  @Route(routes.getProject)
  getProject({ address }: RouteInput<typeof routes.getProject>) {
    return this.projects.get(address);
  }

  @Route(routes.updateProject)
  updateProject({ address, body }: RouteInput<typeof routes.updateProject>) {
    const { name, is_public: isPublic } = body;
    return this.projects.update({ ...address, name, isPublic });
  }

  @Route(routes.deleteProject)
  deleteProject({ address }: RouteInput<typeof routes.deleteProject>) {
    return this.projects.delete(address);
  }
}
